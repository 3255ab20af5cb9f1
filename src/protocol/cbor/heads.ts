/** The largest number that fits a 64-bit head. */
export const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** The size of an item's head in bytes, given its argument (a length, a tag, an integer). */
export function headBytes(argument: number): number {
  if (argument < 24) return 1;
  if (argument < 0x100) return 2;
  return argument < 0x1_0000 ? 3 : 5;
}

/** True for numbers written as integers: those of 32 bits and a sign, but not -0. */
export function isShortInteger(value: number): boolean {
  return value >= -0x1_0000_0000 && value <= 0xffff_ffff && Math.floor(value) === value && !Object.is(value, -0);
}

/** True for a bigint that fits a head; larger ones are tagged bytes. */
export function isShortBigint(value: bigint): boolean {
  return value >= -MAX_UINT64 && value <= MAX_UINT64;
}

/** The hex digits of a large bigint, two per byte; of `-1 - value` for a negative one. */
export function hexOfBigint(value: bigint): string {
  const digits = (value < 0n ? -1n - value : value).toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** True if a large bigint takes more than `limitBytes`. Cheap, unlike its digits. */
export function passes(value: bigint, limitBytes: number): boolean {
  if (limitBytes >= MAX_BIGINT_BYTES) return false;
  return limitBytes < 0 || BigInt.asIntN(limitBytes * 8 + 1, value) !== value;
}

/** More than any bigint of this runtime can have. */
const MAX_BIGINT_BYTES = 2 ** 40;

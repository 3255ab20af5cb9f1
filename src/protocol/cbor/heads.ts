/** The largest number that a head of 64 bits holds. */
export const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** How many bytes the head of an item takes whose argument (a length, a tag, an integer) is `argument`. */
export function headBytes(argument: number): number {
  if (argument < 24) return 1;
  if (argument < 0x100) return 2;
  return argument < 0x1_0000 ? 3 : 5;
}

/** Whether a number is written as an integer: those of 32 bits and a sign are, -0 is not. */
export function isShortInteger(value: number): boolean {
  return value >= -0x1_0000_0000 && value <= 0xffff_ffff && Math.floor(value) === value && !Object.is(value, -0);
}

/** Whether a bigint has a head of its own; larger ones are tagged bytes. */
export function isShortBigint(value: bigint): boolean {
  return value >= -MAX_UINT64 && value <= MAX_UINT64;
}

/** The digits of a large bigint: of `-1 - value` for a negative one, two for each byte. */
export function hexOfBigint(value: bigint): string {
  const digits = (value < 0n ? -1n - value : value).toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** Whether a large bigint takes more than `limitBytes`: cheap, unlike its digits. */
export function passes(value: bigint, limitBytes: number): boolean {
  if (limitBytes >= MAX_BIGINT_BYTES) return false;
  return limitBytes < 0 || BigInt.asIntN(limitBytes * 8 + 1, value) !== value;
}

/** More than any bigint of this runtime has. */
const MAX_BIGINT_BYTES = 2 ** 40;

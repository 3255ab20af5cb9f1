import { viewKinds } from "../typed-arrays.js";

/** CBOR tags. Those over 20,000 are our own ("PA", "PD", …), for what cbor-x cannot tell apart or would lose. */
export const TAG = {
  isoDate: 0,
  epochDate: 1,
  bigUint: 2,
  bigNegative: 3,
  generic: 27,
  set: 258,
  map: 259,
  arrayBuffer: 0x5041,
  dataView: 0x5044,
  text: 0x5054,
  negativeZero: 0x505a,
  selfDescribed: 55_799,
} as const;

/** Where our own begin, and where the standard's are moved to: cbor-x has no meaning for the numbers of either range. */
const OWN = 0x5000;
const ALIAS = 0x5200;

/** The 16-bit tag that stands for a known one while cbor-x reads. */
export function aliasOf(tag: number): number {
  return tag < OWN ? ALIAS + tag : tag;
}

/** The tag that an alias stands for. */
export function tagOfAlias(alias: number): number {
  return alias < ALIAS ? alias : alias - ALIAS;
}

/** Every tag that is read. */
export const KNOWN_TAGS: ReadonlySet<number> = new Set<number>([...Object.values(TAG), ...viewKinds().map(({ tag }) => tag)]);

/** CBOR tags. Those over 20,000 are our own ("PA", "PD", …), where CBOR has none. Typed arrays use RFC 8746. */
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

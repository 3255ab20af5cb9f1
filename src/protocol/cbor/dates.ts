/**
 * A time in seconds, as CBOR has it; as ISO text where seconds in floating point lose a millisecond, tens of thousands of
 * years away.
 */
export function epochSeconds(time: number): number | string {
  const seconds = time / 1000;
  if (Number.isNaN(time) || Math.round(seconds * 1000) === time) return seconds;
  return new Date(time).toISOString();
}

/** A time in seconds, as in CBOR; an ISO string tens of thousands of years away, where float seconds lose milliseconds. */
export function epochSeconds(time: number): number | string {
  const seconds = time / 1000;
  if (Number.isNaN(time) || Math.round(seconds * 1000) === time) return seconds;
  return new Date(time).toISOString();
}

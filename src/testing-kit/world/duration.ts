const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};
const FORM = 'a number of milliseconds, or a text such as "90s", "3 days" or "1h 30m"';
const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/y;

/** The last time that a Date can hold, epoch ms. */
const LAST_TIME = 8.64e15;

/** @throws TypeError when the time is before 1970, or none that a Date can hold */
export function checkTime(what: string, at: number): number {
  if (at >= 0 && at <= LAST_TIME) return at;
  throw new TypeError(`${what}: the time must be of 1970 or later, and one that a Date can hold`);
}

/** Reads a duration in whole ms. @throws TypeError when it is none, or negative */
export function readDuration(what: string, duration: unknown): number {
  if (typeof duration === "number" && Number.isFinite(duration)) {
    if (duration >= 0) return Math.round(duration);
    throw new TypeError(`${what}: time does not go backwards; the duration must not be negative`);
  }
  const ms = typeof duration === "string" ? textMs(duration.trim().toLowerCase()) : undefined;
  if (ms !== undefined) return ms;
  throw new TypeError(`${what}: the duration must be ${FORM}, not ${String(duration).slice(0, 100)}`);
}

function textMs(text: string): number | undefined {
  let sum = 0;
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const [whole = "", amount, name = ""] = PART.exec(text) ?? [];
    const unitMs = unitOf(name);
    if (unitMs === undefined) return undefined;
    sum += Number(amount) * unitMs;
    at += whole.length;
    while (text[at] === " " || text[at] === ",") at += 1;
  }
  return at === 0 || !Number.isFinite(sum) ? undefined : Math.round(sum);
}

/** A unit by its name, in the singular or the plural. */
function unitOf(name: string): number | undefined {
  const singular = name.length > 2 && name.endsWith("s") ? name.slice(0, -1) : name;
  return [name, singular].map((each) => (Object.hasOwn(UNITS_MS, each) ? UNITS_MS[each] : undefined)).find(Boolean);
}

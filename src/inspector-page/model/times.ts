/** Times and lengths in words. */

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A length of time, in at most two units: `3 d 4 h`, `12 s`, `1.4 s`, `80 ms`. */
export function lengthOf(ms: number): string {
  if (!Number.isFinite(ms)) return "an unknown time";
  const length = Math.max(0, Math.round(ms));
  if (length < 1_000) return `${length} ms`;
  if (length < 10_000) return `${Math.floor(length / 100) / 10} s`;
  const at = UNITS.findIndex(([, unit]) => length >= unit);
  const [name, unit] = UNITS[at] ?? UNITS[3];
  const whole = Math.floor(length / unit);
  const [smallerName, smaller] = UNITS[at + 1] ?? ["", 0];
  const rest = smaller === 0 ? 0 : Math.floor((length % unit) / smaller);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallerName}`;
}

/** A time from now: `12 s ago`, `in 3 min`, `just now`. */
export function fromNow(time: number, now: number): string {
  const ms = time - now;
  if (Math.abs(ms) < 1_000) return ms > 0 ? "now" : "just now";
  // Whole seconds, so that it does not flicker while it counts.
  const length = lengthOf(Math.floor(Math.abs(ms) / 1_000) * 1_000);
  return ms < 0 ? `${length} ago` : `in ${length}`;
}

const pad = (part: number, digits = 2): string => String(part).padStart(digits, "0");

/** A time as the reader's clock shows it: `2026-12-01 14:03:07.120`. */
export function absolute(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${clockTime(time)}.${pad(date.getMilliseconds(), 3)}`;
}

/** The time of a day: `14:03:07`. */
export function clockTime(time: number): string {
  const date = new Date(time);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** A length in one unit, where there is little room: `3 d`. */
export function shortLength(ms: number): string {
  return lengthOf(ms).replace(/^(\S+ \S+) .*$/, "$1");
}

/** A whole number with its thousands set apart: `1,204`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Bytes: `512 bytes`, `1.4 MB`. */
export function bytesOf(size: number): string {
  if (size < 1_000) return `${size} byte${size === 1 ? "" : "s"}`;
  return size < 1_000_000 ? `${(size / 1_000).toFixed(1)} KB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

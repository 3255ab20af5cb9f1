/** One of the five fields: its least and greatest number, the longest step, and names that stand for numbers. */
interface Field {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly longestStep: number;
  readonly names: readonly string[];
}

const MINUTE: Field = { name: "minute", low: 0, high: 59, longestStep: 60, names: [] };
const HOUR: Field = { name: "hour", low: 0, high: 23, longestStep: 24, names: [] };
const DAY: Field = { name: "day of the month", low: 1, high: 31, longestStep: 31, names: [] };
const MONTH: Field = {
  name: "month",
  low: 1,
  high: 12,
  longestStep: 12,
  names: "jan feb mar apr may jun jul aug sep oct nov dec".split(" "),
};
/** Sunday is 0 and 7. */
const WEEKDAY: Field = {
  name: "day of the week",
  low: 0,
  high: 7,
  longestStep: 7,
  names: "sun mon tue wed thu fri sat sun".split(" "),
};

/** Bits of a weekday: any of a month, the last of it; between them, the bits 1 to 5 are its first to fifth. */
const ANY = 1;
const LAST = 1 << 6;

/** What an expression says, apart from its time zone. */
export interface CronFields {
  /** Ascending. */
  readonly minutes: readonly number[];
  /** Ascending. */
  readonly hours: readonly number[];
  /** Whether minute and hour are single numbers: one time of the day. */
  readonly isFixedTime: boolean;
  /** Whether it names a day, given as midnight UTC. */
  isDay(midnight: number): boolean;
}

/**
 * Reads five fields: numbers, names, lists, ranges and steps; `L`, `LW` and `15W` for the last day, the last weekday and the
 * weekday nearest to a day of the month; `5#2` and `5L` for the second and the last Friday; `?` for `*`. A `+` before the
 * day of the week means that both days must match.
 *
 * @throws Error that says what is wrong
 */
export function readCronFields([minute = "", hour = "", day = "", month = "", weekday = ""]: string[]): CronFields {
  const minutes = numbersOf(minute, MINUTE);
  const hours = numbersOf(hour, HOUR);
  const months = numbersOf(month, MONTH);
  const isInMonth = readDays(day);
  const isBoth = weekday.startsWith("+");
  const weekdays = readWeekdays(isBoth ? weekday.slice(1) : weekday);
  // The last day is one of every day.
  const isEveryDay = /^(?:L,)*\*(?:,L)*$/i.test(day);
  const isEveryWeekday = /^\+?\*$/.test(weekday);
  return {
    minutes,
    hours,
    isFixedTime: minutes.length === 1 && hours.length === 1 && !/[*/]/.test(minute + hour),
    isDay(midnight) {
      const date = new Date(midnight);
      if (!months.includes(date.getUTCMonth() + 1)) return false;
      const inMonth = isInMonth(date);
      if (isEveryWeekday) return inMonth;
      // If both days are given, either matches.
      return isBoth || isEveryDay ? inMonth && weekdays(date) : inMonth || weekdays(date);
    },
  };
}

/** The numbers of a field, ascending. */
function numbersOf(text: string, field: Field): number[] {
  return [...new Set(text.split(",").flatMap((item) => rangeOf(item, field)))].sort((a, b) => a - b);
}

/** `*`, a number or a range; the first and the last with a step, too. */
function rangeOf(item: string, { name, low, high, longestStep, names }: Field): number[] {
  const [, star, from = "", to, step] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
  const first = star ? low : numberOf(from, low + names.indexOf(from.toLowerCase()), low);
  // The last name, since "MON-SUN" ends with the Sunday that is 7.
  const last = star ? high : to === undefined ? first : numberOf(to, low + names.lastIndexOf(to.toLowerCase()), low);
  const by = Number(step ?? 1);
  const isSteppedNumber = step !== undefined && !star && to === undefined;
  const numbers: number[] = [];
  if (by >= 1 && by <= longestStep && !isSteppedNumber)
    for (let number = first; number <= last; number += by) {
      numbers.push(number);
      if (number < low || number > high) return refuse(item, name);
    }
  return numbers.length > 0 ? numbers : refuse(item, name);
}

function refuse(item: string, name: string): never {
  throw new Error(`${JSON.stringify(item)} is not a ${name}`);
}

/** NaN if it is neither a number nor a name, whose number would be less than `low`. */
function numberOf(word: string, ofName: number, low: number): number {
  return ofName >= low ? ofName : /^\d+$/.test(word) ? Number(word) : Number.NaN;
}

function readDays(text: string): (date: Date) => boolean {
  if (/^LW$/i.test(text)) return (date) => date.getUTCDate() === nearestWeekday(date, lastDay(date));
  const items = text.split(",");
  const isLast = items.some((item) => /^L$/i.test(item));
  const nearest = items.filter((item) => /^\d+W$/i.test(item)).flatMap((item) => rangeOf(item.slice(0, -1), DAY));
  const days = new Set(items.filter((item) => !/^(?:L|\d+W)$/i.test(item)).flatMap((item) => rangeOf(item, DAY)));
  return (date) => {
    const day = date.getUTCDate();
    return (
      days.has(day) ||
      (isLast && day === lastDay(date)) ||
      nearest.some((wanted) => wanted <= lastDay(date) && day === nearestWeekday(date, wanted))
    );
  };
}

function readWeekdays(text: string): (date: Date) => boolean {
  const bits: number[] = Array.from({ length: 7 }, () => 0);
  for (const item of text.split(",")) {
    const [, days = item, nth, last] = /^(.+?)(?:#([1-5])|(#?L))$/i.exec(item) ?? [];
    const bit = last ? LAST : nth ? 1 << Number(nth) : ANY;
    for (const weekday of rangeOf(days, WEEKDAY)) bits[weekday % 7] = (bits[weekday % 7] ?? 0) | bit;
  }
  return (date) => {
    const day = date.getUTCDate();
    const isLast = day + 7 > lastDay(date);
    return ((bits[date.getUTCDay()] ?? 0) & (ANY | (1 << Math.ceil(day / 7)) | (isLast ? LAST : 0))) !== 0;
  };
}

function lastDay(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

/** The weekday, Monday to Friday, that is nearest to a day of the month and in the same month. */
function nearestWeekday(date: Date, day: number): number {
  const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay();
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === lastDay(date) ? day - 2 : day + 1;
  return day;
}

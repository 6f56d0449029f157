/** A stretch of time: from inclusive, to exclusive. */
export interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
export const longest = 7 * day;

const units: Readonly<Record<string, number>> = { m: minute, h: hour, d: day, w: 7 * day };

type Reader = (text: string, now: Date) => TimeRange | undefined;

/**
 * The stretch of time that a question names, UTC: "last 30 minutes", "since 14:00", "between 14:00 and 15:00",
 * "around 09:30", "2 hours ago", "yesterday", "today", or RFC 3339 times. At most seven days, never past `now`.
 */
export function readTimeRange(question: string, now: Date): TimeRange | undefined {
  const text = question.toLowerCase();
  for (const read of readers) {
    const range = read(text, now);
    if (range !== undefined) return clamp(range, now);
  }
  return undefined;
}

const amount = String.raw`(\d{1,4}|an?|one|two|three|few)\s*(m|h|d|w|mins?|minutes?|hrs?|hours?|days?|weeks?)\b`;
export const clock = String.raw`(\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,6})?\s?z?|\d{1,2}:\d{2})`;

const readers: readonly Reader[] = [
  (text, now) => {
    const match = new RegExp(
      `\\b(?:between|from)\\s+${clock}\\s*(?:utc\\s*)?(?:and|to|until|till|-|–)\\s*${clock}`,
    ).exec(text);
    const start = match && timeOf(match[1], now);
    const end = match && timeOf(match[2], now);
    if (!start || !end) return undefined;
    // 23:30 to 00:30 crosses midnight: each clock time alone was read as the last such time before now.
    return end > start ? { start, end } : { start: new Date(start.getTime() - day), end };
  },
  (text, now) => {
    const match = new RegExp(`\\bsince\\s+${clock}`).exec(text);
    const start = match && timeOf(match[1], now);
    return start ? { start, end: now } : undefined;
  },
  (text, now) => {
    const match = new RegExp(`\\b(?:last|past|previous)\\s+(?:${amount}|(minute|hour|day|week)\\b)`).exec(text);
    if (!match) return undefined;
    const length = match[3] === undefined ? lengthOf(match[1], match[2]) : lengthOf('1', match[3]);
    return length === undefined ? undefined : { start: new Date(now.getTime() - length), end: now };
  },
  (text, now) => {
    const match = new RegExp(`\\b${amount}\\s+ago\\b`).exec(text);
    const length = match && lengthOf(match[1], match[2]);
    if (!length) return undefined;
    const half = Math.max(15 * minute, Math.min(length / 4, 2 * hour));
    return { start: new Date(now.getTime() - length - half), end: new Date(now.getTime() - length + half) };
  },
  (text, now) => {
    const midnight = startOfDay(now);
    if (/\bsince yesterday\b/.test(text)) return { start: new Date(midnight.getTime() - day), end: now };
    if (/\byesterday\b/.test(text)) return { start: new Date(midnight.getTime() - day), end: midnight };
    if (/\b(?:today|this morning)\b/.test(text)) return { start: midnight, end: now };
    return undefined;
  },
  (text, now) => {
    const match =
      new RegExp(`\\b(?:at|around|about|near)\\s+${clock}`).exec(text) ??
      /(\d{4}-\d{2}-\d{2}t\d{2}:\d{2}\S*)/.exec(text);
    const time = match && timeOf(match[1], now);
    return time
      ? { start: new Date(time.getTime() - 15 * minute), end: new Date(time.getTime() + 45 * minute) }
      : undefined;
  },
];

/** A clock time or a date with one; a clock time alone is the last such before `now`. */
export function timeOf(text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  const [hours, minutes] = text.split(':').map(Number);
  if (/^\d{1,2}:\d{2}$/.test(text)) {
    if (hours === undefined || minutes === undefined || hours > 23 || minutes > 59) return undefined;
    const today = startOfDay(now).getTime() + hours * hour + minutes * minute;
    return new Date(today > now.getTime() ? today - day : today);
  }
  const iso = text.trim().toUpperCase().replace(' ', 'T').replace(/\s/g, '');
  const time = new Date(iso.endsWith('Z') ? iso : `${iso}Z`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Milliseconds; undefined for none. */
export function lengthOf(count: string | undefined, unit: string | undefined): number | undefined {
  const words: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, few: 3 };
  const number = words[count ?? ''] ?? Number(count);
  const length = number * (units[unit?.charAt(0) ?? ''] ?? Number.NaN);
  return length > 0 ? length : undefined;
}

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / day) * day);
}

/** At most seven days and never past `now`; undefined where less than a minute is left. */
export function clamp({ start, end }: TimeRange, now: Date): TimeRange | undefined {
  const last = Math.min(end.getTime(), now.getTime());
  const first = Math.max(start.getTime(), last - longest);
  return last - first >= minute ? { start: new Date(first), end: new Date(last) } : undefined;
}

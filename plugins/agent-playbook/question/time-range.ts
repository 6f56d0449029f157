/** A stretch of time: from inclusive, to exclusive. */
export interface TimeRange {
  readonly start: Date;
  readonly end: Date;
  /** About: it may be moved to where the telemetry is. */
  readonly rough?: true;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
export const longest = 7 * day;

const units: Readonly<Record<string, number>> = { m: minute, h: hour, d: day, w: 7 * day };

type Reader = (text: string, now: Date) => TimeRange | undefined;

/**
 * The stretch of time that a question names, UTC: "last 30 minutes", "since 14:00", "since about half an hour", "between 2
 * and 3", "around 9 am", "2 hours ago", "yesterday", "this morning", or RFC 3339 times. At most seven days, never past `now`.
 */
export function readTimeRange(question: string, now: Date): TimeRange | undefined {
  const text = question.toLowerCase();
  for (const read of readers) {
    const range = read(text, now);
    if (range !== undefined) return clamp(range, now);
  }
  return undefined;
}

/** Numbers in words, the longer first. */
const counts: Readonly<Record<string, number>> = {
  'a quarter of an': 0.25,
  'half an': 0.5,
  'half a': 0.5,
  half: 0.5,
  'a couple of': 2,
  'a few': 3,
  few: 3,
  an: 1,
  a: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  ten: 10,
};
const count = String.raw`(\d{1,4}|${Object.keys(counts).join('|')})`;
export const amount = String.raw`${count}\s*(m|h|d|w|mins?|minutes?|hrs?|hours?|days?|weeks?)\b`;
export const clock = String.raw`(\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,6})?\s?z?|\d{1,2}:\d{2}(?:\s?[ap]m\b)?|\d{1,2}\s?[ap]m\b)`;
const roughly = String.raw`((?:about|around|roughly|approximately|some|maybe)\s+|~\s*)?`;

/** Clock times of yesterday are the last ones before today. */
function clockNow(text: string, now: Date): Date {
  return /\byesterday\b/.test(text) ? startOfDay(now) : now;
}

/** Parts of a day by what they are called, in hours of the day; night began the day before. */
const dayParts: Readonly<Record<string, readonly [from: number, to: number]>> = {
  'this morning': [5, 12],
  'this afternoon': [12, 18],
  'this evening': [18, 24],
  tonight: [18, 24],
  'last night': [-6, 6],
};

const readers: readonly Reader[] = [
  (text, now) => {
    const match = new RegExp(
      `\\b(?:between|from)\\s+${clock}\\s*(?:utc\\s*)?(?:and|to|until|till|-|–)\\s*${clock}`,
    ).exec(text);
    // Whole hours: "between 2 and 3".
    const isOfDay = /\b(?:yesterday|today|utc)\b/.test(text);
    const hours = new RegExp(
      `\\bbetween\\s+(\\d{1,2})\\s+and\\s+(\\d{1,2})\\b(?!\\s*[:%${isOfDay ? '' : '\\w'}])`,
    ).exec(text);
    const whole = hours && [`${hours[1]}:00`, `${hours[2]}:00`];
    const start = timeOf(match?.[1] ?? whole?.[0], clockNow(text, now));
    const end = timeOf(match?.[2] ?? whole?.[1], clockNow(text, now));
    if (!start || !end) return undefined;
    // 23:30 to 00:30 crosses midnight: each clock time alone was read as the last such time before now.
    return end > start ? { start, end } : { start: new Date(start.getTime() - day), end };
  },
  (text, now) => {
    const match = new RegExp(`\\bsince\\s+${clock}`).exec(text);
    const start = match && timeOf(match[1], clockNow(text, now));
    return start ? { start, end: now } : undefined;
  },
  (text, now) => {
    const match = new RegExp(`\\b(?:since|for)\\s+${roughly}${amount}`).exec(text);
    const length = match && lengthOf(match[2], match[3]);
    if (!length) return undefined;
    if (match[1] === undefined) return { start: new Date(now.getTime() - length), end: now };
    // What is told roughly began earlier as easily as later: never less than what is looked at without a time.
    return { start: new Date(now.getTime() - Math.max(hour, 1.5 * length)), end: now, rough: true };
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
    const part = Object.entries(dayParts).find(([name]) => text.includes(name))?.[1];
    if (part) {
      const [start, end] = part.map((hours) => new Date(midnight.getTime() + hours * hour));
      return start && end && { start, end };
    }
    const clocked = new RegExp(`\\byesterday\\s+(?:at|around|about|near)\\s+${clock}`).test(text);
    if (clocked) return undefined;
    if (/\bsince yesterday\b/.test(text)) return { start: new Date(midnight.getTime() - day), end: now };
    if (/\byesterday\b/.test(text)) return { start: new Date(midnight.getTime() - day), end: midnight };
    if (/\btoday\b/.test(text)) return { start: midnight, end: now };
    return undefined;
  },
  (text, now) => {
    const match =
      new RegExp(`\\b(?:at|around|about|near)\\s+${clock}`).exec(text) ??
      /(\d{4}-\d{2}-\d{2}t\d{2}:\d{2}\S*)/.exec(text);
    const time = match && timeOf(match[1], clockNow(text, now));
    return time
      ? { start: new Date(time.getTime() - 15 * minute), end: new Date(time.getTime() + 45 * minute) }
      : undefined;
  },
];

/** A clock time or a date with one; a clock time alone is the last such before `now`. */
export function timeOf(text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,2})(?::(\d{2}))?\s?([ap]m)?$/.exec(text);
  if (match) {
    const [, written, minutes = '0', half] = match;
    const hours = half === undefined ? Number(written) : (Number(written) % 12) + (half === 'pm' ? 12 : 0);
    if (hours > 23 || Number(minutes) > 59 || (half !== undefined && Number(written) > 12)) return undefined;
    const today = startOfDay(now).getTime() + hours * hour + Number(minutes) * minute;
    return new Date(today > now.getTime() ? today - day : today);
  }
  const iso = text.trim().toUpperCase().replace(' ', 'T').replace(/\s/g, '');
  const time = new Date(iso.endsWith('Z') ? iso : `${iso}Z`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Milliseconds; undefined for none. */
export function lengthOf(written: string | undefined, unit: string | undefined): number | undefined {
  const number = counts[written ?? ''] ?? Number(written);
  const length = number * (units[unit?.charAt(0) ?? ''] ?? Number.NaN);
  return length > 0 ? length : undefined;
}

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / day) * day);
}

/** At most seven days and never past `now`; undefined where less than a minute is left. */
export function clamp({ start, end, ...range }: TimeRange, now: Date): TimeRange | undefined {
  const last = Math.min(end.getTime(), now.getTime());
  const first = Math.max(start.getTime(), last - longest);
  return last - first >= minute ? { start: new Date(first), end: new Date(last), ...range } : undefined;
}

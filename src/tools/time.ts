import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';

/** A time as tools take it; a number arrives as its digits. Parse it with `parseTime`. */
export const timeArgument = z.string().min(1).max(64);

const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The last millisecond that still fits a 64-bit count of nanoseconds, which is what some warehouses keep times in. */
const latest = 9_223_372_036_854;

/**
 * Reads RFC 3339 (no offset means UTC, a date alone its midnight), epoch milliseconds, or `now`, `now-1h`, `now-1h30m`,
 * `now+5m` with ms, s, m, h, d, w. Throws invalid_argument naming `argument`.
 */
export function parseTime(value: string, now: Date, argument: string): Date {
  const text = value.trim();
  const time = /^\d{5,}(\.\d+)?$/.test(text)
    ? fromEpoch(Number(text), argument)
    : (fromNow(text, now) ?? fromRfc3339(text));
  if (time === undefined) throw refusal(argument, 'is not a time that can be read');
  if (!(time >= 0 && time <= latest)) throw refusal(argument, 'is outside 1970 to 2262');
  return new Date(time);
}

function fromEpoch(value: number, argument: string): number {
  if (value >= 1e8 && value < 1e11) throw refusal(argument, 'looks like epoch seconds; multiply it by 1000');
  if (value > latest) throw refusal(argument, 'looks like epoch micro- or nanoseconds; send milliseconds');
  return Math.trunc(value);
}

function fromNow(text: string, now: Date): number | undefined {
  const match = /^now(?:\s*([+-])\s*((?:\d{1,9}(?:ms|[smhdw]))+))?$/i.exec(text);
  if (match === null) return undefined;
  const [, sign, amounts] = match;
  let distance = 0;
  for (const [, count, unit] of (amounts ?? '').matchAll(/(\d+)(ms|[smhdw])/gi)) {
    distance += Number(count) * (milliseconds[(unit ?? '').toLowerCase()] ?? Number.NaN);
  }
  return now.getTime() + (sign === '-' ? -distance : distance);
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?([Zz])|([+-])(\d{2}):?(\d{2}))?)?$/;

function fromRfc3339(text: string): number | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const number = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [number(1), number(2), number(3), number(4), number(5), number(6)];
  // 60 is a leap second, which RFC 3339 §5.7 allows; Date counts it as the next one.
  if (hour > 23 || minute > 59 || second > 60 || number(10) > 23 || number(11) > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date rolls 30 February over into March.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const fraction = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offset = (number(10) * 60 + number(11)) * (match[9] === '-' ? -60_000 : 60_000);
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offset;
}

function refusal(argument: string, why: string): SightlineError {
  return new SightlineError('invalid_argument', `${argument} ${why}.`, {
    hint: 'Send RFC 3339 such as 2026-01-31T12:00:00Z, epoch milliseconds, or now, now-15m, now-1h, now-7d.',
  });
}

import type { Utf8Writer } from './text.ts';

const twoTo32 = 0x1_0000_0000;

/**
 * Microseconds of a `*_unix_nano` given in two words, rounded down; exact up to the year 2255. In doubles, since a BigInt a
 * timestamp would be a tenth of the whole work.
 */
export function nanosToMicros(low: number, high: number): number {
  const thousands = Math.floor(high / 1000);
  const rest = (high - thousands * 1000) * twoTo32 + low;
  return thousands * twoTo32 + Math.floor(rest / 1000);
}

/** The largest double that a signed 64-bit integer holds. */
const longest = 2 ** 63 - 1024;

/** Nanoseconds from one time to a later one; exact below 104 days. 0 if the clock went back. */
export function nanosBetween(startLow: number, startHigh: number, endLow: number, endHigh: number): number {
  return Math.min(longest, Math.max(0, (endHigh - startHigh) * twoTo32 + (endLow - startLow)));
}

let cachedSecond = Number.NaN;
let cachedText = '';

/** RFC 3339 UTC with microseconds, quoted. */
export function writeTime(out: Utf8Writer, micros: number): void {
  const second = Math.floor(micros / 1e6);
  if (second !== cachedSecond) {
    cachedText = `"${new Date(second * 1000).toISOString().replace(/000Z$/, '')}`;
    cachedSecond = second;
  }
  out.literal(cachedText);
  out.literal(`${String(micros - second * 1e6).padStart(6, '0')}Z"`);
}

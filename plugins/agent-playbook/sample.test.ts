import { describe, expect, it } from '@jest/globals';
import { joined, sampleOf } from './sample.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 0, minute));
const hour = { start: at(0), end: at(60) };
const windows = { now: { start: at(40), end: at(60) }, before: { start: at(0), end: at(40) }, references: [] };
const sent = (rows: number, recent = rows) => ({
  table: 'spans' as const,
  evidenceId: 'E1',
  failed: false,
  traced: true,
  recent: hour,
  services: [{ name: 'checkout', rows, recent }],
  first: at(0),
  last: at(60),
});

describe('the sample of traces that are joined', () => {
  it('is all of them up to a bound, and so many beyond that it is kept', () => {
    expect(sampleOf(sent(200_000), windows)).toBeUndefined();
    expect(joined({ sample: undefined })).toBe('');
    expect(sampleOf(sent(400_000), windows)).toBe(128);
    expect(sampleOf(sent(2_000_000), windows)).toBe(26);
    expect(sampleOf(sent(10 ** 12), windows)).toBe(1);
  });

  it('goes by what the compared stretches hold', () => {
    const short = { ...windows, now: { start: at(57), end: at(60) }, before: { start: at(54), end: at(57) } };
    expect(sampleOf(sent(2_000_000), short)).toBeUndefined();
    // A day was looked at, of which the last hour is the busiest.
    expect(sampleOf({ ...sent(2_400_000, 2_000_000), first: at(-23 * 60) }, windows)).toBe(26);
    expect(sampleOf({ ...sent(0), first: undefined, last: undefined }, windows)).toBeUndefined();
  });

  it('is written so that text comparison means what the digits do', () => {
    expect(joined({ sample: 26 })).toBe(" AND substr(trace_id, 31, 2) < '1a'");
    expect(joined({ sample: 1 }, 's.trace_id')).toBe(" AND substr(s.trace_id, 31, 2) < '01'");
  });
});

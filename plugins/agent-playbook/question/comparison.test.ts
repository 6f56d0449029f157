import { describe, expect, it } from '@jest/globals';
import { readComparison } from './conversation.ts';
import { readTimeRange } from './time-range.ts';

const now = new Date('2026-03-01T12:00:00Z');
const looked = { start: new Date('2026-03-01T11:00:00Z'), end: new Date('2026-03-01T11:30:00Z') };

describe('what a question names to compare with', () => {
  it('is read, and is not taken for the time that is meant', () => {
    const text = 'Slow since 11:00. Compare with 09:00 to 09:30 and with 2026-02-28T11:00:00Z to 2026-02-28T11:30:00Z.';
    const { references, rest } = readComparison(text, now, looked);
    expect(references).toEqual([
      { start: new Date('2026-03-01T09:00:00Z'), end: new Date('2026-03-01T09:30:00Z') },
      { start: new Date('2026-02-28T11:00:00Z'), end: new Date('2026-02-28T11:30:00Z') },
    ]);
    expect(readTimeRange(rest, now)).toEqual({ start: new Date('2026-03-01T11:00:00Z'), end: now });
  });

  it.each([
    ['compare with yesterday', '02-28T11:00 02-28T11:30'],
    ['Compared to the day before?', '02-28T11:00 02-28T11:30'],
    ['compare it with last week', '02-22T11:00 02-22T11:30'],
    ['compare this to the hour before', '03-01T10:00 03-01T11:00'],
    ['compare with before', '03-01T10:30 03-01T11:00'],
    ['Why is checkout slower than yesterday?', '02-28T11:00 02-28T11:30'],
    ['Twice as many errors as last week', '02-22T11:00 02-22T11:30'],
  ])('may be named by what was looked at: %s', (text, expected) => {
    const { references, rest } = readComparison(text, now, looked);
    expect(references.map(({ start, end }) => `${short(start)} ${short(end)}`)).toEqual([expected]);
    expect(readTimeRange(rest, now)).toBeUndefined();
  });

  it.each(['We see twice as many errors as an hour ago. What is wrong?', 'It is slower than it was about 2 hours ago'])(
    'is no time that is asked about: %s',
    (text) => {
      const { references, rest } = readComparison(text, now, looked);
      expect(references).toEqual([]);
      expect(readTimeRange(rest, now)).toBeUndefined();
    },
  );

  it('is no longer than a week', () => {
    const [past, ...rest] = readComparison('compare with 1970-01-01T00:00 to 2026-02-20T00:00', now, looked).references;
    expect([past, ...rest]).toEqual([
      { start: new Date('2026-02-13T00:00:00Z'), end: new Date('2026-02-20T00:00:00Z') },
    ]);
  });

  it('is not seen where there is none', () => {
    expect(readComparison('Compare checkout with cart.', now, looked)).toEqual({
      references: [],
      rest: 'Compare checkout with cart.',
    });
  });
});

function short(time: Date): string {
  return time.toISOString().slice(5, 16);
}

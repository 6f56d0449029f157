import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readTimeRange } from './time-range.ts';

const now = new Date('2026-03-01T12:00:00Z');
const read = (text: string): string | undefined => {
  const range = readTimeRange(text, now);
  return range && `${range.start.toISOString().slice(5, 16)} ${range.end.toISOString().slice(5, 16)}`;
};

describe('the time that a question names', () => {
  it.each([
    ['what broke in the last 30 minutes?', '03-01T11:30 03-01T12:00'],
    ['errors over the past 2h', '03-01T10:00 03-01T12:00'],
    ['last hour please', '03-01T11:00 03-01T12:00'],
    ['the last 3 days', '02-26T12:00 03-01T12:00'],
    ['since 09:15 it is slow', '03-01T09:15 03-01T12:00'],
    ['since 14:00', '02-28T14:00 03-01T12:00'],
    ['since 2026-03-01T08:00:00Z', '03-01T08:00 03-01T12:00'],
    ['between 10:00 and 10:30', '03-01T10:00 03-01T10:30'],
    ['from 23:30 to 00:30', '02-28T23:30 03-01T00:30'],
    ['from 2026-02-27 10:00 to 2026-02-27 11:00', '02-27T10:00 02-27T11:00'],
    ['around 09:00', '03-01T08:45 03-01T09:45'],
    ['what happened 2 hours ago', '03-01T09:30 03-01T10:30'],
    ['Yesterday checkout failed', '02-28T00:00 03-01T00:00'],
    ['since yesterday', '02-28T00:00 03-01T12:00'],
    ['anything today?', '03-01T00:00 03-01T12:00'],
    ['slow since about half an hour', '03-01T11:00 03-01T12:00'],
    ['slow since about two hours', '03-01T09:00 03-01T12:00'],
    ['since half an hour ago', '03-01T11:30 03-01T12:00'],
    ['it fails for roughly 20 minutes now', '03-01T11:00 03-01T12:00'],
    ['the last half hour', '03-01T11:30 03-01T12:00'],
    ['since a couple of hours', '03-01T10:00 03-01T12:00'],
    ['this morning checkout failed', '03-01T05:00 03-01T12:00'],
    ['what broke last night?', '02-28T18:00 03-01T06:00'],
    ['yesterday between 2 and 3', '02-28T02:00 02-28T03:00'],
    ['yesterday between 2 and 3 checkout failed', '02-28T02:00 02-28T03:00'],
    ['yesterday between 14:00 and 15:30', '02-28T14:00 02-28T15:30'],
    ['yesterday around 2 pm', '02-28T13:45 02-28T14:45'],
    ['since 9am', '03-01T09:00 03-01T12:00'],
    ['around 12:30 am', '03-01T00:15 03-01T01:15'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    'why is checkout slow?',
    'at 25:99',
    'last 0 minutes',
    'order 12:34:56 is ok',
    'since the deploy',
    'between 2 and 3 pods',
    'for two services',
    'at 13 pm',
    '',
  ])('is not there: %s', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('is at most seven days and never past now, whatever is asked', () => {
    const words = fc.constantFrom(
      'last',
      'past',
      'since',
      'between',
      'and',
      'ago',
      '12:00',
      '9999',
      'days',
      'weeks',
      '2026-03-01T11:00Z',
      '2999-01-01T00:00Z',
      'yesterday',
      'at',
      'a few',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
        const range = readTimeRange(parts.join(' '), now);
        if (range === undefined) return;
        expect(range.end.getTime()).toBeLessThanOrEqual(now.getTime());
        expect(range.end.getTime() - range.start.getTime()).toBeGreaterThanOrEqual(60_000);
        expect(range.end.getTime() - range.start.getTime()).toBeLessThanOrEqual(7 * 86_400_000);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTime } from './time.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const read = (value: string): string => parseTime(value, now, 'start').toISOString();

describe('parseTime', () => {
  it.each([
    ['2026-02-28T10:20:30Z', '2026-02-28T10:20:30.000Z'],
    ['2026-02-28t10:20:30.123456789z', '2026-02-28T10:20:30.123Z'],
    ['2026-02-28 10:20:30+02:00', '2026-02-28T08:20:30.000Z'],
    ['2026-02-28T23:30:00-05:30', '2026-03-01T05:00:00.000Z'],
    ['2026-02-28T10:20', '2026-02-28T10:20:00.000Z'],
    ['2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1772366400123.7', '2026-03-01T12:00:00.123Z'],
    ['1772366400123', '2026-03-01T12:00:00.123Z'],
    ['00000', '1970-01-01T00:00:00.000Z'],
    ['now', '2026-03-01T12:00:00.000Z'],
    ['NOW-1h', '2026-03-01T11:00:00.000Z'],
    ['now - 1h30m', '2026-03-01T10:30:00.000Z'],
    ['now+5m', '2026-03-01T12:05:00.000Z'],
    ['now-1w1d', '2026-02-21T12:00:00.000Z'],
    ['now-250ms', '2026-03-01T11:59:59.750Z'],
    [' now-7d ', '2026-02-22T12:00:00.000Z'],
  ])('reads %j', (value, expected) => {
    expect(read(value)).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    'now-',
    'now-1',
    'now-1y',
    'now1h',
    'now--1h',
    '2026-02-30',
    '2025-02-29T00:00:00Z',
    '2026-13-01',
    '2026-02-28T24:00:00Z',
    '2026-02-28T10:60:00Z',
    '2026-02-28T10:20:30+25:00',
    '2026-02-28T10:20:30Z; DROP TABLE x',
    '1969-12-31T23:59:59Z',
    '2300-01-01T00:00:00Z',
    'now-999999999w',
    'NaN',
    'Infinity',
    '-1',
    '2026',
  ])('refuses %j and says what to send', (value) => {
    expect(() => read(value)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringMatching(/^start /),
        hint: expect.stringContaining('RFC 3339'),
      }),
    );
  });

  it('tells seconds and nanoseconds from milliseconds', () => {
    expect(() => read('1772366400')).toThrow('looks like epoch seconds');
    expect(() => read('1772366400123456789')).toThrow('micro- or nanoseconds');
  });

  it('reads back every time it writes, and the same instant in any offset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9_223_372_036_854 }),
        fc.integer({ min: -23 * 60, max: 23 * 60 }),
        (time, offset) => {
          expect(parseTime(new Date(time).toISOString(), now, 'x').getTime()).toBe(time);
          const local = time + offset * 60_000;
          if (local < 0) return;
          const clock = new Date(local).toISOString().slice(0, -1);
          const minutes = Math.abs(offset);
          const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
          expect(parseTime(`${clock}${zone}`, now, 'x').getTime()).toBe(time);
        },
      ),
    );
  });

  it('never throws anything but its own refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.stringMatching(/^now[-+0-9smhdw ]*$/)), (value) => {
        try {
          expect(Number.isNaN(parseTime(value, now, 'x').getTime())).toBe(false);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_argument' });
        }
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TimeReach } from '../../contract/telemetry/index.ts';
import { checkWindow, defaultWindowWarning, statementWindow, type TimeBounds } from './window.ts';

const now = Date.parse('2026-03-01T12:00:30.123Z');
const hour = 3_600_000;
const defaultMs = 24 * hour;

const windowOf = (reaches: readonly TimeReach[], asked?: TimeBounds, at = now) =>
  statementWindow({ tables: ['spans'], reaches }, asked, { now: at, defaultMs });
const at = (text: string) => ({ at: new Date(text) });
const ago = (hours: number) => ({ fromNowMs: -hours * hour });
/** The window in short: told, bound, source. */
const short = (reaches: readonly TimeReach[], asked?: TimeBounds) => {
  const { window, bound } = windowOf(reaches, asked) ?? {};
  const range = ({ start, end }: TimeBounds = {}) => `${start?.toISOString() ?? ''}/${end?.toISOString() ?? ''}`;
  return [range(window), range(bound), window?.source];
};

describe('the window of a statement', () => {
  it('is none where it reads no table', () => {
    expect(statementWindow({ tables: [], reaches: [] }, { start: new Date(0) }, { now, defaultMs })).toBeUndefined();
  });

  it('is what was asked for, whatever the statement says', () => {
    const start = new Date('2026-01-01T00:00:00.001Z');
    const end = new Date('2026-01-02T00:00:00Z');
    expect(windowOf([{ start: ago(1) }], { start, end })).toEqual({
      window: { start, end, source: 'argument' },
      bound: { start, end },
    });
    expect(windowOf([{ end: ago(1) }], { start })).toEqual({ window: { start, source: 'argument' }, bound: { start } });
  });

  it('is the default before an end that was asked for alone, but for what the statement names itself', () => {
    const end = new Date('2026-01-02T03:04:05Z');
    const day = '2026-01-01T03:04:00.000Z/2026-01-02T03:04:05.000Z';
    expect(short([{}], { end })).toEqual([day, day, 'default']);
    const year = '2025-01-01T00:00:00.000Z/2026-01-02T03:04:05.000Z';
    expect(short([{ start: at('2025-01-01T00:00:00Z') }], { end })).toEqual([year, year, 'argument']);
  });

  it('is the default where the statement says nothing, to the minute', () => {
    const day = '2026-02-28T12:00:00.000Z/';
    expect(short([{}])).toEqual([day, day, 'default']);
    // What a plugin that forgets to say it would give.
    expect(short([])).toEqual([day, day, 'default']);
  });

  it('is what the statement names, absolute to the millisecond', () => {
    const named = '2026-01-01T00:00:00.001Z/2026-01-02T00:00:00.000Z';
    expect(short([{ start: at('2026-01-01T00:00:00.001Z'), end: at('2026-01-02T00:00:00Z') }])).toEqual([
      named,
      named,
      'predicates',
    ]);
  });

  it('is told as the statement counts from now, and bound a minute wider for another clock', () => {
    expect(short([{ start: ago(2), end: ago(1) }])).toEqual([
      '2026-03-01T10:00:30.123Z/2026-03-01T11:00:30.123Z',
      '2026-03-01T09:59:00.000Z/2026-03-01T11:02:00.000Z',
      'predicates',
    ]);
    // The same SQL for a minute: the statement is not rendered anew for every call.
    const [a, b] = [0, 20_000].map((later) => windowOf([{ start: ago(2) }], undefined, now + later)?.bound);
    expect(a).toEqual(b);
  });

  it('spans all places that read a table', () => {
    expect(short([{ start: ago(1), end: at('2026-03-01T11:30:00Z') }, { start: at('2026-02-01T00:00:00Z') }])).toEqual([
      '2026-02-01T00:00:00.000Z/',
      '2026-02-01T00:00:00.000Z/',
      'predicates',
    ]);
  });

  it('is the default for a place that says no start, counted from its end', () => {
    expect(short([{ end: at('2026-02-01T00:00:00Z') }, { start: ago(1), end: at('2026-03-01T11:30:00Z') }])).toEqual([
      '2026-01-31T00:00:00.000Z/2026-03-01T11:30:00.000Z',
      '2026-01-31T00:00:00.000Z/2026-03-01T11:30:00.000Z',
      'default',
    ]);
    expect(short([{ start: ago(48) }, {}])[2]).toBe('default');
  });

  it('is the default before now where the end lies ahead: else it would hold nothing that has happened', () => {
    const day = '2026-02-28T12:00:00.000Z';
    expect(short([{ end: at('2099-01-01T00:00:00Z') }])[0]).toBe(`${day}/2099-01-01T00:00:00.000Z`);
    expect(short([{ end: { fromNowMs: 48 * hour } }])[0]).toBe(`${day}/2026-03-03T12:00:30.123Z`);
    expect(short([{}], { end: new Date('2026-03-08T00:00:00Z') })[0]).toBe(`${day}/2026-03-08T00:00:00.000Z`);
    expect(short([{ end: at('2099-01-01T00:00:00Z') }], { end: new Date('2098-01-01T00:00:00Z') })[0]).toBe(
      `${day}/2098-01-01T00:00:00.000Z`,
    );
  });

  it('holds moments that no warehouse could write', () => {
    expect(short([{ start: { fromNowMs: -1e20 }, end: { fromNowMs: 1e20 } }])).toEqual([
      '1970-01-01T00:00:00.000Z/',
      '1970-01-01T00:00:00.000Z/',
      'predicates',
    ]);
    expect(short([{ start: { at: new Date(Number.NaN) }, end: { fromNowMs: Number.NaN } }])).toEqual([
      '2026-02-28T12:00:00.000Z/',
      '2026-02-28T12:00:00.000Z/',
      'default',
    ]);
    expect(short([{ start: at('9999-01-01T00:00:00Z') }])[0]).toBe('2262-04-11T23:47:16.854Z/');
    expect(short([{ start: at('1000-01-01T00:00:00Z'), end: at('1001-01-01T00:00:00Z') }])[1]).toBe(
      '1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.000Z',
    );
  });

  it('never hides a row that the statement reaches and that is younger than the default', () => {
    const point = fc.oneof(
      fc.date({ noInvalidDate: false }).map((date) => ({ at: date })),
      fc.double().map((fromNowMs) => ({ fromNowMs })),
      fc.integer({ min: -100 * hour, max: 100 * hour }).map((fromNowMs) => ({ fromNowMs })),
    );
    const reach = fc.record({ start: point, end: point }, { requiredKeys: [] });
    const moment = (edge: TimeReach['start']): number =>
      edge === undefined ? Number.NaN : 'at' in edge ? edge.at.getTime() : now + edge.fromNowMs;
    fc.assert(
      fc.property(fc.array(reach, { maxLength: 4 }), fc.integer({ min: 0, max: defaultMs }), (reaches, age) => {
        const shown = windowOf(reaches);
        const row = now - age;
        const reached = reaches.some(({ start, end }) => !(row < moment(start)) && !(row >= moment(end)));
        if (!reached || shown === undefined) return;
        expect(shown.bound.start.getTime()).toBeLessThanOrEqual(row);
        expect(shown.bound.end?.getTime() ?? Infinity).toBeGreaterThan(row);
        expect(shown.bound.start.toISOString()).toMatch(/^\d{4}-/);
      }),
    );
  });
});

describe('a window that was asked for', () => {
  it('must hold something', () => {
    const time = new Date(now);
    expect(() => checkWindow({ start: time, end: time })).toThrow('start must be before end.');
    for (const window of [undefined, {}, { start: time }, { end: time }]) checkWindow(window);
  });
});

describe('the warning of the default', () => {
  it('says where it begins, how long it is and what to send', () => {
    const window = { start: new Date(0), source: 'default' } as const;
    expect(defaultWindowWarning(window, 24 * hour)).toBe(
      'Rows before 1970-01-01T00:00:00.000Z were not read: where neither start nor a predicate on time says otherwise, 24 hours are read. Send start, such as "now-7d", to look further back.',
    );
    expect(defaultWindowWarning(window, hour)).toContain('one hour is read');
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { criticalPath, type TimedSpan } from './critical-path.ts';

const span = (id: string, parentId: string, start: number, duration: number, more: Partial<TimedSpan> = {}) => ({
  id,
  parentId,
  service: 'shop',
  operation: id,
  consumer: false,
  start,
  duration,
  ...more,
});

const selves = (spans: readonly TimedSpan[]) => criticalPath(spans).map(({ operation, self }) => [operation, self]);

describe('the critical path', () => {
  it('leads through the children that the end waits for, and not through what runs beside them', () => {
    expect(
      selves([
        span('root', '', 0, 100),
        span('a', 'root', 10, 20),
        span('beside', 'root', 35, 40),
        span('b', 'root', 30, 60),
      ]),
    ).toEqual([
      ['root', 20],
      ['a', 20],
      ['b', 60],
    ]);
  });

  it('leads down into what the last child waits for', () => {
    expect(selves([span('root', '', 0, 100), span('a', 'root', 10, 80), span('query', 'a', 20, 60)])).toEqual([
      ['root', 20],
      ['a', 20],
      ['query', 60],
    ]);
  });

  it('leaves out what nobody waits for: what ends after its parent, and what takes a message', () => {
    expect(
      selves([
        span('root', '', 0, 100),
        span('async', 'root', 50, 500),
        span('message', 'root', 10, 50, { consumer: true, service: 'mail' }),
      ]),
    ).toEqual([['root', 100]]);
  });

  it("puts a call answered by another machine's clock in the middle of the caller's time", () => {
    expect(selves([span('root', '', 0, 100), span('call', 'root', 90, 60, { service: 'other' })])).toEqual([
      ['root', 40],
      ['call', 60],
    ]);
  });

  it('begins at the longest span without a parent where the root is missing', () => {
    expect(selves([span('a', 'lost', 0, 30), span('b', 'lost', 40, 50), span('c', 'b', 50, 10)])).toEqual([
      ['b', 40],
      ['c', 10],
    ]);
  });

  it('is empty where every span is below another', () => {
    expect(criticalPath([span('a', 'b', 0, 10), span('b', 'a', 0, 10)])).toEqual([]);
    expect(criticalPath([])).toEqual([]);
  });

  it('adds up to the root, whatever the spans say', () => {
    const spans = fc.array(
      fc.record({
        id: fc.integer({ min: 0, max: 20 }).map(String),
        parentId: fc.integer({ min: 0, max: 22 }).map(String),
        service: fc.constantFrom('a', 'b', 'c'),
        operation: fc.constant('op'),
        consumer: fc.boolean(),
        start: fc.integer({ min: -1_000, max: 1_000 }),
        duration: fc.integer({ min: 0, max: 1_000 }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(spans, (trace) => {
        const path = criticalPath(trace);
        const unique = [...new Map(trace.map((one) => [one.id, one])).values()];
        const roots = unique.filter(({ parentId }) => !unique.some(({ id }) => id === parentId));
        const longest = roots.length === 0 ? 0 : Math.max(...roots.map(({ duration }) => duration));
        expect(path.every(({ self }) => self >= 0)).toBe(true);
        expect(path.length).toBeLessThanOrEqual(trace.length);
        expect(path.reduce((sum, { self }) => sum + self, 0)).toBeCloseTo(longest, 6);
      }),
    );
  });
});

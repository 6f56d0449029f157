import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changePoint, fisherTail, rate, twoProportionZ } from './statistics.ts';

describe('two proportions', () => {
  it('differ when they do', () => {
    expect(twoProportionZ({ hits: 50, total: 100 }, { hits: 10, total: 100 })).toBeGreaterThan(5);
    expect(twoProportionZ({ hits: 1, total: 10 }, { hits: 0, total: 10 })).toBeLessThan(2);
    expect(twoProportionZ({ hits: 5, total: 100 }, { hits: 50, total: 1_000 })).toBeCloseTo(0, 0);
  });

  it('never yield anything but a number', () => {
    const proportion = fc
      .nat(1_000_000)
      .chain((total) => fc.record({ hits: fc.nat(total), total: fc.constant(total) }));
    fc.assert(
      fc.property(proportion, proportion, (a, b) => {
        expect(Number.isFinite(twoProportionZ(a, b))).toBe(true);
        expect(rate(a)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("Fisher's exact test", () => {
  it('says what tables say', () => {
    // The lady tasting tea: 3 of 4 right, and all 4.
    expect(fisherTail({ hits: 3, total: 4 }, { hits: 1, total: 4 })).toBeCloseTo(17 / 70, 10);
    expect(fisherTail({ hits: 4, total: 4 }, { hits: 0, total: 4 })).toBeCloseTo(1 / 70, 10);
    expect(fisherTail({ hits: 0, total: 9 }, { hits: 3, total: 5 })).toBeCloseTo(1, 10);
    expect(fisherTail({ hits: 12, total: 87 }, { hits: 0, total: 59 })).toBeLessThan(0.002);
  });

  it('is a probability, and falls with each hit more', () => {
    const table = fc.record({
      total: fc.integer({ min: 1, max: 500 }),
      other: fc.integer({ min: 1, max: 500 }),
      hits: fc.nat(60),
    });
    fc.assert(
      fc.property(table, ({ total, other, hits }) => {
        const before = { hits: Math.min(hits, other), total: other };
        let last = 1;
        for (let k = 0; k <= Math.min(total, 30); k += 1) {
          const tail = fisherTail({ hits: k, total }, { ...before, hits: Math.min(before.hits, other) });
          expect(tail).toBeGreaterThanOrEqual(0);
          expect(tail).toBeLessThanOrEqual(last + 1e-9);
          last = tail;
        }
      }),
    );
  });
});

describe('a change in a series', () => {
  const quiet = { hits: 1, total: 100 };
  const loud = { hits: 40, total: 100 };

  it('is where the share rises', () => {
    expect(changePoint([quiet, quiet, quiet, loud, loud])?.index).toBe(3);
    expect(changePoint([{ hits: 0, total: 0 }, quiet, quiet, loud])?.index).toBe(3);
  });

  it('is nowhere in a steady, a falling or an empty one', () => {
    expect(changePoint([quiet, quiet, quiet, quiet])).toBeUndefined();
    expect(changePoint([loud, loud, quiet, quiet])).toBeUndefined();
    expect(changePoint([])).toBeUndefined();
  });
});

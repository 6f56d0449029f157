import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changePoint, rate, twoProportionZ } from './statistics.ts';

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

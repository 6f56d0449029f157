import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { code, fenced, milliseconds, percent } from './sql.ts';

describe("a stranger's words", () => {
  it('stay in a code span on one line, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: fc.constantFrom('`', '\n', '*', '\u202e', '\ud800', 'x') }),
        ),
        (text) => {
          const span = code(text);
          expect(span).toMatch(/^`[^`\n\r]+`$/u);
          expect(span.length).toBeLessThanOrEqual(122);
          expect(span.isWellFormed()).toBe(true);
          expect(span).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        },
      ),
    );
  });

  it('cannot close the block that they stand in', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', '\n', 'a', ' ') }), (text) => {
        const [first = '', ...rest] = fenced(text, 'sql').split('\n');
        const fence = first.replace('sql', '');
        expect(rest.indexOf(fence)).toBe(rest.length - 1);
      }),
    );
  });
});

describe('figures', () => {
  it('are short', () => {
    expect([0, 0.0042, 0.034, 0.33, 1].map(percent)).toEqual(['0 %', '0.42 %', '3.4 %', '33 %', '100 %']);
    expect([1_200_000, 45_600_000, 12_300_000_000].map(milliseconds)).toEqual(['1.2 ms', '46 ms', '12.3 s']);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { byteLength, plain, resultJson } from './result.ts';

const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', '\u2028', '😀', '\u0000'),
  fc.integer(),
);
const rows = fc.array(fc.array(cell), { minLength: 1 });

/** White space between values is the engine's to write. */
const written = (values: readonly unknown[], space: string): string =>
  values.map((row) => JSON.stringify(row)).join(`,${space}`);

describe('a result around rows', () => {
  it('is the same JSON whether few rows are answered or many', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom('', ' ', '\n', '\r\n\t'), fc.string(), (values, space, said) => {
        const once = Buffer.from(written(values, space));
        const times = Math.ceil(10_000 / once.length);
        for (const count of [1, times]) {
          const json = Buffer.from(Array.from({ length: count }, () => once.toString()).join(','));
          const structured = { before: `{"said":${JSON.stringify(said)},"rows":[`, rows: json, after: '],"end":1}' };
          const text = { before: `${said}\n<mark>\n`, rows: json, after: '\n</mark>' };
          const result = resultJson({ structured, text }, ',"tail":true');
          expect(Buffer.isBuffer(result)).toBe(2 * json.length > 8 * 1024);
          expect(JSON.parse(result.toString())).toEqual({
            content: [{ type: 'text', text: plain(text) }],
            structuredContent: JSON.parse(plain(structured)),
            tail: true,
          });
          expect(byteLength(text)).toBe(Buffer.byteLength(plain(text)));
        }
      }),
    );
  });
});

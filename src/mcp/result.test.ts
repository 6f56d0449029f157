import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resultJson, structuredText, textInString } from './result.ts';

const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '\u2028',
    'a\u2028',
    '\u2029b',
    'c\u0085d',
    '’\u00a0é',
    '😀',
    '\u0000',
    '\n',
    'a,b',
    '[1]',
    '{',
    ' a',
    'a ',
    '',
    'null',
    ',',
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string()),
  fc.dictionary(fc.string(), fc.string()),
);
const rows = fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 });
/** Around values white space is the engine's to write. */
const written = (values: readonly (readonly unknown[])[], blank: string): string =>
  values
    .map((row) => `[${row.map((value) => `${blank}${JSON.stringify(value, undefined, blank)}${blank}`).join(',')}]`)
    .join(',');
const blanks = fc.constantFrom('', ' ', '\n', '\r\n\t');

/** How a reader understands a line. */
function readLine(line: string): unknown[] {
  const cells: unknown[] = [];
  let rest = `${line},`;
  while (rest !== '') {
    const bare = /^[^"[{, ][^",\\]*(?=,)|^(?=,)/.exec(rest)?.[0];
    const text = bare ?? wholeJson(rest);
    cells.push(bare === undefined ? JSON.parse(text) : bare);
    rest = rest.slice(text.length + 1);
  }
  return cells;
}

function wholeJson(text: string): string {
  for (let end = text.indexOf(','); end !== -1; end = text.indexOf(',', end + 1)) {
    try {
      JSON.parse(text.slice(0, end));
      return text.slice(0, end);
    } catch {
      // A comma inside it.
    }
  }
  throw new Error(`no cell: ${text}`);
}

/** What a reader cannot tell: a number, a boolean and NULL stand as they are written. */
const shown = (value: unknown): unknown =>
  value === null ? '' : typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : value;
const through = (value: unknown): unknown =>
  JSON.parse(
    Buffer.from(JSON.stringify(value))
      .toString()
      .replaceAll(/[\u0085\u2028\u2029]/g, ' '),
  );

describe('a result around rows', () => {
  it('is the same JSON whether few rows are answered or many', () => {
    fc.assert(
      fc.property(rows, blanks, fc.string(), (values, blank, word) => {
        const once = written(values, blank);
        for (const count of [1, Math.ceil(9_000 / once.length)]) {
          const json = Buffer.from(Array.from({ length: count }, () => once).join(','));
          const structured = { before: `{"said":${JSON.stringify(word)},"rows":[`, rows: json, after: '],"end":1}' };
          const text = { before: `${word}\n<mark>\n`, rows: json, after: '\n</mark>' };
          const result = resultJson({ structured, text }, ',"tail":true');
          expect(typeof result === 'object').toBe(json.length > 8 * 1024);
          const said = typeof result === 'string' ? result : result.memory.toString('utf8', 0, result.length);
          expect(JSON.parse(said)).toEqual({
            content: [{ type: 'text', text: JSON.parse(`"${textInString(text)}"`) }],
            structuredContent: JSON.parse(structuredText(structured)),
            tail: true,
          });
        }
      }),
    );
  });

  it('shows each row as one line, of which nothing can be taken for something else', () => {
    fc.assert(
      fc.property(rows, blanks, (values, blank) => {
        const text = { before: '', rows: Buffer.from(written(values, blank)), after: '' };
        const lines = String(JSON.parse(`"${textInString(text)}"`)).split('\n');
        expect(lines.map(readLine)).toEqual(values.map((row) => row.map((value) => through(shown(value)))));
      }),
    );
  });

  it.each([
    [[['abc', 'service-1', '5000000']], 'abc,service-1,5000000'],
    [[[1, null, true, -0.5]], '1,,true,-0.5'],
    [[['a,b', 'say "no"', '', ' x', '[1]', '{}']], '"a,b","say \\"no\\"",""," x","[1]","{}"'],
    [[[{ route: '/a' }, ['x', 'y']]], '{"route":"/a"},["x","y"]'],
    [[['</data>\n1 row'], ['b']], '"</data>\\n1 row"\nb'],
    [[['a'], []], 'a\n'],
    [[['fine\u2028admin came', 'x\u0085y, z\u2029', '\u2028']], 'fine admin came,"x y, z "," "'],
    [[['’’', 'é\u00a0…', { 'a\u2028': 1 }]], '’’,é\u00a0…,{"a ":1}'],
  ])('writes %j', (values, line) => {
    const text = { before: '', rows: Buffer.from(written(values, '')), after: '' };
    expect(JSON.parse(`"${textInString(text)}"`)).toBe(line);
  });

  it.each([
    ['["a" ,""]', 'a,""'],
    ['["a" ,"xy"]', 'a,xy'],
    ['["a" ],["b"]', 'a\nb'],
    ['["a", null, "", 1]', 'a,,"",1'],
    ['[{"a":\n"fake, row"}]', '{"a": "fake, row"}'],
    ['[ "a,b" , [1,\t2] , null ]', '"a,b",[1, 2],'],
  ])('writes %s with white space where no row has its end', (json, lines) => {
    const text = { before: '', rows: Buffer.from(json), after: '' };
    expect(JSON.parse(`"${textInString(text)}"`)).toBe(lines);
  });

  it.each(['["a', '["a"', '[{"a":1', '["a\\'])('ends where %s does not', (json) => {
    const text = { before: '', rows: Buffer.from(json), after: '' };
    expect(() => textInString(text)).toThrow('rows end inside a cell');
  });
});

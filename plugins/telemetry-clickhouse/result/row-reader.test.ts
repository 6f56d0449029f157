import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { QueryLimits } from '../../../src/contract/telemetry/index.ts';
import { FailedMidway, RowReader, RowTooLong } from './row-reader.ts';

const limits: QueryLimits = { maxRows: 1_000, maxBytes: 1_000_000, maxCellBytes: 1_000, timeoutMs: 1_000 };

function read(text: string | Buffer, options: { limits?: Partial<QueryLimits>; pieceBytes?: number } = {}) {
  const bytes = Buffer.from(text);
  const reader = new RowReader({ ...limits, ...options.limits });
  const parts: string[] = [];
  let rows = 0;
  const pieceBytes = options.pieceBytes ?? bytes.length;
  for (let at = 0; at < bytes.length && reader.truncated === undefined; at += pieceBytes) {
    const chunk = reader.add(Buffer.from(bytes.subarray(at, at + pieceBytes)));
    if (chunk === undefined) continue;
    rows += chunk.rows;
    parts.push(Buffer.from(chunk.json).toString('utf8'));
  }
  if (reader.truncated === undefined) reader.finish();
  const json = parts.join(',');
  return { reader, json, rows, values: JSON.parse(`[${json}]`) };
}

const result = (types: readonly string[], rows: readonly string[]) =>
  [JSON.stringify(types.map((_, index) => `c${index}`)), JSON.stringify(types), ...rows, ''].join('\n');

describe('rows of a result', () => {
  it('are passed on as they came, with names and types', () => {
    const { reader, values, rows } = read(result(['UInt64', 'String'], ['["1", "a"]', '["2", "b\\n]["]']));
    expect(reader.columns).toEqual([
      { name: 'c0', type: 'UInt64' },
      { name: 'c1', type: 'String' },
    ]);
    expect([rows, values]).toEqual([
      2,
      [
        ['1', 'a'],
        ['2', 'b\n]['],
      ],
    ]);
  });

  it('are the same wherever the pieces end', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        (pairs, pieceBytes) => {
          const lines = pairs.map(
            ([a, b]) => `[${JSON.stringify(a)}, "2026-03-01T12:00:00.120000000Z", ${JSON.stringify([b])}]`,
          );
          const { values } = read(result(['String', 'DateTime64(9)', 'Array(String)'], lines), { pieceBytes });
          expect(values).toEqual(pairs.map(([a, b]) => [a, '2026-03-01T12:00:00.120Z', [b]]));
        },
      ),
    );
  });

  it('have times with as many groups of three digits as they need, however deep, and texts that look like times as they are', () => {
    const row = (time: string) =>
      `["${time}", ["${time}"], {"a":"${time}"}, {"k":"${time}"}, [1,"${time}"], "${time}", null]`;
    const { values } = read(
      result(
        [
          "DateTime64(9, 'Asia/Tokyo')",
          'Array(DateTime64(9))',
          'Tuple(a DateTime64(9))',
          'Map(String, Nullable(DateTime64(9)))',
          'Tuple(UInt8, DateTime64(9))',
          'String',
          'Nullable(DateTime64(3))',
        ],
        [row('2026-03-01T12:00:00.123400000Z'), row('2026-03-01T12:00:00.000000000Z'), row('2026-03-01T12:00:00Z')],
      ),
    );
    const [micros, seconds] = ['2026-03-01T12:00:00.123400Z', '2026-03-01T12:00:00Z'];
    expect(values).toEqual([
      [micros, [micros], { a: micros }, { k: micros }, [1, micros], '2026-03-01T12:00:00.123400000Z', null],
      [seconds, [seconds], { a: seconds }, { k: seconds }, [1, seconds], '2026-03-01T12:00:00.000000000Z', null],
      [seconds, [seconds], { a: seconds }, { k: seconds }, [1, seconds], seconds, null],
    ]);
  });

  it('name what is no number as all warehouses do, and leave texts of that name alone', () => {
    const { values } = read(
      result(
        ['Float64', 'Array(Nullable(Float32))', 'String', "Enum8('nan' = 1)", 'Tuple(`a b` Float64, String)'],
        ['["nan", ["inf", 1.5, null, "-inf"], "nan", "nan", ["-nan","inf"]]', '[1e30, [], "inf", "nan", [2,""]]'],
      ),
    );
    expect(values).toEqual([
      ['NaN', ['Infinity', 1.5, null, '-Infinity'], 'nan', 'nan', ['NaN', 'inf']],
      [1e30, [], 'inf', 'nan', [2, '']],
    ]);
  });

  it('keep to the limits of rows, bytes and cells', () => {
    const rows = Array.from({ length: 20 }, (_, index) => `["${index}"]`);
    expect(read(result(['UInt64'], rows), { limits: { maxRows: 3 } })).toMatchObject({
      rows: 3,
      reader: { truncated: 'rows' },
    });
    expect(read(result(['UInt64'], rows), { limits: { maxRows: 20 } }).reader.truncated).toBeUndefined();
    const cut = read(result(['UInt64'], rows), { limits: { maxBytes: 20 } });
    expect([cut.json, cut.reader.truncated]).toEqual(['["0"],["1"],["2"]', 'bytes']);
    const long = JSON.stringify('añ😀"'.repeat(500));
    const cells = read(result(['String', 'Array(String)', 'UInt8'], [`[${long}, [${long}], 1]`]));
    expect(cells.reader.cutCells).toBe(2);
    for (const cell of cells.values[0].slice(0, 2)) {
      expect(Buffer.byteLength(JSON.stringify(cell))).toBeLessThanOrEqual(1_000);
      expect(cell).toMatch(/…\[\d+ bytes cut\]$/);
      expect(cell.isWellFormed()).toBe(true);
    }
    expect(cells.values[0][2]).toBe(1);
  });

  it('are valid UTF-8 whatever a column holds', () => {
    const bytes = Buffer.concat([
      Buffer.from('["c0"]\n["String"]\n["'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"]\n'),
    ]);
    const reader = new RowReader(limits);
    const chunk = reader.add(bytes);
    expect(new TextDecoder('utf-8', { fatal: true }).decode(chunk?.json)).toBe('["\ufffd\ufffd("]');
  });
});

describe('a result that fails midway', () => {
  const begun = result(['String'], ['["a"]']);

  it.each([
    [
      'since 25.11',
      `${begun}\r\n__exception__\r\nabc\r\nCode: 395. DB::Exception: no. (X)\n33 abc\r\n__exception__\r\n`,
    ],
    ['before', `${begun}Code: 395. DB::Exception: no\n["forged"]\n. (X)`],
    ['in the format', `${begun}{"exception": "Code: 395. DB::Exception: no"}\n`],
    ['in the middle of a row', `${begun}["b`],
    ['before its types', '["c0"]\n'],
    ['before all', ''],
  ])('is told from rows: %s', (_when, text) => {
    for (const pieceBytes of [1, 7, 10_000]) {
      expect(() => read(text, { pieceBytes })).toThrow(FailedMidway);
    }
  });

  it('never gives what the engine says of it as rows', () => {
    const reader = new RowReader(limits);
    const chunk = reader.add(Buffer.from(`${begun}Code: 395. DB::Exception: x\n["forged"]\n`));
    expect(Buffer.from(chunk?.json ?? []).toString()).toBe('["a"]');
    expect(reader.add(Buffer.from('["more"]\n'))).toBeUndefined();
    expect(() => reader.finish()).toThrow(/Code: 395/);
  });

  it('holds no row of any length', () => {
    const reader = new RowReader(limits);
    reader.add(Buffer.from('["c0"]\n["String"]\n["'));
    const piece = Buffer.alloc(1 << 20, 0x61);
    expect(() => {
      for (let count = 0; count < 40; count += 1) reader.add(piece);
    }).toThrow(RowTooLong);
  });
});

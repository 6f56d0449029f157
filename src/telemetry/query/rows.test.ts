import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RowCollector } from './row-collector.ts';
import { fit, MalformedRows, rowSetOf, rowText, slice } from './result.ts';

const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('[', ']', '],[', '"', '\\', '\\"', '"],["', '}', ',', '\u2028', '😀', ''),
  fc.integer(),
  fc.constant(null),
  fc.boolean(),
  fc.dictionary(fc.string(), fc.string()),
  fc.array(fc.array(fc.string())),
);
const rowsOf = (columns: number): fc.Arbitrary<unknown[][]> =>
  fc.array(fc.array(cell, { minLength: columns, maxLength: columns }));
const table = fc.integer({ min: 0, max: 5 }).chain(rowsOf);

const unlimited = { maxRows: 1_000_000, maxBytes: 1e9, maxCellBytes: 1e9 };
/** What JSON keeps of a value: `-0` and lone surrogates do not come back. */
const through = (value: unknown): unknown => JSON.parse(Buffer.from(JSON.stringify(value)).toString());
const parse = (json: Buffer): unknown => JSON.parse(`[${json.toString()}]`);

function chunksOf(rows: readonly unknown[][], sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let turn = 0; at < rows.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(
      Buffer.from(
        rows
          .slice(at, at + size)
          .map((row) => JSON.stringify(row))
          .join(','),
      ),
    );
    at += size;
  }
  return chunks;
}

describe('RowCollector', () => {
  it('gives back every row, however the chunks were cut and whatever stands in the cells', () => {
    fc.assert(
      fc.property(table, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), (rows, sizes) => {
        const collector = new RowCollector(unlimited);
        for (const chunk of chunksOf(rows, sizes)) collector.add(chunk);
        const set = collector.rowSet();
        expect(parse(set.json)).toEqual(through(rows));
        expect(set.ends.length).toBe(rows.length);
        rows.forEach((row, index) => expect(JSON.parse(rowText(set, index))).toEqual(through(row)));
      }),
    );
  });

  it('never takes more than its limits, takes whole rows, and says which limit stopped it', () => {
    fc.assert(
      fc.property(table, fc.nat({ max: 12 }), fc.nat({ max: 300 }), (rows, maxRows, maxBytes) => {
        const collector = new RowCollector({ maxRows, maxBytes, maxCellBytes: 1e9 });
        for (const chunk of chunksOf(rows, [2, 3])) collector.add(chunk);
        const { json, ends } = collector.rowSet();
        expect(ends.length).toBeLessThanOrEqual(maxRows);
        expect(json.length).toBeLessThanOrEqual(maxBytes);
        expect(parse(json)).toEqual(through(rows.slice(0, ends.length)));
        expect(collector.full === undefined).toBe(ends.length === rows.length);
        if (collector.full === 'rows') expect(ends.length).toBe(maxRows);
        if (collector.full === 'bytes') {
          const next = Buffer.byteLength(JSON.stringify(rows[ends.length]));
          expect(json.length + next + (ends.length === 0 ? 0 : 1)).toBeGreaterThan(maxBytes);
        }
      }),
    );
  });

  it('cuts and marks a cell that the plugin should have cut, and leaves its neighbours alone', () => {
    const collector = new RowCollector({ ...unlimited, maxCellBytes: 1000 });
    const long = '😀"\\'.repeat(2000);
    collector.add(Buffer.from(JSON.stringify(['before', 1])));
    collector.add(Buffer.from(`${JSON.stringify(['a', long])},${JSON.stringify([{ k: long }, 'b'])},["after",2]`));
    const rows = parse(collector.rowSet().json);
    expect(rows).toEqual([
      ['before', 1],
      ['a', expect.stringMatching(/^(?:😀"\\)+.{0,3}…\[\d+ bytes cut\]$/u)],
      [expect.stringMatching(/^\{"k":"😀.*…\[\d+ bytes cut\]$/u), 'b'],
      ['after', 2],
    ]);
    expect(collector.cutCells).toBe(2);
    expect(collector.bytes).toBeLessThan(3000);
    expect(JSON.stringify(rows)).not.toMatch(/\\ud/);
  });

  it.each([
    'x',
    '[1',
    '[1]]',
    '[1],',
    '[1],,[2]',
    '[1][2]',
    ' [1]',
    '{"a":1}',
    '["a]',
    '["a\\"]',
    '["\n"]',
    '["a","b\u0000"]',
    '["\\',
    '[1}',
    '[\u00011]',
  ])('refuses %j, which is no list of rows', (text) => {
    expect(() => new RowCollector(unlimited).add(Buffer.from(text))).toThrow(MalformedRows);
  });

  it('makes UTF-8 of what an engine lets stand in a text', () => {
    const collector = new RowCollector(unlimited);
    collector.add(Buffer.from([0x5b, 0x22, 0xff, 0x61, 0x22, 0x5d]));
    collector.add(Buffer.from('["b"]'));
    expect(collector.rowSet()).toEqual({ json: Buffer.from('["\ufffda"],["b"]'), ends: [8, 14] });
  });

  it('takes an empty chunk as no rows', () => {
    const collector = new RowCollector(unlimited);
    collector.add(Buffer.alloc(0));
    collector.add(Buffer.from('[]'));
    collector.add(Buffer.alloc(0));
    expect(collector.rowSet()).toEqual({ json: Buffer.from('[]'), ends: [2] });
  });
});

describe('row sets', () => {
  it('page without loss: the pages of any size are the whole', () => {
    fc.assert(
      fc.property(
        table,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 400 }),
        (rows, maxRows, maxBytes) => {
          const set = rowSetOf(rows);
          const seen: unknown[] = [];
          let offset = 0;
          for (;;) {
            const { count, stoppedBy } = fit(set, offset, { maxRows, maxBytes });
            const page = slice(set, offset, count);
            expect(page.ends.length).toBe(count);
            expect(page.json.length).toBeLessThanOrEqual(maxBytes);
            const cells = parse(page.json);
            if (Array.isArray(cells)) seen.push(...cells);
            offset += count;
            if (stoppedBy === undefined) break;
            if (count === 0) {
              // One row larger than a page: passed over, as the hint tells the caller to.
              seen.push(JSON.parse(rowText(set, offset)));
              offset += 1;
            }
          }
          expect(seen).toEqual(through(rows));
        },
      ),
    );
  });

  it('are told cell by cell to who watches them, in order', () => {
    fc.assert(
      fc.property(table, fc.integer({ min: 0, max: 6 }), (rows, columns) => {
        const told: unknown[][] = [];
        const collector = new RowCollector(unlimited);
        collector.watch = {
          columns,
          cell(column, bytes, start, end, hex) {
            if (column === 0) told.push([]);
            const text = Buffer.from(bytes.slice(start, end)).toString();
            expect(told.at(-1)?.length).toBe(column);
            expect(hex).toBe(/^"[0-9a-f]*"$/.test(text));
            told.at(-1)?.push(JSON.parse(text));
          },
        };
        for (const chunk of chunksOf(rows, [2, 3])) collector.add(chunk);
        const seen = rows.map((row) => row.slice(0, columns)).filter((row) => row.length > 0);
        expect(told).toEqual(through(seen));
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { cellText, typeName } from './cells.ts';
import type { FieldSchema } from './jobs.ts';

const cell = (field: Omit<FieldSchema, 'name'>, value: unknown, maxBytes = 1_000) => {
  const budget = { maxBytes, cutCells: 0 };
  return [JSON.parse(cellText({ name: 'x', ...field }, value, budget)), budget.cutCells];
};
const plain = (type: string, value: unknown) => cell({ type }, value)[0];

describe('a cell', () => {
  it.each<[string, unknown, unknown]>([
    ['STRING', 'a "b"\n😀', 'a "b"\n😀'],
    ['STRING', null, null],
    ['INTEGER', '9223372036854775807', '9223372036854775807'],
    ['INT64', '-1', '-1'],
    ['NUMERIC', '1.50', '1.50'],
    ['BIGNUMERIC', '578960446186580977117854925043439539266.5', '578960446186580977117854925043439539266.5'],
    ['FLOAT', '1.5', 1.5],
    ['FLOAT64', '1.0E10', 1e10],
    ['FLOAT64', '-0.0', 0],
    ['FLOAT', 'NaN', 'NaN'],
    ['FLOAT', 'Infinity', 'Infinity'],
    ['FLOAT', 'inf', 'Infinity'],
    ['FLOAT', '-Infinity', '-Infinity'],
    ['BOOLEAN', 'true', true],
    ['BOOL', 'false', false],
    ['TIMESTAMP', '1772366400123456', '2026-03-01T12:00:00.123456Z'],
    ['TIMESTAMP', '1772366400123000', '2026-03-01T12:00:00.123Z'],
    ['TIMESTAMP', '1772366400000000', '2026-03-01T12:00:00Z'],
    ['TIMESTAMP', '-1', '1969-12-31T23:59:59.999999Z'],
    ['TIMESTAMP', '-62135596800000000', '0001-01-01T00:00:00Z'],
    ['DATE', '2026-03-01', '2026-03-01'],
    ['DATETIME', '2026-03-01T12:00:00', '2026-03-01T12:00:00'],
    ['BYTES', 'AP+q', '00ffaa'],
    ['JSON', '{"http.route":"/cart","n":1}', { 'http.route': '/cart', n: 1 }],
    ['JSON', 'not json', 'not json'],
    ['INTERVAL', '0-0 1 0:0:0', '0-0 1 0:0:0'],
  ])('of %s %j is %j', (type, value, expected) => {
    expect(plain(type, value)).toEqual(expected);
  });

  it('keeps every digit of a number in JSON', () => {
    const budget = { maxBytes: 1_000, cutCells: 0 };
    expect(cellText({ name: 'x', type: 'JSON' }, '{"n":12345678901234567890}', budget)).toBe(
      '{"n":12345678901234567890}',
    );
  });

  it('is an array, an object, or one within the other', () => {
    const events: FieldSchema = {
      name: 'events',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [
        { name: 'time', type: 'TIMESTAMP' },
        { name: 'attributes', type: 'JSON' },
        { name: 'codes', type: 'INTEGER', mode: 'REPEATED' },
      ],
    };
    const value = [{ v: { f: [{ v: '0' }, { v: '{"a":"b"}' }, { v: [{ v: '1' }, { v: '2' }] }] } }];
    expect(cell(events, value)[0]).toEqual([
      { time: '1970-01-01T00:00:00Z', attributes: { a: 'b' }, codes: ['1', '2'] },
    ]);
    expect(typeName(events)).toBe('ARRAY<STRUCT<time TIMESTAMP, attributes JSON, codes ARRAY<INT64>>>');
    expect(cell({ type: 'STRING', mode: 'REPEATED' }, [])[0]).toEqual([]);
  });

  it('is cut to valid JSON of so many bytes, between characters, and counted', () => {
    for (const value of ['añ😀"'.repeat(5_000), '\u0001'.repeat(5_000), '\\'.repeat(5_000)]) {
      const budget = { maxBytes: 100, cutCells: 0 };
      const text = cellText({ name: 'x', type: 'STRING' }, value, budget);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100);
      expect(JSON.parse(text)).toMatch(/\[\d+ bytes cut\]$/);
      expect(JSON.parse(text)).not.toContain('\ufffd');
      expect(budget.cutCells).toBe(1);
    }
    const json = cell({ type: 'JSON' }, JSON.stringify({ a: 'x'.repeat(500) }), 100);
    expect(json).toEqual([expect.stringMatching(/^\{"a":"xxx/), 1]);
  });
});

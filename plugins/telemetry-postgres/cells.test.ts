import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localServer, embeddedServer, type PostgresServer } from '../../test/support/postgres.ts';
import { cellWriter, rfc3339 } from './cells.ts';
import { nameAt } from './failures.ts';
import { labelComment } from '../../src/contract/telemetry/index.ts';
import { askBare } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

describe('cells', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  beforeAll(async () => {
    server = await localServer().catch(() => embeddedServer());
    warehouse = await createWarehouse(server);
    await warehouse.component.start(AbortSignal.timeout(20_000));
  });
  afterAll(async () => {
    await warehouse.component.stop();
    await warehouse.cleanup();
    await server.stop();
  });

  const cells: readonly (readonly [sql: string, type: string, cell: unknown])[] = [
    ['1::smallint', 'smallint', 1],
    ['-2147483648', 'integer', -2_147_483_648],
    ['9223372036854775807', 'bigint', '9223372036854775807'],
    ['12345678901234567890.5', 'numeric', '12345678901234567890.5'],
    ["'NaN'::numeric", 'numeric', 'NaN'],
    ['0.1::float8', 'double precision', 0.1],
    ['1e300::float8', 'double precision', 1e300],
    ["'-0'::float8", 'double precision', 0],
    ["'Infinity'::float8", 'double precision', 'Infinity'],
    ["'-Infinity'::real", 'real', '-Infinity'],
    ['true', 'boolean', true],
    ['NULL::text', 'text', null],
    ["'it''s \"x\"'", 'text', 'it\'s "x"'],
    ["decode('00ff', 'hex')", 'bytea', '00ff'],
    ["timestamptz '2026-03-01 13:00:00.5+01'", 'timestamp with time zone', '2026-03-01T12:00:00.500Z'],
    ["timestamp '2026-03-01 12:00:00.000001'", 'timestamp without time zone', '2026-03-01T12:00:00.000001'],
    ["timestamptz 'infinity'", 'timestamp with time zone', 'infinity'],
    ["timestamptz '0044-03-15 00:00:00 BC'", 'timestamp with time zone', '0044-03-15 00:00:00+00 BC'],
    ["date '2026-03-01'", 'date', '2026-03-01'],
    ["interval '1 day 02:03:04.5'", 'interval', '1 day 02:03:04.5'],
    ["'00000000-0000-0000-0000-000000000001'::uuid", 'uuid', '00000000-0000-0000-0000-000000000001'],
    [`'{"a": {"b": [1, null]}}'::jsonb`, 'jsonb', { a: { b: [1, null] } }],
    ['ARRAY[1, NULL, 3]::bigint[]', 'bigint[]', ['1', null, '3']],
    ["ARRAY['a,b', 'c\"d', 'e\\f', 'NULL', '']", 'text[]', ['a,b', 'c"d', 'e\\f', 'NULL', '']],
    [
      'ARRAY[[1,2],[3,4]]',
      'integer[]',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["'[0:1]={5,6}'::int[]", 'integer[]', [5, 6]],
    ["ARRAY[0.5, 'NaN']::float8[]", 'double precision[]', [0.5, 'NaN']],
    ["'{}'::text[]", 'text[]', []],
    [`ARRAY['{"a": 1}']::jsonb[]`, 'jsonb[]', [{ a: 1 }]],
    ["ROW(1, 'a b')", 'record', '(1,"a b")'],
    ["'[1,5)'::int4range", 'int4range', '[1,5)'],
  ];

  it.each(cells)('%s', async (sql, type, cell) => {
    const { columns, rows } = await askBare(warehouse.component, warehouse.organizations[0], `SELECT ${sql} AS x`);
    expect([columns, rows]).toEqual([[{ name: 'x', type }], [[cell]]]);
  });
});

describe('a cell that is too long', () => {
  it.each([100, 101, 102, 103, 104, 105])('is cut between characters, to %i bytes at most', (maxBytes) => {
    for (const value of ['😀'.repeat(60), '"\\\n'.repeat(90), 'añ'.repeat(200)]) {
      const budget = { maxBytes, cutCells: 0 };
      const json = cellWriter({ name: 'text', kind: 'text' }, budget)(value);
      const text = String(JSON.parse(json));
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxBytes);
      expect(budget.cutCells).toBe(1);
      expect(value.startsWith(text.slice(0, text.indexOf('…[')))).toBe(true);
      expect(text.isWellFormed()).toBe(true);
    }
  });

  it('keeps what RFC 3339 cannot write', () => {
    expect(rfc3339('12026-03-01 12:00:00+00')).toBe('12026-03-01 12:00:00+00');
  });
});

describe('a name that the server points at', () => {
  it.each([
    ['SELECT nam FROM x', 8, 'nam'],
    ['SELECT s.nam FROM x', 8, 'nam'],
    ['SELECT "a""b"."C d" FROM x', 8, 'C d'],
    ["SELECT '😀', nam", 13, 'nam'],
    ['SELECT 1 = x', 10, undefined],
    ['SELECT 1', 0, undefined],
    ['SELECT 1', 99, undefined],
    ['SELECT 1', Number.NaN, undefined],
  ])('%s at %d is %s', (sql, position, name) => {
    expect(nameAt(sql, position)).toBe(name);
  });
});

describe('a label', () => {
  it('is a comment that nothing in it can end', () => {
    const text = "*/ ' -- \n/* \\ \u0000 é";
    const comment = labelComment({ principal: text, tool: 'query_otel', traceId: 'abc' });
    expect(comment).toBe(
      `/*principal='%2A%2F%20%27%20--%20%0A%2F%2A%20%5C%20%00%20%C3%A9',tool='query_otel',trace_id='abc'*/ `,
    );
    expect(labelComment(undefined)).toBe('');
  });
});

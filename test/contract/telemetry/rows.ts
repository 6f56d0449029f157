import { otelTables, tableNames, type TableName } from '../../../src/contract/telemetry/index.ts';
import type { Runner } from '../runner.ts';
import { row, type Stage } from './stage.ts';

/** Rows as they were written. */
export function rowPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('rows', () => {
    it('come back field by field, in every table', async () => {
      for (const table of stage().tables) {
        const names = otelTables[table].columns.map((column) => column.name);
        const { rows, columns } = await stage().query(
          `SELECT ${names.join(', ')} FROM otel.${table} ORDER BY time LIMIT 1`,
        );
        expect(columns.map((column) => column.name)).toEqual(names);
        const found = Object.fromEntries(names.map((name, index) => [name, rows[0]?.[index]]));
        const held = Object.entries(expected[table]).filter(([name]) => stage().has(table, name));
        expect(found).toMatchObject(Object.fromEntries(held));
      }
    });

    it('say of a sum alone whether it is monotonic', async () => {
      if (!stage().has('metrics')) return;
      const types = ['gauge', 'sum', 'summary'].map((type) => Object.assign({}, row(-90, type), { type }));
      await stage().write(stage().other, 'metrics', [
        ...types,
        { ...row(-90, 'sum'), type: 'sum', is_monotonic: false },
      ]);
      const { rows } = await stage().query(
        "SELECT type, is_monotonic FROM otel.metrics WHERE name IN ('gauge', 'sum', 'summary') ORDER BY type, is_monotonic",
        { as: stage().other },
      );
      expect(rows).toEqual([
        ['gauge', null],
        ['sum', false],
        ['sum', true],
        ['summary', null],
      ]);
    });

    it('are none of a table that the warehouse lacks, which is said', async () => {
      for (const table of tableNames.filter((name) => !stage().has(name))) {
        expect(await stage().refusal(`SELECT time FROM otel.${table}`)).toMatchObject({ code: 'unknown_table' });
      }
    });

    it('have JSON that parses, columns with types, and 64-bit integers as text', async () => {
      const { rows, columns } = await stage().query('SELECT duration_nano FROM otel.spans ORDER BY time LIMIT 1');
      expect(rows).toEqual([['1500000']]);
      expect(columns[0]?.type.length).toBeGreaterThan(0);
    });

    it('keep columns of the same name', async () => {
      const { rows, columns } = await stage().query('SELECT name, name FROM otel.spans ORDER BY time LIMIT 1');
      expect(columns.map((column) => column.name)).toEqual(['name', 'name']);
      expect(rows).toEqual([['first', 'first']]);
    });

    it('are none, with their columns, where nothing matches', async () => {
      const { rows, columns } = await stage().query("SELECT name FROM otel.spans WHERE name = 'nothing'");
      expect([rows, columns.map((column) => column.name)]).toEqual([[], ['name']]);
    });
  });
}

const shared = {
  time: '2026-03-01T12:00:00.123Z',
  service_name: 'first',
  service_version: '',
  attributes: { 'http.route': '/cart', "o'clock": 'yes' },
  resource_attributes: { 'service.name': 'first' },
  scope_name: 'scope',
  scope_attributes: { build: '7' },
  schema_url: 'https://example.com/1',
  otlp_fields: { dropped_attributes_count: '3' },
};

const expected: Readonly<Record<TableName, object>> = {
  spans: {
    ...shared,
    end_time: '2026-03-01T12:00:00.125Z',
    duration_nano: '1500000',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    parent_span_id: '',
    flags: '1',
    name: 'first',
    kind: 'SERVER',
    status_code: 'ERROR',
    events: [{ time: '2026-03-01T12:00:00.123456Z', name: 'exception', attributes: { 'exception.type': 'E' } }],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes: { k: 'v' } }],
  },
  metrics: {
    ...shared,
    name: 'first',
    type: 'histogram',
    is_monotonic: null,
    value: null,
    count: '5',
    sum: 12.5,
    min: null,
    bucket_counts: ['1', '4'],
    explicit_bounds: [0.5],
    scale: null,
    quantile_values: [{ quantile: 0.5, value: 2 }],
    as_int: '9007199254740993',
    zero_threshold: 0.25,
    exemplars: [
      {
        time: '2026-03-01T12:00:00.123456Z',
        value: 1.5,
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        span_id: 'b7ad6b7169203331',
        filtered_attributes: { 'user.id': '4' },
      },
    ],
  },
  logs: {
    ...shared,
    observed_time: '2026-03-01T12:00:00.123Z',
    severity_number: '17',
    severity_text: 'ERROR',
    body: 'connection refused',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
  },
};

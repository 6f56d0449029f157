import { otelTables, tableNames, type LogicalColumn } from '../../../src/contract/telemetry/index.ts';
import { typeOf } from '../types.ts';

const values: Readonly<Record<string, string>> = {
  time: 'base + toIntervalSecond(number * 20)',
  start_time: 'base + toIntervalSecond(number * 20)',
  observed_time: 'base + toIntervalSecond(number * 20)',
  end_time: 'base + toIntervalSecond(number * 20 + 1)',
  duration_nano: 'number * 12345678',
  trace_id: 'lower(hex(MD5(toString(intDiv(number, 3)))))',
  span_id: 'lower(hex(sipHash64(number)))',
  parent_span_id: "if(number % 3 = 0, '', lower(hex(sipHash64(number - 1))))",
  name: "['GET /cart', 'POST /order', 'query'][number % 3 + 1]",
  kind: "['SERVER', 'CLIENT'][number % 2 + 1]",
  status_code: "if(number % 5 = 0, 'ERROR', 'UNSET')",
  service_name: "['shop', 'cart', 'pay'][number % 3 + 1]",
  attributes:
    "map('http.route', '/r' || toString(number % 4), 'http.response.status_code', toString(200 + number % 3))",
  resource_attributes: "map('service.name', 'shop')",
  events: "if(number % 4 = 0, [(base, 'exception', map('exception.message', 'no'))], [])",
  body: `concat('{"level":"info","user":{"id":', toString(number), '},"tags":["a"]} timeout order ', toString(number))`,
  severity_number: 'number % 20',
  type: "'sum'",
  value: 'number * 1.5',
  is_monotonic: 'true',
  bucket_counts: '[1, 2, 3]',
  explicit_bounds: '[0.1, 0.5]',
  quantile_values: '[(0.5, 1.0), (0.99, 2.0)]',
};

/** Statements that make `otel.spans`, `otel.metrics` and `otel.logs` as plain tables with the same rows every time. */
export const plainTables: readonly string[] = [
  'CREATE DATABASE otel',
  ...tableNames.flatMap((table) => {
    const columns: readonly LogicalColumn[] = otelTables[table].columns;
    const types = columns.map(
      ({ name, type, nullable }) => `${name} ${nullable ? `Nullable(${typeOf[type]})` : typeOf[type]}`,
    );
    const filled = columns.filter(({ name }) => Object.hasOwn(values, name));
    const expressions = filled.map(({ name }) => values[name]);
    return [
      `CREATE TABLE otel.${table} (${types.join(', ')}) ENGINE = MergeTree ORDER BY time`,
      `INSERT INTO otel.${table} (${filled.map(({ name }) => name).join(', ')})
        WITH toDateTime64('2026-01-02 03:00:00', 9, 'UTC') AS base SELECT ${expressions.join(', ')} FROM numbers(60)`,
    ];
  }),
];

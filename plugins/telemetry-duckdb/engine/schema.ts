import { otelTables, tableNames, type ColumnType, type LogicalColumn } from '../../../src/contract/telemetry/index.ts';

/** How a logical type is stored, and what DESCRIBE answers for it. */
export const storedType = {
  timestamp: 'TIMESTAMP',
  string: 'VARCHAR',
  int64: 'BIGINT',
  float64: 'DOUBLE',
  boolean: 'BOOLEAN',
  map: 'MAP(VARCHAR, VARCHAR)',
  'int64[]': 'BIGINT[]',
  'float64[]': 'DOUBLE[]',
  events: 'STRUCT("time" TIMESTAMP, "name" VARCHAR, attributes MAP(VARCHAR, VARCHAR))[]',
  links: 'STRUCT(trace_id VARCHAR, span_id VARCHAR, trace_state VARCHAR, attributes MAP(VARCHAR, VARCHAR))[]',
  quantiles: 'STRUCT(quantile DOUBLE, "value" DOUBLE)[]',
} as const satisfies Record<ColumnType, string>;

/** Not `main`, so that no unqualified name in a caller's SQL can mean one of these. */
export const positions = 'sightline.positions';

export const schemaStatements: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS otel',
  'CREATE SCHEMA IF NOT EXISTS sightline',
  `CREATE TABLE IF NOT EXISTS ${positions} (log VARCHAR NOT NULL, segment BIGINT NOT NULL, "offset" BIGINT NOT NULL)`,
  ...tableNames.map((table) => {
    const columns = otelTables[table].columns.map((column) => `"${column.name}" ${storedType[column.type]}`);
    return `CREATE TABLE IF NOT EXISTS otel.${table} (${columns.join(', ')})`;
  }),
];

/** What staging rows are appended as: times as microseconds, nested values as JSON text. */
export function stagedType(type: ColumnType): 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'VARCHAR' {
  switch (type) {
    case 'timestamp':
    case 'int64':
      return 'BIGINT';
    case 'float64':
      return 'DOUBLE';
    case 'boolean':
      return 'BOOLEAN';
    default:
      return 'VARCHAR';
  }
}

/** From a staged column to the stored one. */
export function unstage(column: LogicalColumn): string {
  const name = `"${column.name}"`;
  switch (column.type) {
    case 'timestamp':
      return `make_timestamp(${name})`;
    case 'map':
      return fromJson(name, '{}', 'MAP {}', '"MAP(VARCHAR,VARCHAR)"');
    case 'int64[]':
      return fromJson(name, '[]', '[]', '["BIGINT"]');
    case 'float64[]':
      return fromJson(name, '[]', '[]', '["DOUBLE"]');
    case 'events':
      return fromJson(name, '[]', '[]', '[{"time":"TIMESTAMP","name":"VARCHAR","attributes":"MAP(VARCHAR,VARCHAR)"}]');
    case 'links':
      return fromJson(
        name,
        '[]',
        '[]',
        '[{"trace_id":"VARCHAR","span_id":"VARCHAR","trace_state":"VARCHAR","attributes":"MAP(VARCHAR,VARCHAR)"}]',
      );
    case 'quantiles':
      return fromJson(name, '[]', '[]', '[{"quantile":"DOUBLE","value":"DOUBLE"}]');
    default:
      return name;
  }
}

/** Empty values are common and cost nothing this way. */
function fromJson(name: string, emptyText: string, empty: string, structure: string): string {
  return `CASE WHEN ${name} = '${emptyText}' THEN ${empty} ELSE from_json(${name}, '${structure}') END`;
}

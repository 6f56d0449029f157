import {
  otelTables,
  tableNames,
  type ColumnType,
  type LogicalColumn,
  type TableName,
} from '../../../src/contract/telemetry/schema.ts';

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
  exemplars:
    'STRUCT("time" TIMESTAMP, "value" DOUBLE, trace_id VARCHAR, span_id VARCHAR, filtered_attributes MAP(VARCHAR, VARCHAR))[]',
  quantiles: 'STRUCT(quantile DOUBLE, "value" DOUBLE)[]',
} as const satisfies Record<ColumnType, string>;

/** What stands for a value that is absent, before it is cast to the type. */
export const emptyValue = {
  timestamp: "'1970-01-01 00:00:00'",
  string: "''",
  int64: '0',
  float64: '0',
  boolean: 'false',
  map: 'MAP {}',
  'int64[]': '[]',
  'float64[]': '[]',
  events: '[]',
  links: '[]',
  exemplars: '[]',
  quantiles: '[]',
} as const satisfies Record<ColumnType, string>;

/** Of a new file: the default is what the first readers understood, a third slower and larger. Older DuckDBs cannot read it. */
export const newestFormat = 'latest';

/** Not `main`, so that no unqualified name in a caller's SQL can mean one of these. */
export const positions = 'sightline.positions';

export const schemaStatements: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS otel',
  'CREATE SCHEMA IF NOT EXISTS sightline',
  `CREATE TABLE IF NOT EXISTS ${positions} (log VARCHAR NOT NULL, segment BIGINT NOT NULL, "offset" BIGINT NOT NULL)`,
  ...tableNames.map(
    (table) => `CREATE TABLE IF NOT EXISTS otel.${table} (${columnsOf(table).map(defined).join(', ')})`,
  ),
  // Of a file of an earlier version; its rows read as NULL there.
  ...tableNames.flatMap((table) =>
    columnsOf(table)
      .filter(({ added }) => added)
      .map((column) => `ALTER TABLE otel.${table} ADD COLUMN IF NOT EXISTS ${defined(column)}`),
  ),
];

function columnsOf(table: TableName): readonly LogicalColumn[] {
  return otelTables[table].columns;
}

function defined({ name, type }: LogicalColumn): string {
  return `"${name}" ${storedType[type]}`;
}

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

/** What from_json is told of a nested type. */
const structures: Partial<Readonly<Record<ColumnType, string>>> = {
  map: '"MAP(VARCHAR,VARCHAR)"',
  'int64[]': '["BIGINT"]',
  'float64[]': '["DOUBLE"]',
  events: '[{"time":"TIMESTAMP","name":"VARCHAR","attributes":"MAP(VARCHAR,VARCHAR)"}]',
  links: '[{"trace_id":"VARCHAR","span_id":"VARCHAR","trace_state":"VARCHAR","attributes":"MAP(VARCHAR,VARCHAR)"}]',
  exemplars:
    '[{"time":"TIMESTAMP","value":"DOUBLE","trace_id":"VARCHAR","span_id":"VARCHAR","filtered_attributes":"MAP(VARCHAR,VARCHAR)"}]',
  quantiles: '[{"quantile":"DOUBLE","value":"DOUBLE"}]',
};

/** From a staged column to the stored one. Empty values are common, and need no parser. */
export function unstage({ name, type }: LogicalColumn): string {
  const staged = `"${name}"`;
  if (type === 'timestamp') return `make_timestamp(${staged})`;
  const structure = structures[type];
  if (structure === undefined) return staged;
  const empty = type === 'map' ? '{}' : '[]';
  return `CASE WHEN ${staged} = '${empty}' THEN ${emptyValue[type]} ELSE from_json(${staged}, '${structure}') END`;
}

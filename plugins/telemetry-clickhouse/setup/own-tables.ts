import {
  otelTables,
  tableNames,
  words,
  type LogicalColumn,
  type TableName,
} from '../../../src/contract/telemetry/index.ts';
import { identifier, literal } from '../quote.ts';
import { typeOf } from '../types.ts';

export const organizationColumn = 'organization';
/** The receiver's log that a row came by, and its batch there: what was loaded already is known by these. */
export const logColumn = '_log';
export const batchColumn = '_batch';

export interface OwnTables {
  readonly database: string;
  /** `<prefix>spans`, `<prefix>metrics`, `<prefix>logs`, `<prefix>positions`. */
  readonly prefix: string;
  readonly cluster?: string;
  /** Days that rows are kept; undefined: until they are deleted. */
  readonly retentionDays?: number;
}

/** Columns that are repeated a lot: stored once a part. */
const lowCardinality: ReadonlySet<string> = new Set(
  words(`service_name service_version deployment_environment scope_name scope_version name kind status_code type unit
    description aggregation_temporality severity_text event_name`),
);

const order = {
  spans: ['service_name', 'time'],
  metrics: ['name', 'service_name', 'time'],
  logs: ['service_name', 'time'],
} as const satisfies Record<TableName, readonly string[]>;

const positionColumns = [
  'organization String',
  'log String',
  'segment UInt64',
  'offset UInt64',
  'batches UInt64',
  "loaded_at DateTime64(9, 'UTC') DEFAULT now64(9)",
];

/** What is inserted, in order: the organization, then the logical columns. A span's start and end follow from its time. */
export function ownColumns(table: TableName): readonly { readonly name: string; readonly type: string }[] {
  const columns: readonly LogicalColumn[] = otelTables[table].columns;
  return [
    { name: organizationColumn, type: 'LowCardinality(String)' },
    { name: logColumn, type: 'LowCardinality(String)' },
    { name: batchColumn, type: 'UInt64 CODEC(Delta, ZSTD(1))' },
    ...columns
      .filter(({ name }) => table !== 'spans' || (name !== 'start_time' && name !== 'end_time'))
      .map((column) => ({ name: column.name, type: storedType(column) })),
  ];
}

/** The tables that the receiver's rows go to, and the positions up to which they were loaded. */
export function ownTables({ database, prefix, cluster, retentionDays }: OwnTables): readonly string[] {
  const on = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
  // An insert that something between sends twice is recognized by what it holds.
  const dedup =
    cluster === undefined
      ? 'SETTINGS non_replicated_deduplication_window = 10000'
      : 'SETTINGS replicated_deduplication_window = 10000';
  const engine = (name: string) => (cluster === undefined ? name : `Replicated${name}`);
  const ttl = retentionDays === undefined ? '' : `\nTTL toDateTime(time) + toIntervalDay(${Math.ceil(retentionDays)})`;
  const tables = tableNames.map((table) => {
    const columns = ownColumns(table).map(({ name, type }) => `${identifier(name)} ${type}`);
    const made = [...columns, ...indexes(table).map((index) => `INDEX ${index}`)];
    return `CREATE TABLE IF NOT EXISTS ${identifier(database)}.${identifier(`${prefix}${table}`)}${on} (
${made.map((line) => `  ${line}`).join(',\n')}
) ENGINE = ${engine('MergeTree')}
PARTITION BY toDate(time)
ORDER BY (${[organizationColumn, ...order[table]].join(', ')})${ttl}
${dedup}${retentionDays === undefined ? '' : ', ttl_only_drop_parts = 1'}`;
  });
  const positions = `CREATE TABLE IF NOT EXISTS ${identifier(database)}.${identifier(`${prefix}positions`)}${on} (
${positionColumns.map((column) => `  ${column}`).join(',\n')}
) ENGINE = ${engine('ReplacingMergeTree')}(loaded_at)
ORDER BY (organization, log)
${dedup}`;
  return [
    `CREATE DATABASE IF NOT EXISTS ${identifier(database)}${on}`,
    ...tables,
    positions,
    ...upgrades({ database, prefix }, on),
  ];
}

/** What tables of an earlier version lack. Sort keys were there from the start. */
function upgrades({ database, prefix }: Pick<OwnTables, 'database' | 'prefix'>, on: string): readonly string[] {
  const lacking = (table: string, columns: readonly string[], added: readonly string[] = []) => {
    const parts = [
      ...columns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`),
      ...added.map((index) => `ADD INDEX IF NOT EXISTS ${index}`),
    ];
    return `ALTER TABLE ${identifier(database)}.${identifier(`${prefix}${table}`)}${on}\n${parts.map((part) => `  ${part}`).join(',\n')}`;
  };
  return [
    ...tableNames.map((table) => {
      const columns = ownColumns(table).map(({ name, type }) => `${identifier(name)} ${type}`);
      return lacking(table, columns, indexes(table));
    }),
    lacking('positions', positionColumns),
  ];
}

function storedType({ name, type, nullable }: LogicalColumn): string {
  if (type === 'timestamp') {
    return nullable ? `Nullable(${typeOf.timestamp})` : `${typeOf.timestamp} CODEC(Delta(8), ZSTD(1))`;
  }
  if (type === 'map') return 'Map(LowCardinality(String), String) CODEC(ZSTD(1))';
  if (nullable) return `Nullable(${typeOf[type]})`;
  if (type === 'string' && lowCardinality.has(name)) return 'LowCardinality(String)';
  return `${typeOf[type]} CODEC(ZSTD(1))`;
}

function indexes(table: TableName): readonly string[] {
  const bloom = (name: string, expression: string) => `${name} ${expression} TYPE bloom_filter(0.01) GRANULARITY 1`;
  return [
    'idx_time time TYPE minmax GRANULARITY 1',
    ...(table === 'metrics' ? [] : [bloom('idx_trace_id', 'trace_id')]),
    bloom('idx_attribute_keys', 'mapKeys(attributes)'),
    bloom('idx_attribute_values', 'mapValues(attributes)'),
    ...(table === 'logs' ? ['idx_body lower(body) TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 8'] : []),
  ];
}

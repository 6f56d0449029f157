import { createHash } from 'node:crypto';
import {
  otelTables,
  tableNames,
  type LogicalColumn,
  type SetupScript,
  type TableName,
  type ResolvedMapping,
} from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../types.ts';
import { typeName, writer } from '../relation.ts';
import { isNamed } from './roles.ts';

/** Indexes on the time as callers see it, for tables that have none; as comments, since a large table takes a while. */
export function indexesScript(mappings: readonly ResolvedMapping[]): SetupScript | undefined {
  const sources = mappings.flatMap(({ tables }) => tableNames.flatMap((table) => tables[table] ?? []));
  const sql = sources.flatMap(({ from, columns: { time } }) => {
    if (time === undefined || !isNamed(from)) return [];
    const name = `sightline_time_${createHash('sha256').update(from).digest('hex').slice(0, 12)}`;
    return [
      `-- CREATE INDEX CONCURRENTLY IF NOT EXISTS ${quoteName(name)} ON ${from} USING brin ((${time})) WITH (pages_per_range = 32);`,
    ];
  });
  return sql.length === 0
    ? undefined
    : {
        title: 'Indexes by time, for the owner of the tables to make one by one, where nothing else finds rows by it.',
        sql: sql.join('\n'),
      };
}

export interface TablesOptions {
  /** The preset's names: schema, spans, metrics, logs. */
  readonly names: Readonly<Record<string, string>>;
  readonly organization: { readonly column: string; readonly type: 'string' | 'uuid' | 'int' };
  /** Login that writes telemetry; the tables are there for it. */
  readonly writer: string;
}

const tenantTypes = { string: 'text', uuid: 'uuid', int: 'bigint' } as const;

/** Text columns behind the organization in the indexes: an entry of an index has room for some 2,700 bytes. */
export const indexedTexts: Readonly<Record<TableName, readonly string[]>> = {
  spans: ['service_name', 'trace_id'],
  metrics: ['service_name', 'name'],
  logs: ['service_name', 'trace_id'],
};

/** Where the receiver remembers how far it came, in the schema of the tables. */
export const positionsTable = 'positions';

/** A warehouse of our own: one table a kind of telemetry, all organizations in it. */
export function tablesScript({ names, organization, writer: login }: TablesOptions): SetupScript {
  const schema = quoteName(names['schema'] ?? '');
  const tenant = `${quoteName(organization.column)} ${tenantTypes[organization.type]} NOT NULL`;
  const role = quoteName(login);
  const tables = tableNames.map((table) => {
    const name = `${schema}.${quoteName(names[table] ?? table)}`;
    return [
      createTable(name, tenant, otelTables[table].columns),
      ...indexes(table, name, names[table] ?? table, quoteName(organization.column)),
      `GRANT SELECT, INSERT, DELETE ON ${name} TO ${role};`,
      hypertable(name),
    ].join('\n');
  });
  const positions = `${schema}.${positionsTable}`;
  const sql = [
    `CREATE SCHEMA IF NOT EXISTS ${schema};`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role};`,
    ...tables,
    `CREATE TABLE IF NOT EXISTS ${positions} (${tenant}, log text NOT NULL, segment bigint NOT NULL, "offset" bigint NOT NULL, PRIMARY KEY (${quoteName(organization.column)}, log));`,
    `GRANT SELECT, INSERT, UPDATE ON ${positions} TO ${role};`,
  ];
  return {
    title: 'Tables of telemetry and what writes them. Run by an administrator of the database.',
    sql: sql.join('\n'),
  };
}

function createTable(name: string, tenant: string, columns: readonly LogicalColumn[]): string {
  const defined = (column: LogicalColumn) => {
    const required = column.nullable ? '' : ` NOT NULL DEFAULT ${writer.empty(column)}`;
    return `${quoteName(column.name)} ${typeName(column.type)}${required}`;
  };
  const definitions = [tenant, ...columns.map(defined)].map((line) => `  ${line}`);
  const added = columns.filter(({ added: isLater }) => isLater);
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (\n${definitions.join(',\n')}\n);`,
    // A table of an earlier version.
    `ALTER TABLE ${name}\n${added.map((column) => `  ADD COLUMN IF NOT EXISTS ${defined(column)}`).join(',\n')};`,
  ].join('\n');
}

/** Time by ranges of blocks, since rows come in its order; service and trace within the organization. */
function indexes(table: TableName, name: string, plain: string, organization: string): readonly string[] {
  const index = (suffix: string, on: string) =>
    `CREATE INDEX IF NOT EXISTS ${quoteName(`${plain}_${suffix}`)} ON ${name} ${on};`;
  return [
    index('time', 'USING brin ("time") WITH (pages_per_range = 32)'),
    index('service', `(${organization}, "service_name", "time")`),
    ...(table === 'metrics'
      ? [index('name', `(${organization}, "name", "time")`)]
      : [index('trace', `(${organization}, "trace_id")`)]),
  ];
}

/** Where TimescaleDB is installed in the database, days become chunks of their own. */
function hypertable(name: string): string {
  return [
    'DO $do$ BEGIN',
    `  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') THEN`,
    `    PERFORM create_hypertable('${name.replaceAll("'", "''")}', 'time', if_not_exists => true, migrate_data => true, chunk_time_interval => interval '1 day');`,
    '  END IF;',
    'END $do$;',
  ].join('\n');
}

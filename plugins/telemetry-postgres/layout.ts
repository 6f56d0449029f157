import { DatabaseError } from 'pg';
import type { SightlineError } from '../../src/contract/core/index.ts';
import {
  expectApart,
  isTenant,
  mappingFor,
  otelTables,
  ownColumnsOf,
  sourcesOf,
  tableNames,
  type LogicalColumn,
  type MappingConfig,
  type MappingHelpers,
  type PhysicalColumns,
  type ResolvedMapping,
  type TableName,
  type TelemetryHost,
  type MappingPreset,
  type TableSource,
} from '../../src/contract/telemetry/index.ts';
import { tenantPredicate, viewMapping } from './boundary.ts';
import { ask } from './catalog.ts';
import type { PostgresConfig } from './config.ts';
import type { Connections } from './connections.ts';
import { exporterPreset } from './presets/exporter.ts';
import { relationOf, writer } from './relation.ts';
import { wrong, type BoundaryKind } from './settings.ts';
import { quoteName } from './types.ts';

/** Tables of our own making (setup/tables.ts): the logical columns by their names, beside the tenant's. */
const sightlinePreset: MappingPreset = {
  name: 'sightline',
  title: "Sightline's own tables",
  names: { schema: 'telemetry', spans: 'spans', metrics: 'metrics', logs: 'logs' },
  async sources(names, physical) {
    const sources: { [Name in TableName]?: TableSource } = {};
    for (const table of tableNames) {
      const found = await physical(`${names['schema']}.${names[table]}`);
      if (found === undefined) continue;
      const from = `${quoteName(names['schema'] ?? '')}.${quoteName(names[table] ?? '')}`;
      sources[table] = { from, columns: ownColumnsOf(table, found, quoteName) };
    }
    return sourcesOf(sources);
  },
};

export const presets = [sightlinePreset, exporterPreset] as const;

/** The mapping as configured, where a schema or table of each tenant fills the preset's names. */
export function mappingOf({ mapping, tenancy }: PostgresConfig): MappingConfig {
  const preset = presets.find(({ name }) => name === mapping.preset);
  const { boundary } = tenancy;
  if (preset === undefined) return mapping;
  if (boundary.mode === 'schema') return { ...mapping, names: { schema: boundary.template, ...mapping.names } };
  if (boundary.mode !== 'table_template' || !boundary.template.includes('{table}')) return mapping;
  const tables = tableNames.filter((table) => Object.hasOwn(preset.names, table));
  const names = tables.map((table) => [table, boundary.template.replaceAll('{table}', preset.names[table] ?? table)]);
  return { ...mapping, names: { ...Object.fromEntries(names), ...mapping.names } };
}

/** The preset's names with what the config changes. */
export function namesOf(config: PostgresConfig): Readonly<Record<string, string>> {
  return { ...sightlinePreset.names, ...mappingOf(config).names };
}

/** The mapping over the tables themselves. Throws config_invalid, also where a table would be the same for all tenants. */
export async function resolveTables(
  config: PostgresConfig,
  host: TelemetryHost,
  physical: PhysicalColumns,
): Promise<ResolvedMapping> {
  const mapping = await host.mapping.resolve(mappingOf(config), presets, physical, writer);
  const { boundary } = config.tenancy;
  // A database of each tenant has the same names in it.
  if (boundary.mode === 'schema' || boundary.mode === 'table_template') expectApart(mapping, boundary);
  return mapping;
}

/** What the tables of statements are written over. Throws config_invalid where it is not there. */
export async function resolveLayout(
  kind: BoundaryKind,
  config: PostgresConfig,
  host: TelemetryHost,
  physical: PhysicalColumns,
): Promise<ResolvedMapping> {
  if (kind !== 'views') return await resolveTables(config, host, physical);
  const { schema } = config.boundary;
  const views = new Map<TableName, ReadonlyMap<string, string>>();
  for (const table of tableNames) {
    const found = await physical(`${schema}.${table}`);
    if (found === undefined) continue;
    const columns: readonly LogicalColumn[] = otelTables[table].columns;
    const missing = columns.filter(({ name, added }) => !added && !found.has(name)).map(({ name }) => name);
    if (missing.length > 0) {
      throw wrong(
        `The view ${schema}.${table} lacks ${missing.join(', ')}.`,
        'Run again what this prints: sightline telemetry setup --print',
      );
    }
    if (found.get('time') !== 'timestamp with time zone') {
      throw wrong(
        `The column time of the view ${schema}.${table} is no timestamptz.`,
        'Change telemetry.mapping, and set up the views again.',
      );
    }
    views.set(table, found);
  }
  if (views.size === 0) {
    throw wrong(
      `The database has no views ${schema}.spans, ${schema}.metrics, ${schema}.logs.`,
      'An administrator runs what this prints: sightline telemetry setup --print',
    );
  }
  // Of views nothing says which columns the tables beneath them lack; the configuration does.
  const { empties } = await resolveTables(config, host, physical).catch(() => ({ empties: [] }));
  const mapping = viewMapping(schema, views);
  return { ...mapping, empties: [...mapping.empties, ...empties] };
}

/**
 * Reads each source as a statement would, and no row of it. Throws config_invalid where a name of the mapping or the tenancy
 * is not there, or the login may not read it.
 */
export async function readOnce(
  { tenancy }: PostgresConfig,
  helpers: MappingHelpers,
  mapping: ResolvedMapping,
  connections: Connections,
  signal: AbortSignal,
): Promise<void> {
  const { boundary, organizations } = tenancy;
  const differs = JSON.stringify(mapping.tables).includes('{tenant}');
  const tenants = Object.values(organizations ?? {}).filter((name) => isTenant(name));
  const mappings = differs ? tenants.map((tenant) => mappingFor(mapping, tenant)) : [mapping];
  const window = { start: new Date(0), end: new Date(1) };
  for (const { tables } of mappings) {
    for (const table of tableNames) {
      for (const source of tables[table] ?? []) {
        const one = { ...mapping, tables: { [table]: [source] } };
        const relation = relationOf(helpers, one, table, { window }, () => tenantPredicate(boundary, source, 'NULL'));
        try {
          await ask(connections, `SELECT FROM ${relation} AS one LIMIT 0`, [], signal);
        } catch (error) {
          if (!(error instanceof DatabaseError)) throw error;
          throw unreadable(table, source.from, error);
        }
      }
    }
  }
}

function unreadable(table: TableName, from: string, { code, message }: DatabaseError): SightlineError {
  const what = `otel.${table} cannot be read from ${from}: ${message}.`;
  if (code === '42501')
    return wrong(what, 'GRANT SELECT on it, and USAGE on its schema, to the login in telemetry.url.');
  return wrong(what, `Correct telemetry.mapping.tables.${table} or telemetry.tenancy.boundary.`);
}

import {
  bestFirst,
  inspected,
  isTenant,
  mappingFor,
  mappingSchema,
  tableNames,
  type InspectedPreset,
  type Inspection,
  type InspectionWords,
  type MappingPreset,
  type ValueNote,
} from '../../../src/contract/telemetry/index.ts';
import { ask, physicalColumns, serverVersion } from '../catalog.ts';
import type { Connections } from '../connections.ts';
import { presets, resolveTables } from '../layout.ts';
import { Prober } from '../probe/attempt.ts';
import { writer } from '../relation.ts';
import type { OperationsOptions } from '../settings.ts';
import { signToken } from '../steps.ts';
import { quoteName } from '../types.ts';
import type { Warehouses } from '../warehouses.ts';
import { sightedTables, valueReader, type Ask } from './values.ts';

const sampleMs = 10_000;

/** Looks for the layouts we know, in whatever schema they are, then for tables that are like telemetry. */
export async function inspect(
  { config, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<Inspection> {
  const { main } = warehouses;
  const version = await serverVersion(main, signal);
  const physical = physicalColumns(main, signal);
  const tables = await sightedTables(asking(main, signal), config.boundary.schema);
  const found: InspectedPreset[] = [];
  for (const preset of presets) {
    for (const schema of await schemasOf(preset, main, signal)) {
      const names = { ...preset.names, ...(preset.name === config.mapping.preset && config.mapping.names), schema };
      if (Object.keys(await preset.sources(names, physical)).length === 0) continue;
      const named = { preset: preset.name, ...(schema !== preset.names['schema'] && { names: { schema } }) };
      found.push(...(await candidate(preset.name, preset.title, named)));
    }
  }
  if (found.length === 0) {
    found.push(...(await candidate('by hand', 'No known layout: a mapping told from names and values of columns')));
  }
  return { server: `PostgreSQL ${version}`, candidates: bestFirst(found) };

  async function candidate(preset: string, title: string, config?: object): Promise<readonly InspectedPreset[]> {
    const resolved = async (mapping: object) =>
      await host.mapping.resolve(mappingSchema.parse(mapping), presets, physical, writer);
    const known = config && { config: mappingSchema.parse(config), mapping: await resolved(config) };
    const proposal = await host.values.propose(known, tables, valueReader(asking(main, signal)));
    if (proposal === undefined) return [];
    const { mapping, notes } = proposal;
    return [{ preset, title, mapping, notes, ...inspected(await resolved(mapping), words) }];
  }
}

/** Each statement in a time of its own: a view may take any. */
export function asking(connections: Connections, signal: AbortSignal): Ask {
  return async (text, values = []) =>
    await ask(connections, text, values, AbortSignal.any([signal, AbortSignal.timeout(sampleMs)]));
}

/**
 * The configured mapping, over its tables where the login may read them, else as an organization sees them through the
 * views. Undefined where the config names no existing table, or no organization to ask as.
 */
export async function look(
  { config, kind, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<readonly ValueNote[] | undefined> {
  const physical = physicalColumns(warehouses.main, signal);
  const mapping = await resolveTables(config, host, physical).catch((error: unknown) => {
    if (Object.keys(config.mapping.tables).length > 0) throw error;
    signal.throwIfAborted();
    return undefined;
  });
  if (mapping === undefined) return undefined;
  const tenant = Object.values(config.tenancy.organizations ?? {}).find(isTenant);
  const own = tenant === undefined ? mapping : mappingFor(mapping, tenant);
  const plain = asking(warehouses.main, signal);
  const [from] = Object.values(own.tables).flat();
  const may =
    from &&
    (await plain(`SELECT FROM ${from.from} LIMIT 0`)
      .then(() => true)
      .catch(() => false));
  if (may === true) return await host.values.look(own, valueReader(plain));
  const { secret, schema } = config.boundary;
  if (kind !== 'views' || secret === undefined || tenant === undefined) return undefined;
  const prober = new Prober(warehouses.main, signal);
  const token = signToken(tenant, secret, new Date(host.now().getTime() + 60_000));
  const throughViews: Ask = async (text, values = []) => {
    const outcome = await prober.attempt(text, { token, values });
    if (!outcome.allowed) throw new Error(`refused with ${outcome.state}`);
    return outcome.rows;
  };
  const notes: ValueNote[] = [];
  for (const table of tableNames) {
    const reader = valueReader(throughViews);
    const columns = new Map(
      own.tables[table]?.flatMap((source) => Object.entries(source.columns)).map(([name, sql]) => [sql, name]),
    );
    const view = `${quoteName(schema)}.${quoteName(table)}`;
    const sample: typeof reader.sample = async (_from, _where, expressions) =>
      await reader.sample(
        view,
        undefined,
        expressions.map((sql) => quoteName(columns.get(sql) ?? '')),
      );
    notes.push(...(await host.values.look(own, { ...reader, sample }, [table])));
  }
  return notes;
}

/** Schemas that have a table of the preset's names; at most ten. */
async function schemasOf(
  preset: MappingPreset,
  connections: Connections,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const tables = Object.entries(preset.names).flatMap(([key, name]) => (key === 'schema' ? [] : [name]));
  const text = `
    SELECT DISTINCT n.nspname::text FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attname IN ('organization', 'Timestamp')
    WHERE c.relkind IN ('r', 'p', 'f') AND c.relname = ANY ($1::text[]) ORDER BY 1 LIMIT 10`;
  const rows = await ask(connections, text, [`{${tables.map((name) => JSON.stringify(name)).join(',')}}`], signal);
  return rows.flatMap(([schema]) => (schema === null || schema === undefined ? [] : [schema]));
}

const words: InspectionWords = {
  from: (from) => from,
  absent: 'a query of it is told that the warehouse has none',
  empty: (column) => writer.empty(column),
};

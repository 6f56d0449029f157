import { SightlineError } from '../../src/contract/core/index.ts';
import {
  bestFirst,
  inspected,
  mappingSchema,
  type InspectedPreset,
  type Inspection,
  type InspectionWords,
  type MappingPreset,
  type Finding,
  type SetupScript,
  type WarehouseOperations,
} from '../../src/contract/telemetry/index.ts';
import { probe } from './probe/index.ts';
import { setupScripts } from './setup/index.ts';
import type { OperationsOptions } from './settings.ts';
import { Warehouses } from './warehouses.ts';
import { ask, physicalColumns, serverVersion } from './catalog.ts';
import { presets } from './layout.ts';
import { postgresUrl } from './config.ts';
import type { Connections } from './connections.ts';
import { writer } from './relation.ts';

/** Looks for the layouts we know, in whatever schema they are. */
async function inspect(
  { config, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<Inspection> {
  const { main } = warehouses;
  const version = await serverVersion(main, signal);
  const physical = physicalColumns(main, signal);
  const candidates: InspectedPreset[] = [];
  for (const preset of presets) {
    for (const schema of await schemasOf(preset, main, signal)) {
      const names = { ...preset.names, ...(preset.name === config.mapping.preset && config.mapping.names), schema };
      const sources = await preset.sources(names, physical);
      if (Object.keys(sources).length === 0) continue;
      const mapping = { preset: preset.name, ...(schema !== preset.names['schema'] && { names: { schema } }) };
      const { empties } = await host.mapping.resolve(mappingSchema.parse(mapping), [preset], physical, writer);
      candidates.push({
        preset: preset.name,
        title: preset.title,
        mapping,
        ...inspected({ tables: sources, empties }, words),
      });
    }
  }
  return { server: `PostgreSQL ${version}`, candidates: bestFirst(candidates) };
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

/** What an operator does with the warehouse. Each call has connections of its own, so that nothing need be started. */
export class PostgresOperations implements WarehouseOperations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  as(written: string): PostgresOperations {
    const url = postgresUrl.safeParse(written);
    if (!url.success) throw new SightlineError('invalid_argument', `--url ${url.error.issues[0]?.message}.`);
    const {
      host: _host,
      port: _port,
      user: _user,
      password: _password,
      database: _database,
      ...config
    } = this.#options.config;
    return new PostgresOperations({ ...this.#options, config: { ...config, url: url.data } });
  }

  async setup(signal: AbortSignal): Promise<readonly SetupScript[]> {
    return await this.#with(async (warehouses) => await setupScripts(this.#options, warehouses, signal));
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    return await this.#with(async (warehouses) => await inspect(this.#options, warehouses, signal));
  }

  async probe(signal: AbortSignal): Promise<readonly Finding[]> {
    return await this.#with(async (warehouses) => await probe(this.#options, warehouses, signal));
  }

  async #with<T>(work: (warehouses: Warehouses) => Promise<T>): Promise<T> {
    const { config, host } = this.#options;
    const warehouses = new Warehouses(config, host.logger);
    try {
      return await work(warehouses);
    } finally {
      await warehouses.end();
    }
  }
}

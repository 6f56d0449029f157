import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { postgresStore } from '../../plugins/storage-knex/support/store.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
} from '../../test/support/gateway.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { z } from 'zod';
import type { Contender } from './contender.ts';
import { emptyWarehouse, fill } from './database.ts';
import { cellBytes } from './lines.ts';

export interface SightlineOptions {
  readonly storage: 'embedded' | 'postgres';
  readonly workers: number;
}

const made = z.object({ id: z.string() });

/** A gateway with all its guards, over a warehouse of its own that holds the same rows. */
export async function startSightline(
  server: PostgresServer,
  { storage, workers }: SightlineOptions,
): Promise<Contender & { readonly database: string; readonly dataDirectory: string; readonly config: string }> {
  const warehouse = await emptyWarehouse(server);
  const store = storage === 'postgres' ? await postgresStore(server) : undefined;
  const directory = await temporaryDirectory();
  const config = join(directory, 'sightline.config.json');
  await writeFile(
    config,
    JSON.stringify({
      limits: { requestsPerMinute: 1_000_000_000, maxCellBytes: 2 * cellBytes },
      telemetry: { plugin: 'postgres', ...warehouse.config },
      ...(store && { storage: { plugin: 'knex', ...store.config } }),
    }),
  );
  const gateway = await startGateway(directory, { args: ['--no-demo', '--config', config], workers });
  const organization = await sightlineJson(directory, ['org', 'create', 'bench'], made);
  const key = await createKey(directory, 'bench');
  await fill(server, warehouse.database, organization.id);
  return {
    name: `Sightline${storage === 'postgres' ? ', Postgres storage' : ''}${workers > 1 ? `, ${workers} workers` : ''}`,
    url: `${gateway.url}/mcp`,
    pid: gateway.process.pid ?? 0,
    token: await exchange(gateway.url, key),
    speech: {
      tool: 'query_otel',
      spans: 'otel.spans',
      logs: 'otel.logs',
      more: { max_rows: 10_000, max_bytes: 5_000_000 },
    },
    guards:
      'token, live key look-up, rate limit, SQL gate, read-only transaction, signed tenant checked by the database, caps, deadline, audit',
    database: warehouse.database,
    dataDirectory: directory,
    config,
    async stop() {
      await gateway.stop();
      await removeDirectory(directory);
      await store?.cleanup();
      await warehouse.cleanup();
    },
  };
}

import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/index.ts';
import { Engines } from './engines.ts';
import { DuckdbTelemetry } from './telemetry.ts';

const configSchema = z.strictObject({
  memoryLimitMb: z.coerce
    .number()
    .int()
    .min(128)
    .max(1_048_576)
    .default(1_000)
    .describe('What DuckDB may use for one organization.'),
  addressSpaceKb: z.coerce
    .number()
    .int()
    .min(2_500_000)
    .default(4_000_000)
    .describe('Address space of one engine process (ulimit -v): ends what the memory limit does not see.'),
  openEngines: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe('Engine processes at most, whichever workers use them.'),
  idleSeconds: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .describe('After which an unused engine process ends.'),
  threads: z.coerce.number().int().min(1).max(256).default(2).describe('Threads of one engine.'),
});

/** Telemetry in DuckDB: one file, one engine and one process an organization, so that isolation does not rest on SQL. */
export default definePlugin({
  kind: 'telemetry',
  name: 'duckdb',
  apiVersion,
  configSchema,
  create: (config, host) =>
    new DuckdbTelemetry(
      new Engines({ ...config, dataDirectory: host.dataDirectory, logger: host.logger.child({ plugin: 'duckdb' }) }),
      host,
    ),
});

import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
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
    .optional()
    .describe(
      'Address space of one engine process (ulimit -v): ends what the memory limit does not see. By default 4,000,000, or what memoryLimitMb needs.',
    ),
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

/** Node reserves 2.4 GB of address space; DuckDB needs some memory beyond what it counts. */
function neededKb(memoryLimitMb: number): number {
  return Math.max(4_000_000, 2_500_000 + memoryLimitMb * 1_200);
}

/** Telemetry in DuckDB: one file, one engine and one process an organization, so that isolation does not rest on SQL. */
export default definePlugin({
  kind: 'telemetry',
  name: 'duckdb',
  apiVersion,
  configSchema,
  create: (config, host) => {
    const { addressSpaceKb = neededKb(config.memoryLimitMb) } = config;
    const logger = host.logger.child({ plugin: 'duckdb' });
    return new DuckdbTelemetry(
      new Engines({ ...config, addressSpaceKb, dataDirectory: host.dataDirectory, logger }),
      host,
    );
  },
});

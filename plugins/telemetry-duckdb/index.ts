import { totalmem } from 'node:os';
import { z } from 'zod';
import { apiVersion, definePlugin, wholeNumber } from '../../src/contract/core/index.ts';
import { Engines } from './engines.ts';
import { DuckdbTelemetry } from './telemetry.ts';

const configSchema = z.strictObject({
  memoryLimitMb: wholeNumber(128, 1_048_576)
    .default(1_000)
    .describe('Memory that DuckDB may use for one organization, in MB'),
  addressSpaceKb: wholeNumber(2_500_000, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      'Address space of one engine process (ulimit -v), which also bounds what the memory limit does not cover; by default 4,000,000 or what memoryLimitMb needs',
    ),
  openEngines: wholeNumber(1, 1_000)
    .optional()
    .describe(
      'Largest number of engine processes, over all workers; by default one for each 200 MB of memory, 16 to 128',
    ),
  idleSeconds: wholeNumber(1, 86_400).default(300).describe('Seconds after which an idle engine process ends'),
  threads: wholeNumber(1, 256).default(2).describe('Threads of one engine process'),
});

/** Node reserves 2.4 GB of address space; DuckDB needs some memory beyond what it counts. */
function neededKb(memoryLimitMb: number): number {
  return Math.max(4_000_000, 2_500_000 + memoryLimitMb * 1_200);
}

/** An engine that takes in telemetry needs about as much; only a query makes it use `memoryLimitMb`. */
function enginesInMemory(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(128, Math.max(16, Math.floor(bytes / 200e6)));
}

/** Telemetry in DuckDB: one file, one engine and one process an organization, so that isolation does not rest on SQL. */
export default definePlugin({
  kind: 'telemetry',
  name: 'duckdb',
  apiVersion,
  configSchema,
  create: (config, host) => {
    const { addressSpaceKb = neededKb(config.memoryLimitMb), openEngines = enginesInMemory() } = config;
    const logger = host.logger.child({ plugin: 'duckdb' });
    return new DuckdbTelemetry(
      new Engines({ ...config, addressSpaceKb, openEngines, dataDirectory: host.dataDirectory, logger }),
      host,
    );
  },
});

import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema } from './config.ts';
import { PostgresTelemetry } from './telemetry.ts';

/** Telemetry in PostgreSQL: a warehouse of our own, or whatever tables a company has. */
export default definePlugin({
  kind: 'telemetry',
  name: 'postgres',
  apiVersion,
  configSchema,
  create: (config, host) => new PostgresTelemetry(config, host),
});

import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema } from './config.ts';
import { ClickHouseTelemetry } from './telemetry.ts';

/** Telemetry in a ClickHouse that is there already, whatever its tables are called, or in tables of our own there. */
export default definePlugin({
  kind: 'telemetry',
  name: 'clickhouse',
  apiVersion,
  configSchema,
  create: (config, host) => new ClickHouseTelemetry(config, host),
});

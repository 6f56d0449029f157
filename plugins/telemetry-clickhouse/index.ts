import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema } from './config.ts';
import { ClickHouseTelemetry } from './telemetry.ts';

/** Telemetry in an existing ClickHouse: in its own tables through a mapping, or in tables that we create. */
export default definePlugin({
  kind: 'telemetry',
  name: 'clickhouse',
  apiVersion,
  configSchema,
  create: (config, host) => new ClickHouseTelemetry(config, host),
});

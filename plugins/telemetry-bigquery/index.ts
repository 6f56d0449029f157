import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema } from './config.ts';
import { BigqueryTelemetry } from './telemetry.ts';

/** Telemetry that is in BigQuery already: nothing is written there. */
export default definePlugin({
  kind: 'telemetry',
  name: 'bigquery',
  apiVersion,
  configSchema,
  create: (config, host) => new BigqueryTelemetry(config, host),
});

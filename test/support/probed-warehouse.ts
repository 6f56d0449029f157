import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import type { WarehouseOperations } from '../../src/contract/telemetry/index.ts';
import duckdb from '../../plugins/telemetry-duckdb/index.ts';

const configSchema = z.strictObject({ finds: z.enum(['ok', 'warn', 'fail', 'no end']) });

/** The embedded engine under a warehouse's operations, whose probe finds what the config says. */
export default definePlugin({
  kind: 'telemetry',
  name: 'probed',
  apiVersion,
  configSchema,
  create({ finds }, host) {
    const telemetry = duckdb.create(duckdb.configSchema.parse({}), host);
    const operations: WarehouseOperations = {
      setup: async () => [{ title: 'Make the role, as the owner', sql: 'CREATE ROLE sightline;\n' }],
      inspect: async () => ({
        server: 'Warehouse 1.2',
        candidates: [
          {
            preset: 'otel-collector',
            title: "The Collector's tables",
            mapping: { preset: 'otel-collector', names: { spans: 'otel_traces', database: 'on' } },
            found: { 'otel.spans': 'otel.otel_traces' },
            missing: [{ what: 'otel.metrics', instead: 'a query of it is refused' }],
          },
          { preset: 'signoz', title: 'SigNoz', mapping: {}, found: {}, missing: [] },
        ],
      }),
      probe: async () => [
        {
          check: 'other rows',
          status: finds === 'no end' ? 'ok' : finds,
          detail: 'A raw SELECT saw 3 rows of another tenant.',
          hint: 'REVOKE it.',
        },
      ],
    };
    // A plugin of somebody's that heeds no signal.
    const endless = { start: () => new Promise<never>(() => {}), stop: () => new Promise<never>(() => {}) };
    return Object.assign(telemetry, { operations }, finds === 'no end' ? endless : {});
  },
});

import type { Telemetry } from '../../../src/contract/telemetry/index.ts';

/** The server as whoever is past the gate meets it: statements go to it as they are. */
export function ungated(telemetry: Telemetry): Telemetry {
  const { dialect, sink } = telemetry;
  return {
    dialect,
    ...(sink && { sink }),
    start: async (signal) => await telemetry.start(signal),
    stop: async () => await telemetry.stop(),
    health: async (signal) => await telemetry.health(signal),
    parse: async (sql) => ({ tree: sql }),
    check: ({ tree }) => ({ tree, tables: [], reaches: [] }),
    render: async ({ tree }) => String(tree),
    open: async (rendered, limits, context) => await telemetry.open(rendered, limits, context),
  };
}

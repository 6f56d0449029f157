import type { TelemetryHost, WarehouseOperations } from '../../../src/contract/telemetry/index.ts';
import type { Warehouse } from '../warehouse.ts';
import { inspect } from './inspect.ts';
import { probe } from './probe.ts';
import { setup } from './setup.ts';

/** They work on a service that was not started, too. */
export function operationsOf(warehouse: Warehouse, host: TelemetryHost): WarehouseOperations {
  return {
    setup: (signal) => setup(warehouse, signal),
    inspect: (signal) => inspect(warehouse, host, signal),
    probe: (signal) => probe(warehouse, signal),
  };
}

import type { Finding, Inspection, SetupScript, WarehouseOperations } from '../../src/contract/telemetry/index.ts';
import { inspect } from './inspect.ts';
import { probe } from './probe/index.ts';
import { setupScripts } from './setup/index.ts';
import type { OperationsOptions } from './settings.ts';
import { Warehouses } from './warehouses.ts';

/** What an operator does with the warehouse. Each call has connections of its own, so that nothing need be started. */
export class PostgresOperations implements WarehouseOperations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  async setup(signal: AbortSignal): Promise<readonly SetupScript[]> {
    return await this.#with(async (warehouses) => await setupScripts(this.#options, warehouses, signal));
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    return await this.#with(async (warehouses) => await inspect(this.#options, warehouses, signal));
  }

  async probe(signal: AbortSignal): Promise<readonly Finding[]> {
    return await this.#with(async (warehouses) => await probe(this.#options, warehouses, signal));
  }

  async #with<T>(work: (warehouses: Warehouses) => Promise<T>): Promise<T> {
    const { config, host } = this.#options;
    const warehouses = new Warehouses(config, host.logger);
    try {
      return await work(warehouses);
    } finally {
      await warehouses.end();
    }
  }
}

import { SightlineError } from '../../src/contract/core/index.ts';
import type {
  Finding,
  Inspection,
  SetupScript,
  ValueNote,
  WarehouseOperations,
} from '../../src/contract/telemetry/index.ts';
import { postgresUrl } from './config.ts';
import { probe } from './probe/index.ts';
import { checkMapping, setupScripts } from './setup/index.ts';
import { inspect, look } from './setup/inspect.ts';
import type { OperationsOptions } from './settings.ts';
import { Warehouses } from './warehouses.ts';

/** What an operator does with the warehouse. Each call has connections of its own, so that nothing need be started. */
export class PostgresOperations implements WarehouseOperations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  as(written: string): PostgresOperations {
    const url = postgresUrl.safeParse(written);
    if (!url.success) throw new SightlineError('invalid_argument', `--url ${url.error.issues[0]?.message}.`);
    const {
      host: _host,
      port: _port,
      user: _user,
      password: _password,
      database: _database,
      ...config
    } = this.#options.config;
    return new PostgresOperations({ ...this.#options, config: { ...config, url: url.data } });
  }

  async check(): Promise<void> {
    await checkMapping(this.#options);
  }

  async setup(signal: AbortSignal): Promise<readonly SetupScript[]> {
    return await this.#with(async (warehouses) => await setupScripts(this.#options, warehouses, signal));
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    return await this.#with(async (warehouses) => await inspect(this.#options, warehouses, signal));
  }

  async look(signal: AbortSignal): Promise<readonly ValueNote[] | undefined> {
    return await this.#with(async (warehouses) => await look(this.#options, warehouses, signal));
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

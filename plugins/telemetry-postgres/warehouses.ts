import { connectionOf, type Tenant } from '../../src/contract/telemetry/index.ts';
import type { Logger } from '../../src/contract/core/index.ts';
import { Connections, type ConnectionsOptions, type Lease } from './connections.ts';
import type { PostgresConfig } from './config.ts';
import { clientOf, poolOf } from './settings.ts';

/** The connections of the gateway's login: one pool, or one for each tenant that has a database of its own. */
export class Warehouses {
  readonly #config: PostgresConfig;
  readonly #options: Omit<ConnectionsOptions, 'client'>;
  readonly #open = new Map<string, Connections>();
  #ended = false;

  constructor(config: PostgresConfig, logger: Logger) {
    this.#config = config;
    const all = Math.max(1, config.pool.max - 1);
    const shared = config.tenancy.boundary.mode !== 'connection' && config.tenancy.boundary.mode !== 'database';
    const each = shared ? Math.max(1, Math.floor((all * 3) / 4)) : all;
    this.#options = { ...poolOf(config, logger), tenants: { all, each } };
  }

  get open(): number {
    return [...this.#open.values()].reduce((sum, { open }) => sum + open, 0);
  }

  of(tenant: Tenant): Connections {
    const { boundary } = this.#config.tenancy;
    if (boundary.mode === 'connection') {
      const connectionString = connectionOf(this.#config.connections, tenant);
      return this.#get(`connection ${tenant}`, { connectionString });
    }
    if (boundary.mode === 'database') {
      const database = boundary.template.replaceAll('{tenant}', tenant);
      return this.#get(`database ${database}`, this.#inDatabase(database));
    }
    return this.main;
  }

  /** Where the layout is looked at: all tenants share it. */
  get main(): Connections {
    const known = this.#open.get('main');
    if (known !== undefined && !this.#ended) return known;
    const { connections, tenancy, url } = this.#config;
    const [first] = Object.values(connections);
    if (tenancy.boundary.mode === 'connection' && first !== undefined && url === undefined) {
      return this.#get('main', { connectionString: first });
    }
    return this.#get('main', clientOf(this.#config));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#open.values()].map(async (connections) => await connections.end()));
  }

  #inDatabase(database: string): ConnectionsOptions['client'] {
    const client = clientOf(this.#config);
    if (client.connectionString === undefined) return { ...client, database };
    const url = new URL(client.connectionString);
    url.pathname = `/${encodeURIComponent(database)}`;
    return { connectionString: url.href };
  }

  #get(key: string, client: ConnectionsOptions['client']): Connections {
    if (this.#ended) throw new Error('stopped');
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const connections = new Connections({ ...this.#options, client });
    this.#open.set(key, connections);
    return connections;
  }
}

const rounds = 3;

/**
 * Whether a pooler gives a client another session of the server for each transaction. Without a pooler, a session says the
 * same number as the connection. Behind one, two clients whose transactions alternate meet in one session, or change theirs.
 */
export async function sessionsChange(config: PostgresConfig, logger: Logger, signal: AbortSignal): Promise<boolean> {
  const [one, another] = [new Warehouses(config, logger), new Warehouses(config, logger)];
  const leases: Lease[] = [];
  try {
    const first = await one.main.lease(signal);
    leases.push(first);
    if ((await backendOf(first)) === Reflect.get(first.client, 'processID')) return false;
    // A pool in session mode may have room for one.
    const second = await another.main.lease(signal).catch(() => undefined);
    if (second === undefined) return false;
    leases.push(second);
    for (let round = 0; round < rounds; round += 1) {
      const session = await backendOf(first);
      await second.client.query('BEGIN');
      if ((await backendOf(second)) === session || (await backendOf(first)) !== session) return true;
      await second.client.query('ROLLBACK');
    }
    return false;
  } finally {
    await Promise.all(leases.map(async (lease) => await lease.giveBack()));
    await Promise.all([one.end(), another.end()]);
  }
}

async function backendOf({ client }: Lease): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

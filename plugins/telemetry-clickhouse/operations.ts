import { tableNames } from '../../src/contract/index.ts';
import type {
  Finding,
  Inspection,
  PhysicalColumns,
  SetupScript,
  TelemetryHost,
  Tenancy,
  Tenant,
  WarehouseOperations,
} from '../../src/contract/index.ts';
import { Accounts } from './accounts.ts';
import type { Warehouse } from './client/warehouse.ts';
import type { ClickHouseConfig } from './config.ts';
import { policy } from './gate/policy.ts';
import { jsonColumns } from './json-attributes.ts';
import { forTenant, inTemplate } from './mapped.ts';
import { ownMapping } from './own-warehouse.ts';
import { physicalColumns } from './physical-columns.ts';
import { presets } from './presets/index.ts';
import { probeWarehouse } from './probe/index.ts';
import { relationWriter } from './relation-writer.ts';
import type { Rows } from './rows.ts';
import { setupScripts } from './setup/index.ts';
import { ownColumns } from './setup/own-tables.ts';
import { inspectWarehouse } from './setup/inspect.ts';
import { physicalTables } from './setup/physical-tables.ts';
import type { PhysicalTable } from './setup/physical-tables.ts';

const limits = { executionSeconds: 60, memoryBytes: 10_000_000_000 };

/** Whom the gateway logs in as. */
interface Login {
  readonly username: string;
  readonly warehouse: Warehouse;
}

/** What an operator does with a ClickHouse. Each call has connections of its own, so that nothing need be started. */
export class ClickHouseOperations implements WarehouseOperations {
  readonly #config: ClickHouseConfig;
  readonly #host: TelemetryHost;
  readonly #boundary: Tenancy['boundary'];

  constructor(config: ClickHouseConfig, host: TelemetryHost, boundary: Tenancy['boundary']) {
    this.#config = config;
    this.#host = host;
    this.#boundary = boundary;
  }

  async setup(signal: AbortSignal): Promise<readonly SetupScript[]> {
    const { serverBoundary: server, cluster, ingest } = this.#config;
    const on = cluster === undefined ? {} : { cluster };
    return await this.#eachLogin(signal, async ({ username, warehouse }) => {
      const mapped = await this.#mapped(warehouse, signal);
      const own =
        ingest?.enabled === true
          ? {
              own: {
                database: ingest.database,
                prefix: ingest.prefix,
                writer: ingest.username ?? `${username}_writer`,
                ...on,
              },
            }
          : {};
      return await setupScripts({ access: { username, limits, server, ...mapped }, ...on, ...own });
    });
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const [found] = await this.#eachLogin(signal, async ({ warehouse }) => [
      await inspectWarehouse((sql) => warehouse.rows(sql, signal), this.#host.mapping),
    ]);
    if (found === undefined) throw new TypeError('no login');
    return found;
  }

  async probe(signal: AbortSignal): Promise<readonly Finding[]> {
    const { serverBoundary: server, isolation } = this.#config;
    return await this.#eachLogin(signal, async ({ warehouse }) =>
      probeWarehouse({
        send: (sql, sender) => warehouse.rowsAs(sql, sender, signal),
        server,
        isolation,
        ...(await this.#mapped(warehouse, signal)),
      }),
    );
  }

  /** The mapping as it is now; tables of our own as they will be, where the set-up has yet to make them. */
  async #mapped(warehouse: Warehouse, signal: AbortSignal) {
    const rows: Rows = (sql) => warehouse.rows(sql, signal);
    const there = physicalColumns(rows);
    const columns: PhysicalColumns = async (path) => (await there(path)) ?? this.#toBe(path);
    const mapping = await this.#host.mapping.resolve(
      inTemplate(ownMapping(this.#config), this.#boundary),
      presets,
      columns,
      relationWriter({ json: new Set(), prewhere: new Set() }),
    );
    const tables = (tenant: Tenant | undefined): Promise<readonly PhysicalTable[]> =>
      physicalTables(
        rows,
        columns,
        tenant !== undefined && 'template' in this.#boundary ? forTenant(mapping, tenant) : mapping,
      );
    const listed = Object.values(this.#config.tenancy.organizations ?? {});
    return {
      boundary: this.#boundary,
      json: await jsonColumns(rows, mapping),
      tenants: listed.filter(isTenant),
      tables,
    };
  }

  #toBe(path: string): ReadonlyMap<string, string> | undefined {
    const { ingest } = this.#config;
    if (ingest?.enabled !== true) return undefined;
    const table = tableNames.find((name) => path === `${ingest.database}.${ingest.prefix}${name}`);
    return table && new Map(ownColumns(table).map(({ name, type }) => [name, type]));
  }

  /** One after another, so that an operator's look does not crowd the warehouse. */
  async #eachLogin<Result>(
    signal: AbortSignal,
    work: (login: Login) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const accounts = new Accounts(this.#config, { helpers: this.#host.sql, functions: policy.functions });
    try {
      const results: Result[] = [];
      for (const login of await this.#logins(accounts, signal)) results.push(...(await work(login)));
      return results;
    } finally {
      await accounts.stop();
    }
  }

  async #logins(accounts: Accounts, signal: AbortSignal): Promise<readonly Login[]> {
    const { connections, username } = this.#config;
    if (this.#boundary.mode !== 'connection') return [{ username, warehouse: accounts.main }];
    const logins: Login[] = [];
    for (const [tenant, account] of Object.entries(connections ?? {})) {
      if (isTenant(tenant)) logins.push({ username: account.username, warehouse: await accounts.of(tenant, signal) });
    }
    return logins;
  }
}

function isTenant(value: string): value is Tenant {
  return value !== '';
}

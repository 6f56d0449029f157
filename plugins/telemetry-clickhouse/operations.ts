import { SightlineError } from '../../src/contract/core/index.ts';
import {
  expectApart,
  isTenant,
  tableNames,
  type Finding,
  type Inspection,
  type PhysicalColumns,
  type SetupScript,
  type TelemetryHost,
  type Tenancy,
  type Tenant,
  type ValueNote,
  type WarehouseOperations,
} from '../../src/contract/telemetry/index.ts';
import { openAccount, ownMapping } from './accounts.ts';
import type { Warehouse } from './client/warehouse.ts';
import { url, type ClickHouseConfig } from './config.ts';
import { policy } from './gate/policy.ts';
import { withJson } from './json-attributes.ts';
import { forTenant, inTemplate } from './mapped.ts';
import { physicalColumns } from './types.ts';
import { presets } from './presets/index.ts';
import { probeWarehouse } from './probe/index.ts';
import { senderOf } from './probe/rows.ts';
import { relationWriter } from './relation-writer.ts';
import type { Rows } from './quote.ts';
import { access } from './setup/access.ts';
import { expectFree, type SetupOptions, setupScripts } from './setup/index.ts';
import { ownColumns } from './setup/own-tables.ts';
import { inspectWarehouse, seesTables, UnseenTables } from './setup/inspect.ts';
import { physicalTables, type PhysicalTable } from './setup/physical-tables.ts';
import { valueReader } from './setup/values.ts';

const memoryBytes = 10_000_000_000;

interface Login {
  readonly username: string;
  /** Where tables lie that are named without one; undefined: the user's default. */
  readonly database: string | undefined;
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

  /** The password may come from CLICKHOUSE_PASSWORD, as for clickhouse-client. */
  as(written: string): ClickHouseOperations {
    const parsed = URL.canParse(written) ? new URL(written) : undefined;
    const { username = '', password = '', origin = '', pathname = '' } = parsed ?? {};
    const place = parsed && url.safeParse(`${origin}${pathname}`);
    if (place?.success !== true) {
      throw new SightlineError('invalid_argument', '--url must be http(s)://user:password@host:port.');
    }
    const login = {
      username: decodeURIComponent(username) || 'default',
      password: decodeURIComponent(password) || (process.env['CLICKHOUSE_PASSWORD'] ?? ''),
    };
    const config = { ...this.#config, url: [place.data], ...login };
    return new ClickHouseOperations(config, this.#host, this.#boundary);
  }

  async setup(signal: AbortSignal): Promise<readonly SetupScript[]> {
    const { serverBoundary: server, cluster, ingest, statementTimeoutSeconds: executionSeconds } = this.#config;
    const on = cluster === undefined ? {} : { cluster };
    const own: Pick<SetupOptions, 'own'> =
      ingest?.enabled === true
        ? { own: { database: ingest.database, prefix: ingest.prefix, writer: ingest.username, ...on } }
        : {};
    return await this.#eachLogin(async (login) => {
      // Never the user that looks around: the script would leave it nothing but reading.
      const username = this.#own(login);
      if (username === own.own?.writer) throw sameUser();
      const rows: Rows = (sql) => login.warehouse.rows(sql, signal);
      const unseen = !(await seesTables(rows));
      const mapped = await this.#mapped(login, signal, unseen);
      const given = await access({ username, limits: { executionSeconds, memoryBytes }, server, ...mapped });
      await expectFree(rows, given);
      return setupScripts({ given, unseen, ...on, ...own });
    });
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const [found] = await this.#eachLogin(async ({ warehouse }) => [
      await inspectWarehouse((sql) => warehouse.rows(sql, signal), this.#host),
    ]);
    if (found === undefined) throw new TypeError('no login');
    return found;
  }

  /** As the first organization that is known, whose rows alone the policies show. */
  async look(signal: AbortSignal): Promise<readonly ValueNote[] | undefined> {
    const { mapping: config, serverBoundary: server } = this.#config;
    if (config.preset === undefined && Object.keys(config.tables).length === 0) return undefined;
    const [notes] = await this.#eachLogin(async (login) => {
      const { mapping, tenants } = await this.#mapped(login, signal);
      const [tenant] = tenants;
      const rows: Rows = async (sql) =>
        tenant === undefined
          ? await login.warehouse.rows(sql, signal)
          : await login.warehouse.rowsAs(sql, senderOf({ server }, tenant), signal);
      const ofTenant = tenant !== undefined && 'template' in this.#boundary ? forTenant(mapping, tenant) : mapping;
      return [await this.#host.values.look(ofTenant, valueReader(rows))];
    });
    return notes;
  }

  async probe(signal: AbortSignal): Promise<readonly Finding[]> {
    const { serverBoundary: server, isolation } = this.#config;
    return await this.#eachLogin(async (login) =>
      probeWarehouse({
        send: (sql, sender) => login.warehouse.rowsAs(sql, sender, signal),
        server,
        isolation,
        own: this.#own(login),
        ...(await this.#mapped(login, signal)),
      }),
    );
  }

  /** The mapping as it is now, or where the tables are unseen, as it usually is; tables of our own as they will be. */
  async #mapped({ warehouse, database }: Login, signal: AbortSignal, unseen = false) {
    const rows: Rows = unseen ? async () => [] : (sql) => warehouse.rows(sql, signal);
    const config = inTemplate(ownMapping(this.#config), this.#boundary);
    const usual = unseen ? new UnseenTables(config) : undefined;
    const there = physicalColumns(rows);
    const columns: PhysicalColumns = async (path) => (await there(path)) ?? this.#toBe(path);
    const lookedFor: PhysicalColumns = async (path) => (await columns(path)) ?? (await usual?.lookedFor(path));
    const known: PhysicalColumns = async (path) => (await columns(path)) ?? (await usual?.there(path));
    const writer = relationWriter({ json: new Set(), prewhere: new Set() });
    const resolved = await this.#host.mapping.resolve(config, presets, lookedFor, writer);
    const { mapping, json } = await withJson(rows, resolved);
    if ('template' in this.#boundary) expectApart(mapping, this.#boundary);
    const tables = (tenant: Tenant | undefined): Promise<readonly PhysicalTable[]> =>
      physicalTables(
        rows,
        known,
        tenant !== undefined && 'template' in this.#boundary ? forTenant(mapping, tenant) : mapping,
        database,
      );
    const listed = Object.values(this.#config.tenancy.organizations ?? {});
    return {
      boundary: this.#boundary,
      json,
      mapping,
      tenants: listed.filter(isTenant),
      tables,
    };
  }

  #own({ username }: Login): string {
    return this.#boundary.mode === 'connection' ? username : this.#config.login;
  }

  #toBe(path: string): ReadonlyMap<string, string> | undefined {
    const { ingest } = this.#config;
    if (ingest?.enabled !== true) return undefined;
    const table = tableNames.find((name) => path === `${ingest.database}.${ingest.prefix}${name}`);
    return table && new Map(ownColumns(table).map(({ name, type }) => [name, type]));
  }

  /** One after another, so that an operator's look does not crowd the warehouse. */
  async #eachLogin<Result>(work: (login: Login) => Promise<readonly Result[]>): Promise<readonly Result[]> {
    const logins = this.#logins();
    try {
      const results: Result[] = [];
      for (const login of logins) results.push(...(await work(login)));
      return results;
    } finally {
      await Promise.all(logins.map(({ warehouse }) => warehouse.stop()));
    }
  }

  #logins(): readonly Login[] {
    const { connections, tenancy } = this.#config;
    const explaining = { helpers: this.#host.sql, functions: policy.functions };
    const accounts = tenancy.boundary.mode === 'connection' ? Object.values(connections ?? {}) : [this.#config];
    return accounts.map((account) => ({
      username: account.username,
      database: account.database,
      warehouse: openAccount(this.#config, account, explaining),
    }));
  }
}

/** The reader's profile forbids writes. */
function sameUser(): SightlineError {
  return new SightlineError('config_invalid', 'telemetry.ingest.username is the user that reads.', {
    hint: 'Name another user there, e.g. sightline_writer: this makes it.',
  });
}

import { SightlineError } from '../../src/contract/core/index.ts';
import { connectionOf, type MappingConfig, type Tenancy, type Tenant } from '../../src/contract/telemetry/index.ts';
import { type EndpointOptions, Endpoints } from './client/endpoint.ts';
import type { Explaining } from './client/failures.ts';
import { Warehouse } from './client/warehouse.ts';
import type { ClickHouseConfig } from './config.ts';
import { organizationColumn } from './setup/own-tables.ts';
import { ClickHouseSink } from './sink/sink.ts';

/** Logins by tenant: one account for all, or one each where the connection is the boundary. */
export class Accounts {
  /** For what is no tenant's: looking tables up, health. */
  readonly main: Warehouse;
  readonly #byTenant: Readonly<Record<string, Warehouse>> | undefined;
  readonly #started = new Map<Warehouse, Promise<void>>();

  constructor(config: ClickHouseConfig, explaining: Explaining) {
    const { connections } = config;
    const open = (account: Pick<EndpointOptions, 'username' | 'password' | 'database'>) =>
      openAccount(config, account, explaining);
    if (config.tenancy.boundary.mode !== 'connection') {
      this.main = open(config);
      return;
    }
    this.#byTenant = Object.fromEntries(
      Object.entries(connections ?? {}).map(([tenant, account]) => [tenant, open(account)]),
    );
    const [first] = Object.values(this.#byTenant);
    if (first === undefined) {
      throw new SightlineError('config_invalid', 'telemetry.connections is missing.', {
        hint: 'With the boundary `connection` every tenant has an account of its own there.',
      });
    }
    this.main = first;
  }

  async of(tenant: Tenant, signal: AbortSignal): Promise<Warehouse> {
    const account = this.#byTenant === undefined ? this.main : connectionOf(this.#byTenant, tenant);
    await this.start(account, signal);
    return account;
  }

  /** Once; again after it failed. */
  async start(account: Warehouse, signal: AbortSignal): Promise<void> {
    const known = this.#started.get(account);
    if (known !== undefined) return await known;
    const starting = account.start(signal);
    this.#started.set(account, starting);
    try {
      await starting;
    } catch (error) {
      this.#started.delete(account);
      throw error;
    }
  }

  async stop(): Promise<void> {
    const all = new Set([this.main, ...Object.values(this.#byTenant ?? {})]);
    await Promise.all([...all].map((account) => account.stop()));
  }
}

export function openAccount(
  config: ClickHouseConfig,
  account: Pick<EndpointOptions, 'username' | 'password' | 'database'>,
  explaining: Explaining,
): Warehouse {
  const { url, tls, maxConnections, compression, settings, requestTimeoutSeconds } = config;
  const { username, password, database } = account;
  const endpoints = new Endpoints({ urls: url, username, password, database, tls, maxConnections, compression });
  return new Warehouse({ endpoints, settings, requestTimeoutMs: requestTimeoutSeconds * 1_000, explaining });
}

export interface OpenSink {
  readonly sink: ClickHouseSink;
  readonly account: Warehouse;
}

/** Where our receiver's rows go; undefined where telemetry reaches the warehouse by another way. */
export function openSink(config: ClickHouseConfig, tenancy: Tenancy, explaining: Explaining): OpenSink | undefined {
  const { ingest } = config;
  if (ingest?.enabled !== true) return undefined;
  const { boundary } = tenancy;
  if (boundary.mode !== 'none' && !(boundary.mode === 'column' && boundary.column === organizationColumn)) {
    throw new SightlineError('config_invalid', 'telemetry.ingest needs the boundary of its own tables.', {
      hint: `Set telemetry.tenancy.boundary to { mode: column, column: ${organizationColumn} }.`,
    });
  }
  const { username, password, database, prefix } = ingest;
  const account = openAccount(config, { username, password }, explaining);
  return { account, sink: new ClickHouseSink({ account, tenancy, database, prefix }) };
}

/** Our receiver's tables are those that are read, under the names that they have here. */
export function ownMapping({ mapping, ingest }: ClickHouseConfig): MappingConfig {
  if (ingest?.enabled !== true) return mapping;
  if (mapping.preset !== undefined && mapping.preset !== 'sightline') {
    throw new SightlineError('config_invalid', 'telemetry.ingest writes into tables of its own.', {
      hint: 'Set telemetry.mapping.preset to sightline, or leave telemetry.ingest out.',
    });
  }
  const { database, prefix } = ingest;
  const names = { database, spans: `${prefix}spans`, metrics: `${prefix}metrics`, logs: `${prefix}logs` };
  return { ...mapping, preset: 'sightline', names: { ...names, ...mapping.names } };
}

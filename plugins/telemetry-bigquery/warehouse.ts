import { LRUCache } from 'lru-cache';
import { SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import {
  connectionOf,
  otelTables,
  servedTables,
  tableNames,
  type LogicalTable,
  type RelationWriter,
  type ResolvedMapping,
  type StatementBinding,
  type TableName,
  type TelemetryHost,
  type Tenancy,
} from '../../src/contract/telemetry/index.ts';
import { Api, ApiFailure, unlessAborted, type ApiOptions } from './api.ts';
import { physicalColumns } from './cells.ts';
import { type BigqueryConfig, presets } from './config.ts';
import { unreachable } from './failures.ts';
import { dryRun, type QueryJob, jobLabels } from './jobs.ts';
import type { KeyStyle } from './literals.ts';
import { mappingOfTenant, namedByTenant, tenantLiteral, tenantPredicate } from './tenant.ts';
import { relationWriter } from './writer.ts';

/** Answers by key for a while. Who asks at the same time waits for the same answer; a failure is forgotten at once. */
export class Remembered<T> {
  readonly #kept: LRUCache<string, Promise<T>>;

  /** @param forMs 0: for good. */
  constructor(forMs: number) {
    this.#kept = new LRUCache({ max: 1_000, ttl: forMs });
  }

  of(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const answer = ask();
    this.#kept.set(key, answer);
    answer.catch(() => {
      if (this.#kept.peek(key) === answer) this.#kept.delete(key);
    });
    return answer;
  }
}

/** How long what BigQuery said of a tenant's tables is believed. */
const believeMs = 10 * 60_000;
/** Of what several callers may wait for: it does not end with the one who asked first. */
const sharedTimeoutMs = 20_000;

/** Tables are looked up before a statement is sent, so this failure is never the statement's. */
function explained(error: unknown): never {
  throw error instanceof ApiFailure ? unreachable(error) : error;
}

export interface TenantAccess {
  readonly tenant: string;
  readonly api: Api;
  readonly mapping: ResolvedMapping;
}

/** Existing tables for each organization, and the identity that reads them. */
export class Warehouse {
  readonly config: BigqueryConfig;
  readonly tenancy: Tenancy;
  readonly style: KeyStyle;
  readonly #host: TelemetryHost;
  readonly #writer: RelationWriter;
  readonly #apis = new Remembered<Api>(0);
  readonly #opened = new Set<Api>();
  readonly #mappings = new Remembered<ResolvedMapping>(believeMs);
  readonly #pings = new Remembered<void>(30_000);
  readonly #allowed = new Remembered<ReadonlySet<string>>(believeMs);

  constructor(config: BigqueryConfig, host: TelemetryHost) {
    this.config = config;
    this.#host = host;
    this.tenancy = host.tenancy.open(config.tenancy);
    this.style = config.mapping.names['keys'] === 'nested' ? 'nested' : 'flat';
    this.#writer = relationWriter({ guarded: config.boundary === 'none' });
    // A config that names no tenant fails here and not with the first query.
    mappingOfTenant(config.mapping, this.tenancy.boundary, presets, 'tenant');
  }

  /** The tables that queries will find, as far as that is the same for everybody. */
  async tables(signal: AbortSignal): Promise<readonly LogicalTable[]> {
    const { boundary } = this.tenancy;
    if (!namedByTenant(boundary) && boundary.mode !== 'connection') {
      const api = await this.api(undefined);
      const mapping = await this.mappingOf('', api, signal);
      await this.#tryOut(api, mapping, signal);
      return servedTables(mapping);
    }
    return tableNames.filter((name) => this.config.mapping.tables[name] !== false).map((name) => otelTables[name]);
  }

  /** Each table is read once without running, so that one without the tenant's column stops the start and not every query. */
  async #tryOut(api: Api, mapping: ResolvedMapping, signal: AbortSignal): Promise<void> {
    for (const table of tableNames) {
      if (mapping.tables[table] === undefined) continue;
      const sql = `SELECT 1 FROM ${this.relation({ tenant: '0', mapping }, table, {})}`;
      try {
        await dryRun(api, this.job(sql, '0'), signal);
      } catch (cause) {
        if (!(cause instanceof ApiFailure) || cause.reason !== 'invalidQuery') explained(cause);
        throw new SightlineError('config_invalid', `telemetry.mapping does not fit the warehouse: otel.${table}.`, {
          operatorMessage: `telemetry.mapping.tables.${table}: BigQuery does not read what is mapped, or what telemetry.tenancy.boundary names: ${cause.message.slice(0, 500)}`,
          hint: 'sightline telemetry inspect prints a mapping that fits.',
          cause,
        });
      }
    }
  }

  async accessOf(organizationId: OrganizationId, signal: AbortSignal): Promise<TenantAccess> {
    return await this.accessOfTenant(await this.tenancy.tenantOf(organizationId), signal);
  }

  async accessOfTenant(tenant: string, signal: AbortSignal): Promise<TenantAccess> {
    const api = await this.api(tenant);
    return { tenant, api, mapping: await this.mappingOf(tenant, api, signal) };
  }

  /** Without a tenant, under the service's own identity. */
  async api(tenant: string | undefined): Promise<Api> {
    const { boundary, connections, projectId, apiEndpoint, keyFilename } = this.config;
    if (boundary !== 'connection' || tenant === undefined) {
      return await this.#apis.of('', async () => this.#open({ projectId, apiEndpoint, keyFilename }));
    }
    const identity = connectionOf(connections, tenant);
    return await this.#apis.of(tenant, async () =>
      this.#open({ projectId: identity.projectId ?? projectId, apiEndpoint, keyFilename: identity.keyFilename }),
    );
  }

  /** Once nothing that was asked is under way any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#opened].map((api) => api.idle()));
  }

  async #open(options: ApiOptions): Promise<Api> {
    const api = await Api.open(options);
    this.#opened.add(api);
    return api;
  }

  /** Of one tenant; '' where all have the same. */
  mappingOf(tenant: string, api: Api, signal: AbortSignal): Promise<ResolvedMapping> {
    const { boundary } = this.tenancy;
    const apart = namedByTenant(boundary) || boundary.mode === 'connection';
    const mapping = this.#mappings.of(apart ? tenant : '', async () =>
      this.#host.mapping.resolve(
        mappingOfTenant(this.config.mapping, boundary, presets, tenant),
        presets,
        physicalColumns(api, AbortSignal.timeout(sharedTimeoutMs)),
        this.#writer,
      ),
    );
    return unlessAborted(mapping.catch(explained), signal);
  }

  relation({ tenant, mapping }: Omit<TenantAccess, 'api'>, table: TableName, binding: StatementBinding): string {
    const { boundary } = this.tenancy;
    const rows = { boundary, mapping, style: this.style, value: tenantLiteral(boundary, tenant) };
    const predicate = tenantPredicate(rows, table);
    return this.#host.mapping.relation(mapping, table, { binding, tenant: predicate }, this.#writer);
  }

  /** What BigQuery names when a tenant's tables are read as they should be; anything else in a statement is too much. */
  allowedTables(access: TenantAccess, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const allowed = this.#allowed.of(access.tenant, async () => {
      const now = this.#host.now();
      const binding = { window: { start: new Date(now.getTime() - 3_600_000), end: now } };
      const reads = tableNames
        .filter((table) => access.mapping.tables[table] !== undefined)
        .map((table) => `SELECT 1 FROM ${this.relation(access, table, binding)} AS ${table}`);
      const job = this.job(reads.join(' UNION ALL '), access.tenant);
      const found = await dryRun(access.api, job, AbortSignal.timeout(sharedTimeoutMs));
      return new Set(found.tables);
    });
    return unlessAborted(allowed, signal);
  }

  /** Asks BigQuery for nothing, which costs nothing, twice a minute at most. Rejects when it does not answer. */
  async ping(signal: AbortSignal): Promise<void> {
    const asked = this.#pings.of('', async () => {
      const [tenant] = Object.keys(this.config.connections);
      const api = await this.api(tenant);
      await dryRun(api, this.job('SELECT 1', ''), AbortSignal.timeout(sharedTimeoutMs));
    });
    await unlessAborted(asked, signal);
  }

  job(sql: string, tenant: string, labels = jobLabels(this.config.labels, undefined)): QueryJob {
    const { location, maxBytesBilled, boundary, secureContextKey } = this.config;
    return {
      sql,
      location,
      labels,
      maxBytesBilled,
      ...(boundary === 'secure_context' && { secureContext: { [secureContextKey]: tenant } }),
    };
  }
}

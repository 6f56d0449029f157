import { DatabaseError } from 'pg';
import { SightlineError, type Logger, type OrganizationId } from '../../../src/contract/core/index.ts';
import {
  commonFailures,
  decodeBatches,
  noSpace,
  otelTables,
  tableNames,
  told,
  type LogPosition,
  type TableName,
  type TelemetryBatch,
  type TelemetryLoad,
  type TelemetrySink,
  type Tenancy,
} from '../../../src/contract/telemetry/index.ts';
import { ask } from '../catalog.ts';
import type { PostgresConfig } from '../config.ts';
import { Connections, type Lease } from '../connections.ts';
import { namesOf } from '../layout.ts';
import { poolOf } from '../settings.ts';
import { quoteName } from '../types.ts';
import { positionsTable } from '../setup/tables.ts';
import { CopyIn, copyText } from './copy.ts';

interface Ingest {
  readonly sink: TelemetrySink;
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** What the receiver writes to, where the warehouse is our own. */
export function createSink(config: PostgresConfig, tenancy: Tenancy, logger: Logger): Ingest | undefined {
  const { boundary } = config.tenancy;
  const { enabled, url } = config.ingest;
  if (!enabled || url === undefined || boundary.mode !== 'column') return undefined;
  let connections: Connections | undefined;
  const started = () => {
    if (connections === undefined) throw new Error('not started');
    return connections;
  };
  return {
    sink: new PostgresSink({ connections: started, tenancy, names: namesOf(config), column: boundary.column, logger }),
    async start(signal) {
      connections = new Connections({ ...poolOf(config, logger), client: { connectionString: url } });
      await ask(connections, 'SELECT 1', [], signal);
    },
    async stop() {
      await connections?.end();
    },
  };
}

interface SinkOptions {
  readonly connections: () => Connections;
  readonly tenancy: Tenancy;
  readonly names: Readonly<Record<string, string>>;
  readonly column: string;
  readonly logger: Logger;
}

const loadTimeoutMs = 120_000;
const retainBatch = 20_000;

/** Writes telemetry into tables of our own making, with a login of its own. */
export class PostgresSink implements TelemetrySink {
  readonly #options: SinkOptions;

  constructor(options: SinkOptions) {
    this.#options = options;
  }

  async committed(organizationId: OrganizationId, log: string): Promise<LogPosition | undefined> {
    const tenant = await this.#options.tenancy.tenantOf(organizationId);
    const sql = `SELECT segment, "offset" FROM ${this.#positions} WHERE ${this.#column} = $1 AND log = $2`;
    return await this.#with(organizationId, AbortSignal.timeout(loadTimeoutMs), async ({ client }) => {
      const { rows } = await client.query<[string, string]>({ text: sql, values: [tenant, log], rowMode: 'array' });
      const [row] = rows;
      return row === undefined ? undefined : { segment: Number(row[0]), offset: Number(row[1]) };
    });
  }

  async load(load: TelemetryLoad, signal: AbortSignal): Promise<void> {
    const { organizationId } = load;
    const tenant = await this.#options.tenancy.tenantOf(organizationId);
    const batches = decodeBatches(load.batches);
    const either = AbortSignal.any([signal, AbortSignal.timeout(loadTimeoutMs)]);
    await this.#with(organizationId, either, async (lease) => {
      try {
        await this.#loadOnce(lease, load, batches, tenant, false);
      } catch (error) {
        if (!isBadValue(error)) throw error;
        // Text that JSON and the server read differently, or a name that no index can hold; it must not stop everything
        // that comes after it.
        await lease.client.query('ROLLBACK');
        await this.#loadOnce(lease, load, batches, tenant, true);
      }
    });
  }

  async newest(organizationId: OrganizationId, signal: AbortSignal): Promise<Date | undefined> {
    const tenant = await this.#options.tenancy.tenantOf(organizationId);
    const times = tableNames.map(
      (table) => `(SELECT max("time") FROM ${this.#table(table)} WHERE ${this.#column} = $1)`,
    );
    return await this.#with(organizationId, signal, async ({ client }) => {
      const text = `SELECT extract(epoch FROM greatest(${times.join(', ')})) * 1000`;
      const { rows } = await client.query<[string | null]>({ text, values: [tenant], rowMode: 'array' });
      const ms = rows[0]?.[0] ?? null;
      return ms === null ? undefined : new Date(Number(ms));
    });
  }

  async retain(organizationId: OrganizationId, olderThan: Date, signal: AbortSignal): Promise<number> {
    const tenant = await this.#options.tenancy.tenantOf(organizationId);
    let deleted = 0;
    await this.#with(organizationId, signal, async ({ client }) => {
      for (const table of tableNames) {
        const name = this.#table(table);
        const old = `SELECT ctid FROM ${name} WHERE ${this.#column} = $1 AND "time" < $2 LIMIT ${retainBatch}`;
        // Little by little, so that no transaction holds its locks for long; vacuum frees the space.
        const text = `DELETE FROM ${name} WHERE ctid = ANY (ARRAY(${old})) AND ${this.#column} = $1 AND "time" < $2`;
        for (;;) {
          signal.throwIfAborted();
          const { rowCount } = await client.query(text, [tenant, olderThan]);
          deleted += rowCount ?? 0;
          if ((rowCount ?? 0) < retainBatch) break;
        }
      }
    });
    return deleted;
  }

  /** All rows and the position, or nothing. Nothing too when the log is already there. */
  async #loadOnce(
    { client }: Lease,
    { log, upTo }: TelemetryLoad,
    batches: readonly TelemetryBatch[],
    tenant: string,
    repair: boolean,
  ): Promise<void> {
    await client.query('BEGIN');
    // Locks the position row until the commit, so that the second of two loads of the same rows finds them loaded.
    const advance = `INSERT INTO ${this.#positions} AS p (${this.#column}, log, segment, "offset") VALUES ($1, $2, $3, $4)
      ON CONFLICT (${this.#column}, log) DO UPDATE SET segment = excluded.segment, "offset" = excluded."offset"
      WHERE (p.segment, p."offset") < (excluded.segment, excluded."offset")`;
    const { rowCount } = await client.query(advance, [tenant, log, upTo.segment, upTo.offset]);
    if (rowCount === 0) return;
    for (const batch of batches) {
      const there = await this.#columnsOf(client, batch.table);
      const names = [this.#column, ...[...there].map(quoteName)];
      const copy = new CopyIn(
        `COPY ${this.#table(batch.table)} (${names.join(', ')}) FROM STDIN`,
        copyText(batch, tenant, repair, there),
      );
      client.query(copy);
      await copy.done;
    }
    await client.query('COMMIT');
  }

  /** Of the logical columns: a table of an earlier version lacks some until the set-up is run again. */
  async #columnsOf(client: Lease['client'], table: TableName): Promise<ReadonlySet<string>> {
    const text = 'SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped';
    const { rows } = await client.query<[string]>({ text, values: [this.#table(table)], rowMode: 'array' });
    const there = new Set(rows.flat());
    return new Set(otelTables[table].columns.map(({ name }) => name).filter((name) => there.has(name)));
  }

  async #with<T>(organizationId: OrganizationId, signal: AbortSignal, work: (lease: Lease) => Promise<T>): Promise<T> {
    let lease: Lease | undefined;
    const stop = () => void lease?.abandon();
    try {
      lease = await this.#options.connections().lease(signal);
      signal.addEventListener('abort', stop, { once: true });
      const answer = await work(lease);
      await lease.giveBack();
      return answer;
    } catch (error) {
      await (error instanceof DatabaseError ? lease?.giveBack() : lease?.abandon());
      throw this.#explain(organizationId, error);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #explain(organizationId: OrganizationId, error: unknown): SightlineError {
    if (error instanceof SightlineError) return error;
    if (isBadValue(error)) return told(commonFailures.badBatch, error);
    this.#options.logger.error({ organizationId, error }, 'telemetry could not be written');
    const isFull = error instanceof DatabaseError && error.code === '53100';
    return isFull ? noSpace('this service', error) : told(commonFailures.notWritten, error);
  }

  get #column(): string {
    return quoteName(this.#options.column);
  }

  get #positions(): string {
    return `${quoteName(this.#options.names['schema'] ?? '')}.${positionsTable}`;
  }

  #table(table: (typeof tableNames)[number]): string {
    return `${quoteName(this.#options.names['schema'] ?? '')}.${quoteName(this.#options.names[table] ?? '')}`;
  }
}

/** It lies in the rows, which are wrong or too large: the receiver puts the batch aside and goes on. */
function isBadValue(error: unknown): boolean {
  return error instanceof DatabaseError && /^(?:22|54)/.test(error.code ?? '');
}

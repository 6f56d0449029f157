import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { SightlineError, type OrganizationId } from '../../../src/contract/core/index.ts';
import {
  commonFailures,
  decodeBatches,
  noSpace,
  tableNames,
  told,
  type LogPosition,
  type TableName,
  type TelemetryLoad,
  type TelemetrySink,
  type Tenancy,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { EngineError } from '../client/failures.ts';
import type { Warehouse } from '../client/warehouse.ts';
import { identifier, literal } from '../quote.ts';
import { physicalColumns } from '../types.ts';
import { batchColumn, logColumn, organizationColumn, ownColumns } from '../setup/own-tables.ts';
import { encodeRows } from './encode.ts';
import { afterOthers, insertIdPrefix, missing, rowsByBatch, type LogRows, type Numbered } from './stored.ts';

interface Loaded {
  readonly position: LogPosition | undefined;
  /** How many batches that were: the next one is numbered so. */
  readonly batches: number;
}

function isAfter(a: LogPosition, b: LogPosition | undefined): boolean {
  return b === undefined || a.segment > b.segment || (a.segment === b.segment && a.offset > b.offset);
}

export interface SinkOptions {
  /** Of the account that may write. */
  readonly account: Warehouse;
  readonly tenancy: Tenancy;
  readonly database: string;
  readonly prefix: string;
}

interface LogState extends Loaded {
  /** Rows by number of batch that a load left behind whose position was never written. */
  readonly there: Readonly<Record<TableName, ReadonlyMap<number, number>>>;
}

/** How rows are read that are written as our receiver's batches are. */
const insertSettings = {
  async_insert: 0,
  date_time_input_format: 'best_effort',
  input_format_json_named_tuples_as_objects: 1,
  input_format_json_defaults_for_missing_elements_in_named_tuple: 1,
} as const;

/**
 * Our receiver's rows in tables of our own. ClickHouse has no transaction over several inserts, so every row has its log and
 * batch number: a load that may have been interrupted is first compared with the rows in the table.
 */
export class ClickHouseSink implements TelemetrySink {
  readonly #options: SinkOptions;
  readonly #known = new Map<string, LogState>();

  constructor(options: SinkOptions) {
    this.#options = options;
  }

  async committed(organizationId: OrganizationId, log: string): Promise<LogPosition | undefined> {
    return (await this.#read(organizationId, log)).position;
  }

  async load(load: TelemetryLoad, signal: AbortSignal): Promise<void> {
    const { organizationId, log, upTo } = load;
    const batches = decodeBatches(load.batches);
    const key = JSON.stringify([organizationId, log]);
    const known = this.#known.get(key);
    this.#known.delete(key);
    try {
      const tenant = await this.#options.tenancy.tenantOf(organizationId);
      const state = known ?? (await this.#look(organizationId, tenant, log, signal));
      if (!isAfter(upTo, state.position)) {
        this.#known.set(key, state);
        return;
      }
      const numbered = batches.map((batch, index) => ({ batch, number: state.batches + index }));
      for (const table of tableNames) {
        const rows = this.#rowsOf(table, tenant, log, signal);
        const ofTable = numbered.filter(({ batch }) => batch.table === table && batch.rows > 0);
        const lacking = await missing(rows, ofTable, state.there[table]);
        if (lacking.length > 0) await this.#insert(table, rows, lacking, known === undefined);
      }
      const next = { ...state, position: upTo, batches: state.batches + batches.length };
      await this.#commit(organizationId, log, next, signal);
      this.#known.set(key, next);
    } catch (error) {
      throw loadFailure(error);
    }
  }

  async newest(organizationId: OrganizationId, signal: AbortSignal): Promise<Date | undefined> {
    const own = `${organizationColumn} = ${literal(await this.#options.tenancy.tenantOf(organizationId))}`;
    const times = tableNames.map(
      (table) => `SELECT max(time) AS newest, count() AS n FROM ${this.#path(table)} WHERE ${own}`,
    );
    const all = `SELECT toUnixTimestamp64Milli(toDateTime64(max(newest), 3)) AS ms FROM (${times.join(' UNION ALL ')}) WHERE n > 0`;
    const ms = Number((await this.#options.account.rows(all, signal))[0]?.['ms'] ?? 0);
    return ms > 0 ? new Date(ms) : undefined;
  }

  async retain(organizationId: OrganizationId, olderThan: Date, signal: AbortSignal): Promise<number> {
    const tenant = await this.#options.tenancy.tenantOf(organizationId);
    let deleted = 0;
    const before = `toDateTime64('${olderThan.toISOString().replace('T', ' ').replace('Z', '')}', 3, 'UTC')`;
    for (const table of tableNames) {
      const where = `${organizationColumn} = ${literal(tenant)} AND time < ${before}`;
      // A deletion rewrites every part that it touches.
      const [row] = await this.#options.account.rows(
        `SELECT count() AS n FROM ${this.#path(table)} WHERE ${where}`,
        signal,
      );
      const old = Number(row?.['n'] ?? 0);
      if (old === 0) continue;
      await this.#options.account.run(`ALTER TABLE ${this.#path(table)} DELETE WHERE ${where}`, {
        settings: { mutations_sync: 1 },
        signal,
      });
      deleted += old;
    }
    return deleted;
  }

  async #look(organizationId: OrganizationId, tenant: Tenant, log: string, signal: AbortSignal): Promise<LogState> {
    await afterOthers({ account: this.#options.account, tenant, log, signal });
    const loaded = await this.#read(organizationId, log, signal);
    const there = async (table: TableName) =>
      await rowsByBatch(this.#rowsOf(table, tenant, log, signal), loaded.batches);
    const [spans, metrics, logs] = await Promise.all([there('spans'), there('metrics'), there('logs')]);
    return { ...loaded, there: { spans, metrics, logs } };
  }

  async #insert(table: TableName, rows: LogRows, batches: readonly Numbered[], again: boolean): Promise<void> {
    const { account, path, tenant, log, signal } = rows;
    const { database, prefix } = this.#options;
    // A table of an earlier version lacks some until the set-up is run again.
    const there = await physicalColumns((sql) => account.rows(sql, signal))(`${database}.${prefix}${table}`);
    const columns = ownColumns(table).flatMap(({ name }) => (there?.has(name) === false ? [] : [name]));
    const head = [organizationColumn, logColumn, batchColumn];
    const logical = columns.filter((name) => !head.includes(name));
    const pieces = batches.map(({ batch, number }) =>
      encodeRows(batch, logical, `${JSON.stringify(tenant)},${JSON.stringify(log)},${number},`),
    );
    await account.run(
      `INSERT INTO ${path} (${[...head, ...logical].map(identifier).join(', ')}) FORMAT JSONCompactEachRow`,
      {
        queryId: `${insertIdPrefix(tenant, log)}${randomUUID()}`,
        values: Readable.from(pieces),
        // What was there once and was deleted or lost has to go in, though the engine remembers its like.
        settings: { ...insertSettings, ...(again ? { insert_deduplicate: 0 } : {}) },
        signal,
      },
    );
  }

  async #commit(organizationId: OrganizationId, log: string, { position, batches }: Loaded, signal: AbortSignal) {
    if (position === undefined) throw new TypeError('a load without a position');
    const { segment, offset } = position;
    await this.#options.account.run(
      `INSERT INTO ${this.#path('positions')} (organization, log, segment, offset, batches) FORMAT JSONCompactEachRow`,
      {
        values: Readable.from([Buffer.from(`${JSON.stringify([organizationId, log, segment, offset, batches])}\n`)]),
        settings: { async_insert: 0 },
        signal,
      },
    );
  }

  /** The position table's word; rows of it are only ever added. */
  async #read(organizationId: OrganizationId, log: string, signal?: AbortSignal): Promise<Loaded> {
    const [row] = await this.#options.account.rows(
      `SELECT segment, offset, batches FROM ${this.#path('positions')}
         WHERE organization = ${literal(organizationId)} AND log = ${literal(log)}
         ORDER BY segment DESC, offset DESC LIMIT 1`,
      signal,
    );
    if (row === undefined) return { position: undefined, batches: 0 };
    const { segment, offset, batches } = row;
    return { position: { segment: Number(segment), offset: Number(offset) }, batches: Number(batches) };
  }

  #rowsOf(table: TableName, tenant: Tenant, log: string, signal: AbortSignal): LogRows {
    return { account: this.#options.account, path: this.#path(table), tenant, log, signal };
  }

  #path(table: TableName | 'positions'): string {
    const { database, prefix } = this.#options;
    return `${identifier(database)}.${identifier(`${prefix}${table}`)}`;
  }
}

/** The engine's codes for rows that it can never store: unreadable values, and days of more partitions than a load may have. */
const refused = new Set([6, 25, 26, 27, 38, 41, 53, 72, 117, 130, 131, 190, 252, 321, 407, 467]);

/** The receiver's view of a failure: bad rows, no disk space, or the warehouse's state. */
function loadFailure(error: unknown): SightlineError {
  if (error instanceof SightlineError && error.code === 'invalid_argument') return error;
  const cause = error instanceof SightlineError ? error.cause : error;
  const code = cause instanceof EngineError ? cause.code : undefined;
  if (code !== undefined && refused.has(code)) return told(commonFailures.badBatch, cause);
  return code === 243 ? noSpace('the warehouse', cause) : told(commonFailures.notWritten, cause);
}

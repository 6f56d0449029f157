import { z } from 'zod';
import { type OrganizationId, SightlineError } from '../../../contract/core/index.ts';
import type { Organization } from '../../../contract/storage/index.ts';
import {
  type BatchColumn,
  type ColumnType,
  encodeBatch,
  type LogPosition,
  otelTables,
  type QueryLimits,
  type StatementBinding,
  type TableName,
  tableNames,
  type Telemetry,
  type TelemetrySink,
} from '../../../contract/telemetry/index.ts';

interface TelemetryCopy {
  /** Started, without concurrent loads or deletions. */
  readonly source: Telemetry;
  readonly target: TelemetrySink;
  readonly organization: Pick<Organization, 'id'>;
  /** Names of the organization's ingest logs, of which the source has loaded a part. */
  readonly logs: readonly string[];
  readonly signal: AbortSignal;
  /** 0 to 1, of one table. */
  readonly onProgress?: (table: TableName, fraction: number) => void;
}

/**
 * Copies an organization's telemetry into the warehouse behind the sink, whose own words tell how far it came: run again
 * it goes on there, and copies nothing twice. Answers the rows by table.
 */
export async function copyTelemetry(copy: TelemetryCopy): Promise<Readonly<Record<TableName, number>>> {
  const { source, target, organization, logs, signal } = copy;
  const organizationId = organization.id;
  const reading = new Source(source, organizationId, signal);
  // What the source has of a log, the target gets here; the gateway that goes on with the log loads the rest.
  for (const log of logs) {
    const upTo = await source.sink?.committed(organizationId, log);
    if (upTo !== undefined) await target.load({ organizationId, log, batches: [], upTo }, signal);
  }
  const rows: Record<TableName, number> = { spans: 0, metrics: 0, logs: 0 };
  for (const table of tableNames) {
    rows[table] = await copyTable(copy, reading, table);
  }
  return rows;
}

/** Rows as a cursor serializes them (contract/telemetry.ts), in the order of the table's columns, as the receiver encodes its own. */
function encodeRows(table: TableName, rows: readonly (readonly unknown[])[]): Uint8Array {
  const cells = (index: number) => rows.map((row) => row[index]);
  const columns = otelTables[table].columns.map(({ type }, index) => columnOf(type, cells(index)));
  return encodeBatch({ table, rows: rows.length, columns });
}

function columnOf(type: ColumnType, cells: readonly unknown[]): BatchColumn {
  const valid = cells.includes(null) ? { valid: Uint8Array.from(cells, (cell) => (cell === null ? 0 : 1)) } : {};
  switch (type) {
    case 'timestamp':
      return { kind: 'timestamp', values: BigInt64Array.from(cells, (cell) => micros(cell)), ...valid };
    case 'int64':
      return { kind: 'int64', values: BigInt64Array.from(cells, (cell) => BigInt(text(cell, '0'))), ...valid };
    case 'float64':
      return { kind: 'float64', values: Float64Array.from(cells, (cell) => Number(cell ?? 0)), ...valid };
    case 'boolean':
      return { kind: 'boolean', values: Uint8Array.from(cells, (cell) => (cell === true ? 1 : 0)) };
    case 'string':
      return { kind: 'string', values: cells.map((cell) => text(cell, '')) };
    default:
      return { kind: 'json', values: cells.map((cell) => JSON.stringify(cell ?? (type === 'map' ? {} : []))) };
  }
}

/** Of an RFC 3339 time in UTC, to the microsecond. */
function micros(cell: unknown): bigint {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d{1,6})\d*)?Z$/.exec(text(cell, '1970-01-01T00:00:00Z')) ?? [];
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000n + BigInt(fraction.padEnd(6, '0'));
}

function text(cell: unknown, absent: string): string {
  if (cell === null || cell === undefined) return absent;
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}

const batchRows = 20_000;
const hourMs = 3_600_000;
const loadTimeoutMs = 300_000;

/**
 * Copies one table in the order of time, batch by batch. The target keeps with every batch how far it came: the second of
 * the last row, and how many rows of that second are there. So each batch is decided by the place where it begins and
 * nothing else, and a copy that was killed goes on as if it had not been. Answers how many rows there are.
 */
async function copyTable(copy: TelemetryCopy, source: Source, table: TableName): Promise<number> {
  const { target, signal, onProgress } = copy;
  const organizationId = copy.organization.id;
  const log = `copy-${table}`;
  const whole: Window = {};
  const all = await source.count(table, whole);
  let at = await target.committed(organizationId, log);
  let done = at === undefined ? 0 : (await source.count(table, { end: timeOf(at) })) + at.offset;
  at ??= await startOf(source, table, whole);
  while (at !== undefined) {
    onProgress?.(table, all === 0 ? 1 : done / all);
    signal.throwIfAborted();
    const rows = await nextRows(source, table, at);
    if (rows.length === 0) {
      at = await startOf(source, table, { start: new Date(hourEnd(at)) });
      continue;
    }
    at = after(at, rows);
    done += rows.length;
    const load = { organizationId, log, batches: [encodeRows(table, rows)], upTo: at };
    await target.load(load, AbortSignal.any([signal, AbortSignal.timeout(loadTimeoutMs)]));
  }
  onProgress?.(table, all === 0 ? 1 : done / all);
  return all;
}

/** Of the hour it lies in, so that a few rows are looked at and not all that follow. */
async function nextRows(source: Source, table: TableName, at: LogPosition): Promise<readonly (readonly unknown[])[]> {
  const window = { start: timeOf(at), end: new Date(hourEnd(at)) };
  const left = (await source.count(table, window)) - at.offset;
  if (left <= 0) return [];
  const end = left > batchRows ? await endOf(source, table, window, at.offset + batchRows) : window.end;
  const { columns } = otelTables[table];
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  // By every column: rows that are equal in all of them may stand for each other.
  const order = columns.map((_, index) => index + 1).join(', ');
  const sql = `SELECT ${names} FROM otel.${table} ORDER BY ${order} LIMIT ${batchRows} OFFSET ${at.offset}`;
  const { rows } = await source.ask(sql, { start: window.start, end });
  if (rows.length === 0) throw new SightlineError('conflict', 'The telemetry changes while it is copied.');
  return rows;
}

/** The millisecond behind the row of this number. */
async function endOf(source: Source, table: TableName, window: Window, number: number): Promise<Date> {
  const sql = `SELECT time FROM otel.${table} ORDER BY time LIMIT 1 OFFSET ${number - 1}`;
  const { rows } = await source.ask(sql, window);
  return new Date(Date.parse(String(rows[0]?.[0])) + 1);
}

async function startOf(source: Source, table: TableName, window: Window): Promise<LogPosition | undefined> {
  const first = await source.first(table, window);
  return first === undefined ? undefined : { segment: Math.floor(first.getTime() / 1_000), offset: 0 };
}

function after(at: LogPosition, rows: readonly (readonly unknown[])[]): LogPosition {
  const second = (row: readonly unknown[] | undefined) => Math.floor(Date.parse(String(row?.[0])) / 1_000);
  const segment = second(rows.at(-1));
  const before = rows.findLastIndex((row) => second(row) !== segment);
  return { segment, offset: rows.length - 1 - before + (segment === at.segment ? at.offset : 0) };
}

function timeOf({ segment }: LogPosition): Date {
  return new Date(segment * 1_000);
}

function hourEnd(at: LogPosition): number {
  return (Math.floor(timeOf(at).getTime() / hourMs) + 1) * hourMs;
}

const limits: QueryLimits = {
  maxRows: 1_000_000,
  /** A batch is held in memory several times over. */
  maxBytes: 48 * 1024 * 1024,
  // Above what a record may hold: a cell that was cut would be lost in silence.
  maxCellBytes: 16 * 1024 * 1024,
  timeoutMs: 300_000,
};

const rowsSchema = z.array(z.array(z.unknown()));

type Window = NonNullable<StatementBinding['window']>;

interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there was more than can be held. */
  readonly cut: boolean;
}

/** One organization's telemetry, asked by the way of every query but without rules: all of it is moved. */
class Source {
  readonly #telemetry: Telemetry;
  readonly #organizationId: OrganizationId;
  readonly #signal: AbortSignal;

  constructor(telemetry: Telemetry, organizationId: OrganizationId, signal: AbortSignal) {
    this.#telemetry = telemetry;
    this.#organizationId = organizationId;
    this.#signal = signal;
  }

  async ask(sql: string, window: Window): Promise<Answer> {
    const context = { organizationId: this.#organizationId, signal: this.#signal };
    const checked = this.#telemetry.check(await this.#telemetry.parse(sql, context));
    const rendered = await this.#telemetry.render(checked, { window }, context);
    const cursor = await this.#telemetry.open(rendered, limits, context);
    try {
      const rows: unknown[][] = [];
      for (let chunk = await cursor.read(); chunk !== undefined; chunk = await cursor.read()) {
        rows.push(...rowsSchema.parse(JSON.parse(`[${Buffer.from(chunk.json).toString('utf8')}]`)));
      }
      if ((cursor.end?.cutCells ?? 0) > 0) {
        throw new SightlineError('internal', 'A value is too long to be copied whole.');
      }
      return { rows, cut: cursor.end?.truncated !== undefined };
    } finally {
      await cursor.close();
    }
  }

  async count(table: string, window: Window): Promise<number> {
    const { rows } = await this.ask(`SELECT count(*) FROM otel.${table}`, window);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** The first time in the window. */
  async first(table: string, window: Window): Promise<Date | undefined> {
    const { rows } = await this.ask(`SELECT min(time) FROM otel.${table}`, window);
    const time = rows[0]?.[0];
    return typeof time === 'string' ? new Date(time) : undefined;
  }
}

import { SightlineError } from '../../../contract/core/index.ts';
import { otelTables } from '../../../contract/telemetry/index.ts';
import type { OrganizationId } from '../../../contract/core/index.ts';
import type { LogPosition, TableName, TelemetrySink } from '../../../contract/telemetry/index.ts';
import { encodeRows } from './columns.ts';
import type { Source, Window } from './source.ts';

const batchRows = 20_000;
const hourMs = 3_600_000;
const loadTimeoutMs = 300_000;

export interface TableCopy {
  readonly organizationId: OrganizationId;
  readonly source: Source;
  readonly target: TelemetrySink;
  readonly table: TableName;
  readonly signal: AbortSignal;
  /** Rows that are in the target now, of those in all. */
  readonly onProgress: (done: number, all: number) => void;
}

/**
 * Copies one table in the order of time, batch by batch. The target keeps with every batch how far it came: the second of
 * the last row, and how many rows of that second are there. So each batch is decided by the place where it begins and
 * nothing else, and a copy that was killed goes on as if it had not been. Answers how many rows there are.
 */
export async function copyTable({
  organizationId,
  source,
  target,
  table,
  signal,
  onProgress,
}: TableCopy): Promise<number> {
  const log = `copy-${table}`;
  const whole: Window = {};
  const all = await source.count(table, whole);
  let at = await target.committed(organizationId, log);
  let done = at === undefined ? 0 : (await source.count(table, { end: timeOf(at) })) + at.offset;
  at ??= await startOf(source, table, whole);
  while (at !== undefined) {
    onProgress(done, all);
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
  onProgress(done, all);
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

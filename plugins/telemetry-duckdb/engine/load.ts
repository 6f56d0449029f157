import { BIGINT, BOOLEAN, DOUBLE, DuckDBDataChunk, VARCHAR, type DuckDBConnection } from '@duckdb/node-api';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBatch, type BatchColumn, type TelemetryBatch } from '../../../src/contract/telemetry/batch-codec.ts';
import { repairedJson } from '../../../src/contract/telemetry/repaired-json.ts';
import { otelTables, tableNames, type TableName } from '../../../src/contract/telemetry/schema.ts';
import type { Committed, Newest, Retained } from '../protocol.ts';
import type { Database } from './database.ts';
import type { Job } from './job.ts';
import { positions, stagedType, unstage } from './schema.ts';

const stagingTypes = { BIGINT, DOUBLE, BOOLEAN, VARCHAR } as const;
const chunkRows = 2048;

type Position = NonNullable<Committed['position']>;

export interface Load extends Position {
  readonly log: string;
  readonly batches: readonly Uint8Array[];
}

/** Writes rows: loads and retention, one at a time. */
export class Loader {
  readonly #database: Database;
  #connection: DuckDBConnection | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** By log, of what this process committed last: while it has the file, nobody else writes to it. */
  readonly #positions = new Map<string, Position>();

  constructor(database: Database) {
    this.#database = database;
  }

  async committed(log: string, job: Job): Promise<Committed> {
    return await this.#alone(job, async (connection) => await readPosition(connection, log));
  }

  /** All rows and the position, or nothing. Does nothing when the log is already there. */
  async load(load: Load, job: Job): Promise<void> {
    await this.#alone(job, async (connection) => {
      const batches = decode(load.batches);
      const before = this.#positions.get(load.log) ?? (await readPosition(connection, load.log)).position;
      if (before !== undefined && !isBeyond(load, before)) return;
      // Nothing is known until the commit was answered.
      this.#positions.delete(load.log);
      try {
        await loadOnce(connection, load, batches, before, job);
      } catch (error) {
        if (!isBadValue(error)) throw error;
        // Text that JSON and the engine read differently; it must not stop everything that comes after it.
        await loadOnce(connection, load, batches.map(repaired), before, job).catch((second: unknown) => {
          throw isBadValue(second) ? new BadBatchError('values that cannot be stored', { cause: second }) : second;
        });
      }
      this.#positions.set(load.log, { segment: load.segment, offset: load.offset });
    });
  }

  /** Not in its turn: it only reads, and an empty answer waits for it. */
  async newest(job: Job): Promise<Newest> {
    const connection = await this.#database.connect();
    try {
      job.interruptible(() => connection.interrupt());
      job.check();
      const times = tableNames.map((table) => `SELECT max("time") AS newest FROM otel.${table}`);
      const result = await connection.run(`SELECT epoch_ms(max(newest)) FROM (${times.join(' UNION ALL ')})`);
      const ms = (await result.getRows())[0]?.[0];
      return typeof ms === 'bigint' ? { ms: Number(ms) } : {};
    } finally {
      connection.closeSync();
    }
  }

  /** Deletes what is older, then gives the space back to the file. */
  async retain(beforeMs: number, job: Job): Promise<Retained> {
    return await this.#alone(job, async (connection) => {
      let deleted = 0;
      for (const table of tableNames) {
        job.check();
        const older = `"time" < make_timestamp(${BigInt(Math.floor(beforeMs)) * 1000n})`;
        deleted += (await connection.run(`DELETE FROM otel.${table} WHERE ${older}`)).rowsChanged;
      }
      await checkpoint(connection, job);
      return { deleted };
    });
  }

  /** Nothing may be running. */
  close(): void {
    this.#connection?.closeSync();
    this.#connection = undefined;
  }

  /** A job that is cancelled while it waits leaves at once: the engine would end itself, and with it what runs. */
  async #alone<T>(job: Job, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    try {
      await job.turn(before);
    } catch (error) {
      void before.then(() => resolve(undefined));
      throw error;
    }
    try {
      const connection = (this.#connection ??= await this.#database.connect());
      job.interruptible(() => connection.interrupt());
      return await work(connection);
    } catch (error) {
      // Whatever state it is in, the next one starts afresh; closing rolls back.
      this.#connection?.closeSync();
      this.#connection = undefined;
      throw error;
    } finally {
      resolve(undefined);
    }
  }
}

/** Said of a batch alone: the same bytes would fail at any time. */
export class BadBatchError extends Error {}

function decode(batches: readonly Uint8Array[]): TelemetryBatch[] {
  try {
    return batches.map((bytes) => decodeBatch(bytes));
  } catch (cause) {
    throw new BadBatchError('not an encoded batch', { cause });
  }
}

async function readPosition(connection: DuckDBConnection, log: string): Promise<Committed> {
  const result = await connection.run(`SELECT segment, "offset" FROM ${positions} WHERE log = $1`, [log], [VARCHAR]);
  const [row] = await result.getRows();
  if (row === undefined) return {};
  return { position: { segment: Number(row[0]), offset: Number(row[1]) } };
}

async function loadOnce(
  connection: DuckDBConnection,
  load: Load,
  batches: readonly TelemetryBatch[],
  before: Position | undefined,
  job: Job,
): Promise<void> {
  job.interruptible(() => connection.interrupt());
  await connection.run('BEGIN TRANSACTION');
  try {
    for (const table of tableNames) {
      const own = batches.filter((batch) => batch.table === table);
      if (own.length > 0) await insert(connection, table, own, job);
    }
    job.check();
    await connection.run(
      before
        ? `UPDATE ${positions} SET segment = $2, "offset" = $3 WHERE log = $1`
        : `INSERT INTO ${positions} VALUES ($1, $2, $3)`,
      [load.log, BigInt(load.segment), BigInt(load.offset)],
      [VARCHAR, BIGINT, BIGINT],
    );
    await connection.run('COMMIT');
  } catch (error) {
    job.interruptible(undefined);
    // A commit that failed leaves nothing open; then this says so and no more.
    await connection.run('ROLLBACK').catch(() => {});
    throw error;
  }
  job.interruptible(undefined);
}

function isBeyond(load: Position, position: Position): boolean {
  return load.segment > position.segment || (load.segment === position.segment && load.offset > position.offset);
}

async function insert(
  connection: DuckDBConnection,
  table: TableName,
  batches: readonly TelemetryBatch[],
  job: Job,
): Promise<void> {
  const { columns } = otelTables[table];
  const types = columns.map((column) => stagedType(column.type));
  const staging = `staging_${table}`;
  const definition = columns.map((column, index) => `"${column.name}" ${types[index]}`);
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${staging} (${definition.join(', ')})`);
  const appender = await connection.createAppender(staging, 'main', 'temp');
  try {
    for (const batch of batches) {
      for (let start = 0; start < batch.rows; start += chunkRows) {
        const rows = Math.min(chunkRows, batch.rows - start);
        const chunk = DuckDBDataChunk.create(
          types.map((type) => stagingTypes[type]),
          rows,
        );
        for (const [index, column] of batch.columns.entries()) fill(chunk, index, column, start, rows);
        appender.appendDataChunk(chunk);
        // Queries are answered in between.
        await nextTurn();
        job.check();
      }
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
  const selected = columns.map((column) => unstage(column));
  await connection.run(`INSERT INTO otel.${table} SELECT ${selected.join(', ')} FROM temp.main.${staging}`);
  await connection.run(`DROP TABLE temp.main.${staging}`);
}

function fill(chunk: DuckDBDataChunk, index: number, column: BatchColumn, start: number, rows: number): void {
  const vector = chunk.getColumnVector(index);
  const end = start + rows;
  switch (column.kind) {
    case 'string':
    case 'json':
      for (let row = start; row < end; row += 1) vector.setItem(row - start, column.values[row] ?? '');
      break;
    case 'boolean':
      for (let row = start; row < end; row += 1) vector.setItem(row - start, column.values[row] === 1);
      break;
    default: {
      const { values, valid } = column;
      for (let row = start; row < end; row += 1) {
        vector.setItem(row - start, valid !== undefined && valid[row] === 0 ? null : (values[row] ?? null));
      }
    }
  }
  vector.flush();
}

function isBadValue(error: unknown): boolean {
  return error instanceof Error && /^(Conversion|Invalid Input|Invalid) Error|^Invalid Input/i.test(error.message);
}

function repaired(batch: TelemetryBatch): TelemetryBatch {
  const { columns } = otelTables[batch.table];
  return {
    ...batch,
    columns: batch.columns.map((column, index) => {
      const type = columns[index]?.type;
      if (column.kind !== 'json' || type === undefined) return column;
      return { kind: 'json', values: column.values.map((text) => repairedJson(text, type)) };
    }),
  };
}

async function checkpoint(connection: DuckDBConnection, job: Job): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    job.check();
    try {
      await connection.run('CHECKPOINT');
      return;
    } catch (error) {
      // A query that began before the deletion still reads; the next checkpoint frees what this one cannot.
      if (attempt === 3 || !/checkpoint/i.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

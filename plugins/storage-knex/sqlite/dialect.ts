import { existsSync } from 'node:fs';
import knex, { type Knex } from 'knex';
import { closing, quietly, type PooledConnection } from '../dialect.ts';
import { transact, Turns } from '../transact.ts';
import { AuditBatches } from './audit-batches.ts';
import { NodeSqliteClient } from './client.ts';
import { constraintFault, explain } from './errors.ts';
import { Lookups } from './lookups.ts';
import { ThreadEnded } from './thread.ts';

/** As long as knex waits for a connection. */
const patienceMs = 60_000;

/**
 * SQLite in a file, through the driver that is part of Node: nothing to install and nothing to compile. Every transaction that
 * writes holds the one write lock from its start, and so needs no other.
 */
export function sqlite(filename: string): PooledConnection {
  const writer = connectKnex(filename, { thread: true });
  const reader = connectKnex(filename, { readonly: true });
  const searcher = connectKnex(filename, { readonly: true, thread: true });
  const lookups = new Lookups(filename);
  const batches = new AuditBatches(writer.client);
  const turns = new Turns(patienceMs);
  return {
    writer,
    reader,
    read: (_reach, work) => work(reader),
    search: (_reach, work) => work(searcher),
    // One at a time asks for the connection, so that audit records do not stand in line behind all who write.
    write: (_reach, work) => turns.take('writer', () => transact(writer, 'BEGIN;', work)),
    advance: batches.add.bind(batches),
    claim: async () => {},
    // Its schema changes are part of the transaction too, so a crash in the middle leaves the old schema.
    exclusively: (work) =>
      writer.transaction((knex) =>
        work({ knex, apply: (_name, up, record) => up(knex).then(record), secure: async () => {} }),
      ),
    snapshot: (work) => snapshot(filename, work),
    fill: (work) => writer.transaction(work),
    inspect: (work) => inspect(filename, reader, work),
    lookup: (sql) => lookups.prepare(sql),
    fault: constraintFault,
    setback: (error) => (error instanceof ThreadEnded ? 'lost' : undefined),
    explain: (error) => explain(error, filename),
    concerns: async () => [],
    async close() {
      lookups.close();
      // The writer last: only who may write can fold the log into the file and remove it.
      await Promise.all([reader.destroy(), searcher.destroy()]);
      await writer.destroy();
    },
  };
}

/** A file that does not exist is inspected as an empty database, and not created. */
async function inspect<Result>(filename: string, reader: Knex, work: (db: Knex) => Promise<Result>): Promise<Result> {
  if (existsSync(filename)) return work(reader);
  return closing(connectKnex(':memory:', { readonly: true }), work);
}

/** On a connection of its own: readers of the pool see what is written meanwhile. */
function snapshot<Result>(filename: string, work: (db: Knex) => Promise<Result>): Promise<Result> {
  return closing(connectKnex(filename, { readonly: true }), async (knex) => {
    // Not by knex's own transaction, which asks for the write lock.
    await knex.raw('BEGIN DEFERRED');
    return work(knex);
  });
}

/**
 * One connection each for writing, reading and searching. There is one write lock, and reads are synchronous, so more would
 * bring no parallel work; but a read must not queue behind a write that waits for another process. What
 * searches ends with its thread when nobody has searched for a while.
 */
function connectKnex(filename: string, options: { readonly readonly?: boolean; readonly thread?: boolean }): Knex {
  return knex({
    client: NodeSqliteClient,
    connection: { filename, options },
    useNullAsDefault: true,
    ...quietly,
    pool: { min: options.readonly && options.thread ? 0 : 1, max: 1 },
  });
}

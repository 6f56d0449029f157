import type { DatabaseSync, StatementSync } from 'node:sqlite';
import knex from 'knex';
import type { Dialect } from '../dialect.ts';
import { NodeSqliteClient } from './client.ts';
import { constraintFault, explain } from './errors.ts';
import { openDatabase } from './open.ts';

/** SQLite in a file, through the driver that is part of Node: nothing to install and nothing to compile. */
export function sqlite(filename: string): Dialect {
  return {
    connect() {
      const database = knex({
        client: NodeSqliteClient,
        connection: { filename },
        useNullAsDefault: true,
        // Its errors go to the log, where the values of a failed statement (hashes, sealed keys, messages) have no place.
        compileSqlOnError: false,
        // The driver is synchronous: a second connection would bring no parallel work, only a lock to wait for.
        pool: { min: 0, max: 1 },
        log: { warn: () => {}, error: () => {}, debug: () => {}, deprecate: () => {} },
      });
      const lookups = new Lookups(filename);
      return {
        knex: database,
        // Its schema changes are part of the transaction too, so a crash in the middle leaves the old schema.
        exclusively: (work) => database.transaction(work),
        lookup: (sql) => lookups.prepare(sql),
        fault: constraintFault,
        explain: (error) => explain(error, filename),
        async close() {
          lookups.close();
          await database.destroy();
        },
      };
    },
  };
}

/**
 * Prepared statements on a connection of their own, outside knex: a tenth of the time, and never inside somebody's open
 * transaction. Each call is its own read, so it sees the newest commit of any process.
 */
class Lookups {
  readonly #filename: string;
  #connection: DatabaseSync | undefined;
  #closed = false;

  constructor(filename: string) {
    this.#filename = filename;
  }

  prepare(sql: string) {
    let statement: StatementSync | undefined;
    return (...values: readonly string[]) => {
      statement ??= this.#open().prepare(sql);
      return statement.get(...values);
    };
  }

  #open(): DatabaseSync {
    if (this.#closed) throw new Error('the storage was stopped');
    // Readers wait only while a crashed process's log is recovered.
    this.#connection ??= openDatabase(this.#filename, { blockingMs: 1_000, readOnly: true });
    return this.#connection;
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }
}

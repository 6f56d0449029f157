import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { maxTreeBytes } from '../protocol.ts';
import type { Database } from './database.ts';
import type { Job } from './job.ts';

interface Grammar {
  readonly connection: DuckDBConnection;
  readonly parse: DuckDBPreparedStatement;
}

export interface Reading {
  /** json_serialize_sql's answer, which is an object with `error: true` for what does not parse. */
  readonly tree: string;
  /** What json_deserialize_sql makes of the tree; undefined where it is of no statement, or too large. */
  readonly written?: string | undefined;
  /** json_serialize_sql's answer for that. */
  readonly writtenTree?: string | undefined;
}

/** All that the gate needs of the engine, in one go: to ask costs more than to answer. */
const question = `SELECT tree, written, json_serialize_sql(written) FROM (
  SELECT tree, CASE WHEN starts_with(tree, '{"error":false,"statements":[{') AND strlen(tree) <= ${maxTreeBytes}
    THEN json_deserialize_sql(tree) END AS written
  FROM (SELECT json_serialize_sql($1::VARCHAR) AS tree))`;

/** What the gate needs of the engine's grammar. Reads no table. */
export class Statements {
  readonly #database: Database;
  /** Connections that are free, with what is asked of them prepared: planning it costs more than answering it. */
  readonly #free: Grammar[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** Throws the engine's error where it cannot write a tree that it read. */
  async parse(sql: string, job: Job): Promise<Reading> {
    const grammar = this.#free.pop() ?? (await this.#open());
    try {
      job.interruptible(() => grammar.connection.interrupt());
      job.check();
      grammar.parse.bindVarchar(1, sql);
      // Its one chunk is there already; to fetch it would be two more turns of the thread pool.
      const [row = []] = (await grammar.parse.run()).getChunk(0).getRows();
      const [tree, written, writtenTree] = row.map((value) => (typeof value === 'string' ? value : undefined));
      if (tree === undefined) throw new Error('the engine did not answer with text');
      job.interruptible(undefined);
      this.#free.push(grammar);
      return { tree, written, writtenTree };
    } catch (error) {
      grammar.connection.closeSync();
      throw error;
    }
  }

  close(): void {
    for (const { connection } of this.#free.splice(0)) connection.closeSync();
  }

  async #open(): Promise<Grammar> {
    const connection = await this.#database.connect();
    return { connection, parse: await connection.prepare(question) };
  }
}

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { maxTreeBytes } from '../protocol.ts';
import type { Database } from './database.ts';
import type { Job } from './job.ts';

interface Grammar {
  readonly connection: DuckDBConnection;
  readonly parse: DuckDBPreparedStatement;
}

/** All in one go, and in one value: to ask, and to read what comes, costs more than to answer. JSON has no line feeds. */
const question = `SELECT concat_ws(chr(10), tree, json_serialize_sql(written), written) FROM (
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

  /** The answer to `parse`. Throws the engine's error where it cannot write a tree that it read. */
  async parse(sql: string, job: Job): Promise<string> {
    const grammar = this.#free.pop() ?? (await this.#open());
    try {
      job.interruptible(() => grammar.connection.interrupt());
      job.check();
      grammar.parse.bindVarchar(1, sql);
      // Its one chunk is there already; to fetch it would be two more turns of the thread pool.
      const [answer] = (await grammar.parse.run()).getChunk(0).getColumnValues(0);
      if (typeof answer !== 'string') throw new Error('the engine did not answer with text');
      job.interruptible(undefined);
      this.#free.push(grammar);
      return answer;
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

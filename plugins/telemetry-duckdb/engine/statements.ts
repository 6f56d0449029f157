import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import type { Database } from './database.ts';
import type { Job } from './job.ts';

interface Grammar {
  readonly connection: DuckDBConnection;
  readonly parse: DuckDBPreparedStatement;
  readonly render: DuckDBPreparedStatement;
}

/** What the gate needs of the engine's grammar. Reads no table. */
export class Statements {
  readonly #database: Database;
  /** Connections that are free, with what is asked of them prepared: planning it costs more than answering it. */
  readonly #free: Grammar[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** json_serialize_sql's answer, which is an object with `error: true` for what does not parse. */
  async parse(sql: string, job: Job): Promise<string> {
    const [tree] = await this.#ask('parse', sql, job);
    return tree;
  }

  /** The SQL of a tree, and the tree that is read in that SQL. */
  async render(tree: string, job: Job): Promise<{ readonly sql: string; readonly tree: string }> {
    const [sql, again] = await this.#ask('render', tree, job);
    return { sql, tree: again };
  }

  close(): void {
    for (const { connection } of this.#free.splice(0)) connection.closeSync();
  }

  async #ask(what: 'parse' | 'render', argument: string, job: Job): Promise<readonly [string, string]> {
    const grammar = this.#free.pop() ?? (await this.#open());
    try {
      job.interruptible(() => grammar.connection.interrupt());
      job.check();
      const statement = grammar[what];
      statement.bindVarchar(1, argument);
      const [row] = await (await statement.run()).getRows();
      const [first, last = ''] = row ?? [];
      if (typeof first !== 'string' || typeof last !== 'string') throw new Error('the engine did not answer with text');
      job.interruptible(undefined);
      this.#free.push(grammar);
      return [first, last];
    } catch (error) {
      grammar.connection.closeSync();
      throw error;
    }
  }

  async #open(): Promise<Grammar> {
    const connection = await this.#database.connect();
    return {
      connection,
      parse: await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)'),
      render: await connection.prepare(
        'SELECT written, json_serialize_sql(written) FROM (SELECT json_deserialize_sql($1::VARCHAR::JSON) AS written)',
      ),
    };
  }
}

import { VARCHAR, type DuckDBConnection } from '@duckdb/node-api';
import type { Database } from './database.ts';
import type { Job } from './job.ts';

/** What the gate needs of the engine's grammar. Reads no table. */
export class Statements {
  readonly #database: Database;
  /** Connections that are free; parsing leaves nothing behind in one. */
  readonly #free: DuckDBConnection[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** json_serialize_sql's answer, which is an object with `error: true` for what does not parse. */
  async parse(sql: string, job: Job): Promise<string> {
    return await this.#ask('SELECT json_serialize_sql($1::VARCHAR)', sql, job);
  }

  /** The SQL of a tree. */
  async render(tree: string, job: Job): Promise<string> {
    return await this.#ask('SELECT json_deserialize_sql($1::VARCHAR::JSON)', tree, job);
  }

  close(): void {
    for (const connection of this.#free.splice(0)) connection.closeSync();
  }

  async #ask(query: string, argument: string, job: Job): Promise<string> {
    const connection = this.#free.pop() ?? (await this.#database.connect());
    try {
      job.interruptible(() => connection.interrupt());
      job.check();
      const result = await connection.run(query, [argument], [VARCHAR]);
      const [row] = await result.getRows();
      const answer = row?.[0];
      if (typeof answer !== 'string') throw new Error('the engine did not answer with text');
      job.interruptible(undefined);
      this.#free.push(connection);
      return answer;
    } catch (error) {
      connection.closeSync();
      throw error;
    }
  }
}

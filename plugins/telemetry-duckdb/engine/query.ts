import {
  StatementType,
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBDataChunk,
} from '@duckdb/node-api';
import { RowTexts } from '../../../src/contract/telemetry/cells.ts';
import { maxTreeBytes, type RowLimits, type RowsHeader } from '../protocol.ts';
import type { Database } from './database.ts';
import type { Job } from './job.ts';
import { cellWriter, type CellWriter } from './cells.ts';

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

/** Takes in the chunk's rows. False once a limit is met, and the rest is not wanted. */
function addRows(rows: RowTexts, chunk: DuckDBDataChunk): boolean {
  const writers: CellWriter[] = [];
  for (let column = 0; column < chunk.columnCount; column += 1) {
    writers.push(cellWriter(chunk.getColumnVector(column), rows.budget));
  }
  for (let row = 0; row < chunk.rowCount; row += 1) {
    if (!rows.next()) return false;
    let text = '[';
    for (const write of writers) text += text === '[' ? write(row) : `,${write(row)}`;
    if (!rows.add(`${text}]`)) return false;
  }
  return true;
}

/** Not one SELECT. The gate has seen to that before; this is what holds without it. */
export class NotSelectError extends Error {}

/** Bytes of rows after which a part is sent. */
const partBytes = 256 * 1024;

/**
 * Runs one SELECT in a read-only transaction of its own. `send` gets the parts, the last one with an `end`. What is returned
 * ends the transaction, which nobody has to wait for: neither who asked nor whose turn is next.
 */
export async function runQuery(
  database: Database,
  sql: string,
  limits: RowLimits,
  job: Job,
  send: (header: RowsHeader, rows: string) => void,
): Promise<() => Promise<void>> {
  const connection = await database.connect();
  const end = async () => {
    // Also ends a result that was left early, whose transaction would live on until it is collected as garbage.
    await connection.run('ROLLBACK').catch(() => {});
    job.interruptible(undefined);
    connection.closeSync();
  };
  try {
    job.interruptible(() => connection.interrupt());
    await connection.run('BEGIN TRANSACTION READ ONLY');
    const statement = await prepare(connection, sql);
    job.check();
    const result = await statement.stream();
    let columns: RowsHeader['columns'] = result.columnNames().map((name, index) => ({
      name,
      type: result.columnType(index).toString(),
    }));
    const serializer = new RowTexts(limits);
    for (;;) {
      job.check();
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      if (!addRows(serializer, chunk)) break;
      if (serializer.pendingBytes >= partBytes) {
        const { rows, json } = serializer.take();
        send({ ...(columns && { columns }), rows }, json);
        columns = undefined;
      }
    }
    const { rows, json } = serializer.take();
    send({ ...(columns && { columns }), rows, end: serializer.end }, json);
    return end;
  } catch (error) {
    await end();
    throw error;
  }
}

async function prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new NotSelectError(`${statements.count} statements`);
  const statement = await statements.prepare(0);
  if (statement.statementType !== StatementType.SELECT) {
    throw new NotSelectError(`statement of type ${statement.statementType}`);
  }
  if (statement.parameterCount !== 0) throw new NotSelectError('a statement with parameters');
  return statement;
}

import { StatementType, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import type { RowLimits, RowsHeader } from '../protocol.ts';
import type { Database } from './database.ts';
import type { Job } from './job.ts';
import { RowSerializer } from './serialize.ts';

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
    const serializer = new RowSerializer(limits);
    for (;;) {
      job.check();
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      if (!serializer.add(chunk)) break;
      if (serializer.pendingBytes >= partBytes) {
        const { rows, json } = serializer.take();
        send({ ...(columns && { columns }), rows }, json);
        columns = undefined;
      }
    }
    const { rows, json } = serializer.take();
    const { truncated, cutCells } = serializer;
    send({ ...(columns && { columns }), rows, end: { ...(truncated && { truncated }), cutCells } }, json);
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

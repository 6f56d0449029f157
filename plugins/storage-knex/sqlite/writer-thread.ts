import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { execute } from './execute.ts';
import type { Answer, Statement } from './execute.ts';
import { openDatabase } from './open.ts';
import type { Failure, Reply, ThreadOptions } from './threaded.ts';

const { filename, blockingMs }: ThreadOptions = workerData;
let connection: DatabaseSync | undefined;

function reply(work: () => Answer | undefined): void {
  let said: Reply;
  try {
    const answer = work();
    said = { answer, inTransaction: connection?.isTransaction === true };
  } catch (error) {
    said = { failure: failureOf(error), inTransaction: connection?.isTransaction === true };
  }
  parentPort?.postMessage(said);
}

/** An error that crosses threads keeps its message alone. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { errcode, errstr, code } = error as Error & { errcode?: unknown; errstr?: unknown; code?: unknown };
  return {
    message: error.message,
    ...(typeof errcode === 'number' && { errcode }),
    ...(typeof errstr === 'string' && { errstr }),
    ...(typeof code === 'string' && { code }),
  };
}

reply(() => {
  connection = openDatabase(filename, { blockingMs, readOnly: false });
  return undefined;
});

parentPort?.on('message', (statement: Statement | undefined) => {
  if (statement !== undefined) {
    reply(() => (connection === undefined ? undefined : execute(connection, statement)));
    return;
  }
  connection?.close();
  parentPort?.close();
});

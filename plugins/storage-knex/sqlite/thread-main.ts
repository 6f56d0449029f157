import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { execute, type Answer, type Task, failureOf } from './execute.ts';
import { openDatabase } from './open.ts';
import type { Reply, ThreadOptions } from './thread.ts';

// It imports nothing of the contract: each command that writes waits for these modules to load a second time.

const { filename, blockingMs, readOnly }: ThreadOptions = workerData;
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

reply(() => {
  connection = openDatabase(filename, { blockingMs, readOnly });
  return undefined;
});

parentPort?.on('message', (task: Task | undefined) => {
  if (task !== undefined) {
    reply(() => (connection === undefined ? undefined : execute(connection, task)));
    return;
  }
  connection?.close();
  parentPort?.close();
});

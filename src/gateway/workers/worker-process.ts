import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { type Assignment, assignmentVariable, type FromPrimary, fromWorker, type FromWorker } from './seat.ts';

/** It ended before it served. What there is to say it has said itself. */
export class WorkerFailed extends Error {
  /** The exit code; undefined when a signal ended it. */
  readonly code: number | undefined;

  constructor(code: number | undefined) {
    super('a worker process did not start');
    this.name = 'WorkerFailed';
    this.code = code;
  }
}

/** A child that serves requests, from its start to its end. */
export class WorkerProcess {
  readonly #worker: Worker;
  /** Rejects with WorkerFailed. */
  readonly serving: Promise<void>;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;

  constructor(assignment: Assignment, hear: (message: FromWorker, from: WorkerProcess) => void) {
    this.#worker = cluster.fork({ [assignmentVariable]: JSON.stringify(assignment) });
    const serving = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<string>();
    this.serving = serving.promise;
    this.serving.catch(() => undefined);
    this.ended = ended.promise;
    this.#worker.on('message', (received) => {
      const message = fromWorker.parse(received);
      if (message.kind === 'serving') serving.resolve();
      else hear(message, this);
    });
    const end = (how: string, code?: number): void => {
      serving.reject(new WorkerFailed(code));
      ended.resolve(how);
    };
    this.#worker.on('exit', (code: number, signal: string | null) =>
      end(signal ?? `code ${code}`, signal === null ? code : undefined),
    );
    this.#worker.on('error', (error) => {
      // The system had no process to give; there is no exit then. Others are of the channel, and the exit tells them.
      if (this.#worker.process.pid === undefined) end(error.message);
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  tell(message: FromPrimary): void {
    if (this.#worker.isConnected()) this.#worker.process.send(message, undefined, {}, () => undefined);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

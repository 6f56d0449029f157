import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Answer, type Task, errorOf, type Failure } from './execute.ts';

export interface ThreadOptions {
  readonly filename: string;
  readonly blockingMs: number;
  readonly readOnly: boolean;
}

/** What the thread sends: first that the file is open, then one reply for each task, in their order. */
export type Reply =
  | { readonly answer: Answer | undefined; readonly inTransaction: boolean }
  | { readonly failure: Failure; readonly inTransaction: boolean };

/** What was in flight may be committed or not. */
export class ThreadEnded extends Error {
  constructor(cause: unknown) {
    super('the thread of the connection has ended', { cause });
    this.name = 'ThreadEnded';
  }
}

interface Waiting {
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** A connection on a thread of its own (thread-main.ts): neither fsyncs nor long reads block the event loop. */
export class ThreadConnection {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;
  isTransaction = false;

  private constructor(options: ThreadOptions) {
    // The checkout runs this very file, the package a compiled one.
    const url = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(url, { workerData: options, execArgv: [] });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    const end = (cause: unknown): void => this.#end(new ThreadEnded(cause));
    this.#worker.on('error', end);
    this.#worker.on('exit', end);
  }

  /** Rejects as opening the file here would. */
  static async open(options: ThreadOptions): Promise<ThreadConnection> {
    const connection = new ThreadConnection(options);
    try {
      await connection.#next();
      return connection;
    } catch (error) {
      await connection.#worker.terminate();
      throw error;
    }
  }

  get works(): boolean {
    return this.#ended === undefined;
  }

  run(task: Task): Promise<Answer | undefined> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#worker.postMessage(task);
    return this.#next();
  }

  /** An open transaction is rolled back. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.ref();
    this.#worker.postMessage(undefined);
    await closed;
  }

  #next(): Promise<Answer | undefined> {
    // A process lives as long as something is being done, and not for the thread's sake.
    this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    this.isTransaction = reply.inTransaction;
    if ('failure' in reply) waiting?.reject(errorOf(reply.failure));
    else waiting?.resolve(reply.answer);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.isTransaction = false;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

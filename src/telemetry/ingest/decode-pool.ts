import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Signal } from './fields.ts';
import { type Decoded, type Encoding, decodeRequest } from './decode.ts';

/** Above, decoding would hold the event loop for more than a few milliseconds. */
const inlineBytes = { protobuf: 1024 * 1024, json: 256 * 1024 } as const satisfies Record<Encoding, number>;
const workerHeapMb = 1024;
const idleMs = 30_000;

export interface DecodeJob {
  readonly id: number;
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly nowMs: number;
  readonly oldestMs: number;
}

export interface DecodeReply {
  readonly id: number;
  readonly decoded: Decoded;
}

interface Pending {
  readonly resolve: (decoded: Decoded) => void;
  readonly reject: (error: Error) => void;
}

/** Decodes small requests at once, and large ones on a thread that is started for them and ends when none come. */
export class DecodePool {
  #worker: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;

  async decode(
    signal: Signal,
    encoding: Encoding,
    body: Uint8Array,
    nowMs: number,
    oldestMs: number,
  ): Promise<Decoded> {
    if (body.length <= inlineBytes[encoding]) return decodeRequest(signal, encoding, body, nowMs, oldestMs);
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#spawn());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      // Copied, since a body may share its memory with others.
      const job: DecodeJob = { id, signal, encoding, body: Uint8Array.from(body), nowMs, oldestMs };
      worker.postMessage(job, [job.body.buffer]);
    });
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #spawn(): Worker {
    // The checkout runs this very file, the package a compiled one.
    const url = new URL(`./decode-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: workerHeapMb }, execArgv: [] });
    worker.unref();
    worker.on('message', ({ id, decoded }: DecodeReply) => {
      this.#pending.get(id)?.resolve(decoded);
      this.#pending.delete(id);
      if (this.#pending.size > 0) return;
      this.#idle = setTimeout(() => void this.stop(), idleMs);
      this.#idle.unref();
    });
    const lost = (cause: unknown) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#pending.values()) reject(new Error('the decoder thread ended', { cause }));
      this.#pending.clear();
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    return worker;
  }
}

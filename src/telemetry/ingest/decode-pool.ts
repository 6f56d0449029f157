import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import { createWorkQueue } from '../../limits/work-queue.ts';
import type { Signal } from './fields.ts';
import { type Decoded, type Encoding, decodeRequest } from './decode.ts';
import { work } from './limits.ts';

/** Above, or with more work than `work.inline`, decoding would hold the event loop for more than a few milliseconds. */
const inlineBytes = { protobuf: 512 * 1024, json: 256 * 1024 } as const satisfies Record<Encoding, number>;
const workerHeapMb = 1024;
const idleMs = 30_000;
/** No more requests than these are in memory (body.ts). */
const mostWaiting = 512;

export interface DecodeJob {
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly nowMs: number;
  readonly oldestMs: number;
}

interface Pending {
  readonly resolve: (decoded: Decoded) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Decodes cheap requests at once, and costly ones on a thread that is started for them and ends when none come: one at a time,
 * organizations in turn.
 */
export class DecodePool {
  #worker: Worker | undefined;
  #stopped = false;
  readonly #turns = createWorkQueue({
    atOnce: 1,
    mostWaiting,
    full: () => new SightlineError('unavailable', 'Too many large requests wait to be decoded.'),
  });
  #pending: Pending | undefined;
  #idle: NodeJS.Timeout | undefined;

  async decode(
    organizationId: OrganizationId,
    signal: Signal,
    encoding: Encoding,
    body: Uint8Array,
    nowMs: number,
    oldestMs: number,
  ): Promise<Decoded> {
    if (body.length <= inlineBytes[encoding]) {
      const decoded = decodeRequest(signal, encoding, body, nowMs, oldestMs, work.inline);
      if (decoded.ok || decoded.refused !== 'tooMuchWork') return decoded;
    }
    return this.#turns.run({ lane: 'known', party: organizationId }, () =>
      this.#decodeApart({ signal, encoding, nowMs, oldestMs }, body),
    );
  }

  /** For good: what waits is not decoded. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#end();
  }

  #decodeApart(request: Omit<DecodeJob, 'body'>, body: Uint8Array): Promise<Decoded> {
    if (this.#stopped) throw new Error('the decoder was stopped');
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#spawn());
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      // Copied, since a body may share its memory with others.
      const job: DecodeJob = { ...request, body: Uint8Array.from(body) };
      worker.postMessage(job, [job.body.buffer]);
    });
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#pending?.reject(new Error('the decoder was stopped'));
    this.#pending = undefined;
    await worker?.terminate();
  }

  #spawn(): Worker {
    // The checkout runs this very file, the package a compiled one.
    const url = new URL(`./decode-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: workerHeapMb }, execArgv: [] });
    worker.unref();
    worker.on('message', (decoded: Decoded) => {
      this.#pending?.resolve(decoded);
      this.#pending = undefined;
      this.#idle = setTimeout(() => void this.#end(), idleMs);
      this.#idle.unref();
    });
    const lost = (cause: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#pending?.reject(new Error('the decoder thread ended', { cause }));
      this.#pending = undefined;
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    return worker;
  }
}

import { connect, type Socket } from 'node:net';
import { frame, frameKind, FrameReader, type Frame } from './frames.ts';
import type { Failure, Request } from './protocol.ts';

/** The engine answered that it could not. */
export class EngineFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'EngineFailure';
    this.failure = failure;
  }
}

/** The engine process ended, or was ended, before it answered. */
export class EngineLost extends Error {
  constructor(message = 'the engine process ended') {
    super(message);
    this.name = 'EngineLost';
  }
}

/** The caller left, or the time was up; the engine's work was stopped. */
export class Stopped extends Error {
  readonly reason: 'timeout' | 'cancelled';
  constructor(reason: 'timeout' | 'cancelled') {
    super(reason);
    this.name = 'Stopped';
    this.reason = reason;
  }
}

export interface Reply<Header> {
  readonly header: Header;
  readonly payload: Buffer;
}

export interface RequestOptions<Header> {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
  readonly payload?: readonly Uint8Array[];
  readonly onPart?: (part: Reply<Header>) => void;
}

interface Pending {
  part(received: Frame): void;
  reply(received: Frame): void;
  fail(error: Error): void;
}

/** How long a stopped request may go on before the process is killed. The engine does so itself a little earlier. */
const killAfterMs = 1_500;

/** One gateway's connection to one engine process. */
export class Channel {
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #open = true;
  /** Ends the engine process at once. Set by whoever knows which it is. */
  kill: () => void = () => {};
  /** Somebody else needs the engine's place. Set by whoever uses it. */
  leave: () => void = () => {};
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader((received) => this.#receive(received));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#open = false;
        for (const pending of this.#pending.values()) pending.fail(new EngineLost());
        this.#pending.clear();
        resolve();
      });
    });
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk);
      } catch {
        socket.destroy();
      }
    });
  }

  /** Rejects when nobody listens there. */
  static async connect(path: string): Promise<Channel> {
    return await new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Channel(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Rejects with EngineFailure, EngineLost or Stopped. */
  async request<Header>(request: Request, options: RequestOptions<Header>): Promise<Reply<Header>> {
    const { signal, timeoutMs, payload = [], onPart } = options;
    if (!this.#open) throw new EngineLost();
    if (signal?.aborted) throw new Stopped(stopReason(signal));
    const id = this.#nextId;
    this.#nextId = id === 0xffffffff ? 1 : id + 1;

    return await new Promise((resolve, reject) => {
      let stopped: Stopped | undefined;
      let killer: NodeJS.Timeout | undefined;
      const finish = () => {
        clearTimeout(timer);
        clearTimeout(killer);
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(id);
      };
      const stop = (reason: Stopped['reason']) => {
        if (stopped) return;
        stopped = new Stopped(reason);
        this.#write(frame(id, frameKind.cancel, {}));
        killer = setTimeout(() => {
          this.kill();
          this.#socket.destroy();
        }, killAfterMs);
      };
      const timer = setTimeout(() => stop('timeout'), timeoutMs);
      const onAbort = () => stop(signal ? stopReason(signal) : 'cancelled');
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, {
        part: (received) => {
          if (!stopped) onPart?.({ header: JSON.parse(received.header), payload: received.payload });
        },
        reply: (received) => {
          finish();
          resolve({ header: JSON.parse(received.header), payload: received.payload });
        },
        fail: (error) => {
          finish();
          reject(stopped ?? error);
        },
      });
      this.#write(frame(id, frameKind.request, request, payload));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #write(pieces: readonly Uint8Array[]): void {
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #receive(received: Frame): void {
    if (received.kind === frameKind.leave) return this.leave();
    const pending = this.#pending.get(received.id);
    if (pending === undefined) return;
    if (received.kind === frameKind.part) pending.part(received);
    else if (received.kind === frameKind.reply) pending.reply(received);
    else if (received.kind === frameKind.failure) pending.fail(new EngineFailure(JSON.parse(received.header)));
  }
}

function stopReason(signal: AbortSignal): Stopped['reason'] {
  const { reason } = signal;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}

import { Stopped } from '../../src/contract/core/index.ts';
import { connect, type Socket } from 'node:net';
import { frame, frameKind, FrameReader, writeFrame, type Frame, type Failure, type Request } from './protocol.ts';

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

/** How long a caller waits for a stopped request. The engine ends itself a little earlier if the statement does not stop. */
const answerMs = 1_500;
/** When an engine that says nothing to a stop is killed. A load on a busy machine keeps it from reading for seconds. */
const silenceMs = 15_000;

interface Line {
  cancel(): void;
  /** Ends the engine process and the connection to it. */
  kill(): void;
  forget(): void;
}

interface Pending {
  readonly id: number;
  part(received: Frame): void;
  answer(received: Frame): void;
  fail(error: Error): void;
}

export class Asked<Header> implements Pending {
  readonly id: number;
  readonly reply: Promise<Reply<Header>>;
  readonly #settle: { resolve(reply: Reply<Header>): void; reject(error: Error): void };
  readonly #options: RequestOptions<Header>;
  readonly #line: Line;
  readonly #timer: NodeJS.Timeout;
  readonly #watch: NodeJS.Timeout[] = [];
  #stopped: Stopped | undefined;
  #done = false;

  constructor(id: number, options: RequestOptions<Header>, line: Line) {
    this.id = id;
    const { promise, ...settle } = Promise.withResolvers<Reply<Header>>();
    this.reply = promise;
    this.#settle = settle;
    this.#options = options;
    this.#line = line;
    this.#timer = setTimeout(() => this.stop('timeout'), options.timeoutMs);
    options.signal?.addEventListener('abort', this, { once: true });
  }

  handleEvent(): void {
    const { signal } = this.#options;
    this.stop(signal ? stopReason(signal) : 'cancelled');
  }

  /** Asks the engine to stop the statement, and kills the engine if it stays silent. */
  stop(reason: Stopped['reason']): void {
    if (this.#stopped || this.#done) return;
    const stopped = new Stopped(reason);
    this.#stopped = stopped;
    this.#line.cancel();
    this.#watch.push(
      setTimeout(() => this.#settle.reject(stopped), answerMs),
      setTimeout(() => this.#line.kill(), silenceMs),
    );
  }

  part({ header, payload }: Frame): void {
    if (!this.#stopped) this.#options.onPart?.({ header: JSON.parse(header), payload });
  }

  answer({ header, payload }: Frame): void {
    this.#finish();
    this.#settle.resolve({ header: JSON.parse(header), payload });
  }

  fail(error: Error): void {
    this.#finish();
    this.#settle.reject(this.#stopped ?? error);
  }

  #finish(): void {
    this.#done = true;
    clearTimeout(this.#timer);
    for (const timer of this.#watch) clearTimeout(timer);
    this.#options.signal?.removeEventListener('abort', this);
    this.#line.forget();
  }
}

export class Channel {
  readonly #socket: Socket;
  /**
   * A few. Not a map by id: at this turnover V8 rehashes it often and links each old table to the next, so that their entries
   * live until a full collection.
   */
  readonly #pending: Pending[] = [];
  #nextId = 1;
  #open = true;
  /** Ends the engine process at once. Set once the process is known. */
  kill: () => void = () => {};
  /** Called when another organization needs the engine's seat. Set by the engine's user. */
  leave: () => void = () => {};
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader((received) => this.#receive(received));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#open = false;
        for (const pending of this.#pending.splice(0)) pending.fail(new EngineLost());
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

  /** Undefined when no process listens there. */
  static async connect(path: string): Promise<Channel | undefined> {
    return await new Promise((resolve) => {
      const socket = connect(path);
      socket.once('error', () => resolve(undefined));
      socket.once('connect', () => resolve(new Channel(socket)));
    });
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Rejects with EngineFailure, EngineLost or Stopped. */
  async request<Header>(request: Request, options: RequestOptions<Header>): Promise<Reply<Header>> {
    return await this.begin(request, options).reply;
  }

  /** Throws EngineLost or Stopped where nothing is sent. */
  begin<Header>(request: Request, options: RequestOptions<Header>): Asked<Header> {
    const { signal, payload = [] } = options;
    if (!this.#open) throw new EngineLost();
    if (signal?.aborted) throw new Stopped(stopReason(signal));
    const socket = this.#socket;
    const id = this.#nextId;
    this.#nextId = id === 0xffffffff ? 1 : id + 1;
    const asked = new Asked<Header>(id, options, {
      cancel: () => writeFrame(socket, frame(id, frameKind.cancel, {})),
      kill: () => {
        this.kill();
        socket.destroy();
      },
      forget: () => this.#forget(asked),
    });
    this.#pending.push(asked);
    writeFrame(socket, frame(id, frameKind.request, request, payload));
    return asked;
  }

  close(): void {
    this.#socket.destroy();
  }

  #forget(asked: Pending): void {
    const at = this.#pending.indexOf(asked);
    if (at !== -1) this.#pending.splice(at, 1);
  }

  #receive(received: Frame): void {
    if (received.kind === frameKind.leave) return this.leave();
    const pending = this.#pending.find(({ id }) => id === received.id);
    if (pending === undefined) return;
    if (received.kind === frameKind.part) pending.part(received);
    else if (received.kind === frameKind.reply) pending.answer(received);
    else if (received.kind === frameKind.failure) pending.fail(new EngineFailure(JSON.parse(received.header)));
  }
}

function stopReason(signal: AbortSignal): Stopped['reason'] {
  const { reason } = signal;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { WholeRequest } from '../../../mcp/http-message.ts';
import { DirectAnswer } from './answer.ts';
import type { Sender } from './answer.ts';
import { mostBytes, readHead } from './head.ts';
import type { Head } from './head.ts';

export interface DirectOptions {
  /** The request lines that are served, CR LF included. */
  readonly starts: readonly string[];
  readonly headerBytes: number;
  /** For the first request of a connection to begin, in milliseconds. */
  readonly headersMs: number;
  /** Between two requests of a connection. */
  readonly restMs: number;
  /** How long a connection may be open without a byte in either direction while a request is answered. */
  readonly silentMs: () => number;
  readonly stays: string;
  readonly onCall: (request: WholeRequest, answer: DirectAnswer, socket: Socket) => void;
  /** Those that are looked at now and then. */
  readonly open: Set<DirectConnection>;
  /** Takes a connection for good: node:http. */
  readonly others: (socket: Socket) => void;
}

/** How long the rest of a request is waited for here, and in how many pieces: what a client sends in two writes comes at once. */
const heldMs = 250;
const mostPieces = 4;
/** Of what comes while a call is answered, before no more is read: each is an object, and may be of one byte. */
const mostDeferred = 64;
/** A client that goes by what it was told must not find its connection closing. Node's own takes as long. */
const spareMs = 1_000;
/** Of a head, until the next request of its connection. */
const mostKept = 4 * 1024;

/** One client's connection, as long as it sends nothing but calls, one after the other's answer. */
export class DirectConnection implements Sender {
  readonly socket: Socket;
  readonly stays: string;
  readonly #options: DirectOptions;
  #answer: DirectAnswer | undefined;
  /** Of a request that is not whole; or, while one is answered, what came after it. */
  #held: Buffer[] = [];
  #heldTimer: NodeJS.Timeout | undefined;
  /** How long there may be silence: of a request, what was so when it came. */
  #silence: number;
  #last: { readonly bytes: Buffer; readonly head: Head } | undefined;
  #slowReader: (() => void) | undefined;
  /** Whether anything has happened since it was last looked at. */
  #stirred = true;
  /** When it was last looked at and something had. */
  #quietSince = 0;

  constructor(socket: Socket, options: DirectOptions) {
    this.socket = socket;
    this.stays = options.stays;
    this.#options = options;
    this.#silence = options.headersMs;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose);
    socket.push = this.#push;
    options.open.add(this);
  }

  answered(): void {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#silence = this.#options.restMs + spareMs;
    this.#stopTimer();
    this.#stopSlowReader();
    if (answer?.shouldKeepAlive === false) this.socket.end(() => this.socket.destroy());
    else if (this.#held.length > 0) this.#handOver();
  }

  wrote(): void {
    this.#stirred = true;
  }

  slowReader(ms: number, onTimeout: () => void): void {
    this.#stopSlowReader();
    this.#slowReader = onTimeout;
    this.socket.setTimeout(ms, onTimeout);
  }

  /** @param now milliseconds. Closes the connection where there has been silence for too long. */
  look(now: number): void {
    if (this.#stirred) {
      this.#stirred = false;
      this.#quietSince = now;
    } else if (now - this.#quietSince >= this.#silence && this.#slowReader === undefined) this.socket.destroy();
  }

  #stopSlowReader(): void {
    if (this.#slowReader === undefined) return;
    this.socket.setTimeout(0).off('timeout', this.#slowReader);
    this.#slowReader = undefined;
  }

  /**
   * What a socket has read it pushes into its own stream, which would give it away at once and come back for more in a tick of
   * its own: that costs as much as reading the message.
   */
  readonly #push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (!(chunk instanceof Buffer) || this.socket.readableFlowing !== true)
      return Readable.prototype.push.call(this.socket, chunk, encoding);
    this.#onData(chunk);
    return true;
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.socket.writableEnded) return;
    if (this.#answer !== undefined) return this.#defer(chunk);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([...this.#held, chunk]);
    const { onCall, silentMs } = this.#options;
    const head = this.#readHead(bytes);
    if (head === 'more' || (head !== undefined && bytes.length < head.end)) return this.#hold(chunk);
    if (head === undefined || bytes.length > head.end) return this.#handOver(chunk);
    this.#release();
    this.#stirred = true;
    this.#silence = silentMs();
    this.#answer = new DirectAnswer(this, head.keepAlive);
    onCall(
      { method: 'POST', headers: head.headers, memo: head.memo, whole: bytes, bodyAt: head.bodyAt },
      this.#answer,
      this.socket,
    );
  };

  /** Most requests of a client say the same before their body. */
  #readHead(bytes: Buffer): Head | 'more' | undefined {
    const { starts, headerBytes } = this.#options;
    const last = this.#last;
    if (last !== undefined && beginsWith(bytes, last.bytes)) return last.head;
    const head = readHead(bytes, starts, headerBytes);
    const kept = typeof head === 'object' && head.bodyAt <= mostKept;
    this.#last = kept ? { bytes: apart(bytes, head.bodyAt), head } : undefined;
    return head;
  }

  /** As node:http does: who sends no more is not answered either. */
  readonly #onEnd = (): void => void this.socket.end();

  readonly #onError = (): void => void this.socket.destroy();

  readonly #onClose = (): void => {
    this.#options.open.delete(this);
    this.#release();
    this.#answer?.close();
  };

  /**
   * A request before the answer to another one: who sends so is served by node:http from then on. Read on, since a client that
   * has gone is not noticed behind what is not read; and not without end, since each byte is one to a slow reader's timer.
   */
  #defer(chunk: Buffer): void {
    this.#held.push(chunk);
    if (this.#held.length >= mostDeferred || this.#heldBytes() > mostBytes) this.socket.pause();
    this.#heldTimer ??= setTimeout(() => this.socket.destroy(), this.#silence);
  }

  #hold(chunk: Buffer): void {
    if (this.#heldBytes() + chunk.length > mostBytes || this.#held.length + 1 >= mostPieces)
      return this.#handOver(chunk);
    this.#held.push(chunk);
    this.#heldTimer ??= setTimeout(() => this.#handOver(), heldMs);
  }

  #heldBytes(): number {
    return this.#held.reduce((sum, { length }) => sum + length, 0);
  }

  #release(): void {
    if (this.#held.length > 0) this.#held = [];
    this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#heldTimer);
    this.#heldTimer = undefined;
  }

  /** With all that has come and was not served. */
  #handOver(...more: readonly Buffer[]): void {
    const { socket } = this;
    const came = Buffer.concat([...this.#held, ...more]);
    this.#release();
    if (socket.destroyed) return;
    // Paused, since a socket that flows would give away at once what is put back.
    socket.pause();
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose);
    Reflect.deleteProperty(socket, 'push');
    this.#options.open.delete(this);
    this.#stopSlowReader();
    if (came.length > 0) socket.unshift(came);
    this.#options.others(socket);
    socket.resume();
  }
}

function beginsWith(bytes: Buffer, start: Buffer): boolean {
  const { length } = start;
  return bytes.length >= length && bytes.compare(start, 0, length, 0, length) === 0;
}

/** A copy of the first bytes in memory of its own: one in a pool would keep all of it. */
function apart(bytes: Buffer, length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length);
  bytes.copy(copy, 0, 0, length);
  return copy;
}

import { EventEmitter } from 'node:events';
import { STATUS_CODES, validateHeaderValue } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpResponse } from '../../mcp/http-message.ts';

/** What an answer needs of the connection that it goes out on. */
export interface Sender {
  readonly socket: Socket;
  /** The header fields that tell a client how long the connection stays after an answer. */
  readonly stays: string;
  /** Something of the answer was written. */
  wrote(): void;
  /** All of the answer is with the operating system. */
  answered(): void;
  slowReader(ms: number, onTimeout: () => void): void;
}

/** The answer to one request, written straight to its socket. Emits `close` once, when nothing of it is left to be sent. */
export class DirectAnswer extends EventEmitter implements HttpResponse {
  statusCode = 200;
  headersSent = false;
  /** Whether the connection stays for another request; to be changed before the head is written. */
  shouldKeepAlive: boolean;
  writableFinished = false;
  closed = false;
  readonly #sender: Sender;
  /** Not written yet, without the empty line that ends it. */
  #head: string | undefined;
  #hasLength = false;
  #chunked = false;
  #corked = false;
  #ended = false;

  constructor(sender: Sender, shouldKeepAlive: boolean) {
    super();
    this.#sender = sender;
    this.shouldKeepAlive = shouldKeepAlive;
  }

  get destroyed(): boolean {
    return this.#sender.socket.destroyed;
  }

  get writableLength(): number {
    return this.closed ? 0 : this.#sender.socket.writableLength;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): this {
    if (this.headersSent) throw new Error('the head of this answer is written already');
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
    let hasLength = false;
    let stays = this.shouldKeepAlive;
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) continue;
      if (name === 'connection') {
        stays &&= value !== 'close';
        continue;
      }
      if (name === 'content-length') hasLength = true;
      for (const one of Array.isArray(value) ? value : [String(value)]) {
        validateHeaderValue(name, one);
        head += `${name}: ${one}\r\n`;
      }
    }
    // Not before: where a value is refused, another answer can be given.
    this.headersSent = true;
    this.statusCode = status;
    this.#hasLength = hasLength;
    this.shouldKeepAlive = stays;
    this.#head = `${head}Date: ${httpDate()}\r\n${this.shouldKeepAlive ? this.#sender.stays : 'Connection: close\r\n'}`;
    return this;
  }

  write(chunk: string | Buffer): void {
    // An empty chunk would be the last one.
    if (this.#ended || chunk.length === 0) return;
    this.#chunked ||= this.#head !== undefined && !this.#hasLength;
    const head = this.#takeHead(this.#chunked ? 'Transfer-Encoding: chunked\r\n' : '');
    // What is written in one turn goes out together.
    if (this.#cork()) process.nextTick(() => this.#uncork());
    if (this.#chunked) this.#sendChunk(head, chunk);
    else if (typeof chunk === 'string') this.#send(head + chunk);
    else {
      if (head !== '') this.#send(head);
      this.#send(chunk);
    }
  }

  end(chunk: string | Buffer = '', encoding: 'utf8' | 'latin1' = 'utf8'): void {
    if (this.#ended) return;
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    const bodiless = this.statusCode === 204;
    const head = this.#takeHead(
      this.#hasLength || bodiless ? '' : `content-length: ${Buffer.byteLength(chunk, encoding)}\r\n`,
    );
    this.#ended = true;
    if (this.#chunked) {
      this.#cork();
      if (chunk.length > 0) this.#sendChunk('', chunk);
      this.#send('0\r\n\r\n');
    } else if (bodiless) this.#send(head);
    else if (typeof chunk === 'string') this.#send(head + chunk, encoding);
    else {
      this.#cork();
      if (head !== '') this.#send(head);
      this.#send(chunk);
    }
    this.#uncork();
    this.#whenTaken();
  }

  setTimeout(ms: number, onTimeout: () => void): void {
    if (!this.closed) this.#sender.slowReader(ms, onTimeout);
  }

  destroy(): void {
    this.#sender.socket.destroy();
  }

  /** Its connection is gone, or has taken all of it. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
  }

  #takeHead(more: string): string {
    const head = this.#head;
    this.#head = undefined;
    return head === undefined ? '' : `${head}${more}\r\n`;
  }

  /** RFC 9112 §7.1 */
  #sendChunk(head: string, chunk: string | Buffer): void {
    const size = Buffer.byteLength(chunk).toString(16);
    if (typeof chunk === 'string') return this.#send(`${head}${size}\r\n${chunk}\r\n`);
    this.#send(`${head}${size}\r\n`);
    this.#send(chunk);
    this.#send('\r\n');
  }

  #send(data: string | Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    const { socket } = this.#sender;
    this.#sender.wrote();
    // A client that said it sends no more gets what is on its way, and nothing after it.
    if (socket.writable) socket.write(data, encoding);
  }

  /** Nearly always at once: then there is no callback, each of which would cost a tick. */
  #whenTaken(): void {
    const { socket } = this.#sender;
    // Its connection closes once that is sent, which closes the answer too.
    if (!socket.writable) return;
    if (socket.writableLength === 0 && socket.errored === null) return this.#finish();
    socket.write('', (error) => {
      if (!error) this.#finish();
    });
  }

  #finish(): void {
    this.writableFinished = true;
    this.close();
    this.#sender.answered();
  }

  #cork(): boolean {
    if (this.#corked) return false;
    this.#corked = true;
    this.#sender.socket.cork();
    return true;
  }

  #uncork(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#sender.socket.uncork();
  }
}

let date = '';
let dateEnds = 0;

/** RFC 9110 §6.6.1. Made once a second. */
function httpDate(): string {
  const now = Date.now();
  if (now >= dateEnds || now < dateEnds - 1_000) {
    date = new Date(now).toUTCString();
    dateEnds = now - (now % 1_000) + 1_000;
  }
  return date;
}

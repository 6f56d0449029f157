import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { HeadroomBuffer } from '../../../mcp/headroom-buffer.ts';
import type { HttpResponse } from '../../../mcp/http-message.ts';
import { HeaderFields } from './fields.ts';
import { sendShort } from './short-answer.ts';

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

/** The answer to one request, written straight to its socket. `close` comes once, when nothing of it is left to be sent. */
export class DirectAnswer implements HttpResponse {
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
  /** Most answers have one. */
  #onClose: (() => void) | undefined;
  #alsoOnClose: (() => void)[] | undefined;

  constructor(sender: Sender, shouldKeepAlive: boolean) {
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
    const fields = HeaderFields.of(headers);
    // Not before: where a value is refused, another answer can be given.
    this.headersSent = true;
    this.statusCode = status;
    this.#hasLength = fields.hasLength;
    if (fields.closes) this.shouldKeepAlive = false;
    this.#head = fields.head(status, this.shouldKeepAlive ? this.#sender.stays : 'Connection: close\r\n');
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

  end(chunk: string | Buffer = ''): void {
    if (this.#ended) return;
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    this.#ended = true;
    if (this.#chunked) {
      this.#cork();
      if (chunk.length > 0) this.#sendChunk('', chunk);
      this.#send('0\r\n\r\n');
    } else if (!this.#sentShort(chunk)) {
      const bodiless = this.statusCode === 204;
      const head = this.#takeHead(this.#hasLength || bodiless ? '' : `content-length: ${Buffer.byteLength(chunk)}\r\n`);
      if (bodiless) this.#send(head);
      else if (typeof chunk === 'string') this.#send(head + chunk);
      else {
        this.#cork();
        if (head !== '') this.#send(head);
        this.#send(chunk);
      }
    }
    this.#uncork();
    this.#whenTaken();
  }

  endBehindHead(body: HeadroomBuffer): void {
    if (this.#ended || this.#chunked || !this.headersSent || !this.#sentShort(body)) return this.end(body.body);
    this.#ended = true;
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
    const listener = this.#onClose;
    const others = this.#alsoOnClose;
    this.#onClose = undefined;
    this.#alsoOnClose = undefined;
    listener?.();
    for (const other of others ?? []) other();
  }

  on(_event: 'close', listener: () => void): void {
    if (this.#onClose === undefined && this.#alsoOnClose === undefined) this.#onClose = listener;
    else (this.#alsoOnClose ??= []).push(listener);
  }

  once(event: 'close', listener: () => void): void {
    this.on(event, listener);
  }

  off(_event: 'close', listener: () => void): void {
    const at = this.#alsoOnClose?.indexOf(listener) ?? -1;
    if (this.#onClose === listener) this.#onClose = undefined;
    else if (at !== -1) this.#alsoOnClose?.splice(at, 1);
  }

  #takeHead(more: string): string {
    const head = this.#head;
    this.#head = undefined;
    return head === undefined ? '' : `${head}${more}\r\n`;
  }

  #sentShort(body: string | Buffer | HeadroomBuffer): boolean {
    const { socket } = this.#sender;
    const head = this.#head;
    if (head === undefined || this.statusCode === 204 || !socket.writable) return false;
    if (!sendShort(socket, head, this.#hasLength, body)) return false;
    this.#head = undefined;
    this.#sender.wrote();
    return true;
  }

  /** RFC 9112 §7.1 */
  #sendChunk(head: string, chunk: string | Buffer): void {
    const size = Buffer.byteLength(chunk).toString(16);
    if (typeof chunk === 'string') return this.#send(`${head}${size}\r\n${chunk}\r\n`);
    this.#send(`${head}${size}\r\n`);
    this.#send(chunk);
    this.#send('\r\n');
  }

  #send(data: string | Buffer): void {
    const { socket } = this.#sender;
    this.#sender.wrote();
    // A client that said it sends no more gets what is on its way, and nothing after it.
    if (socket.writable) socket.write(data);
  }

  /** Nearly always at once: then there is no callback, each of which would cost a tick. */
  #whenTaken(): void {
    const { socket } = this.#sender;
    // Its connection closes once that is sent, which closes the answer too.
    if (!socket.writable) return;
    if (socket.writableLength === 0 && socket.errored === null) return this.#finish();
    socket.write('', (error) => {
      if (error) return;
      this.#sender.wrote();
      this.#finish();
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

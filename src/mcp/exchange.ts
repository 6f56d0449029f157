import { randomUUID } from 'node:crypto';
import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Operation } from '../contract/core/index.ts';
import { answerEarly } from '../limits/admission.ts';
import { acceptsGzip, type Accepted } from './era.ts';
import type { RequestFailure } from './protocol.ts';
import { giveBack, type Borrowed } from './result.ts';
import type { RequestId } from './message.ts';
import type { PreparedResult } from './catalog.ts';

export interface ExchangeLimits {
  readonly maxBodyBytes: number;
  readonly keepAliveMs: number;
}

/** A body beyond this may wait on a slow reader, which gets `slowReaderMs` between two reads. */
const largeAnswer = 64 * 1024;
const shortAnswer = 16 * 1024;
const slowReaderMs = 30_000;

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const asJson = Object.freeze({ ...always, 'content-type': 'application/json' });
const asPackedJson = Object.freeze({ ...asJson, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
const asEvents = Object.freeze({ ...always, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });

const exposedHeaders = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';

/** The one answer to one request: JSON, unless an event was sent before or the client takes only an event stream. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Known once the body is parsed; every error carries it from then on. */
  id: RequestId | undefined;
  /** An allowed browser origin. */
  origin: string | undefined;
  accepted: Accepted = { json: true, eventStream: false };
  /** Known once the method is, where operations are recorded. */
  operation: Operation | undefined;
  readonly #limits: ExchangeLimits;
  #streaming = false;
  #done = false;
  #requestId: string | undefined;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, limits: ExchangeLimits) {
    this.request = request;
    this.response = response;
    this.#limits = limits;
  }

  /** For logs and audit records. Created lazily: most requests other than tool calls never need it. */
  get requestId(): string {
    return (this.#requestId ??= randomUUID());
  }

  /** Whether the request is answered or the client is gone. */
  get done(): boolean {
    return this.#done || this.response.destroyed;
  }

  /** Answers how many bytes that is. `json` is bytes where they exist already, or are too many to be made once more. */
  result(json: string | Buffer | Borrowed, headers?: OutgoingHttpHeaders): number {
    if (this.accepted.json && !this.#streaming) {
      if (typeof json === 'string') return this.#write(200, asJson, whole(resultText(this.id, json)), headers);
      return this.#writeEnclosed(resultHead(this.id), json, headers);
    }
    const text = eventText(resultText(this.id, json));
    if (this.#streaming) return this.#endStream(text);
    return this.#write(200, asEvents, text, headers);
  }

  /** Compressed where the client takes that, which costs nothing more. */
  prepared(result: PreparedResult): void {
    const { id, request } = this;
    const compressed = this.accepted.json && !this.#streaming && acceptsGzip(request.headers['accept-encoding']);
    const packed = compressed && id !== undefined ? result.compressed(id) : undefined;
    if (packed !== undefined) this.#write(200, asPackedJson, packed);
    else this.result(result.json);
  }

  /** A JSON-RPC error; `status` is lost where the stream has begun. */
  failure(failure: Omit<RequestFailure, 'name'>): void {
    const { status, headers, close } = failure;
    const body = failureText(this.id, failure);
    if (this.#streaming) this.#endStream(eventText(body));
    else if (status === 200 && !this.accepted.json) this.#write(200, asEvents, eventText(body), headers);
    else this.#write(status, asJson, body, headers, close || this.#hasUnboundedRest());
  }

  /** The answers to the requests of a batch; none where it had none. */
  batch(answers: readonly string[]): void {
    if (answers.length === 0) return this.empty(202);
    const text = `[${answers.join(',')}]`;
    if (this.accepted.json) this.#write(200, asJson, text);
    else this.#write(200, asEvents, eventText(text));
  }

  /** 202, 204: no body. */
  empty(status: number, headers?: OutgoingHttpHeaders): void {
    if (this.done) return;
    this.#done = true;
    this.response
      .writeHead(status, this.#headers(always, { ...(status === 202 && { 'content-length': 0 }), ...headers }))
      .end();
  }

  /** A message ahead of the answer; turns the response into an event stream. */
  event(message: object): void {
    if (this.done) return;
    if (!this.#streaming) {
      this.#streaming = true;
      this.response.writeHead(200, this.#headers(asEvents));
      // A comment now and then keeps proxies from closing a stream that is silent for long.
      this.#keepAlive = setInterval(() => this.response.write(': keep-alive\n\n'), this.#limits.keepAliveMs).unref();
      this.response.once('close', () => clearInterval(this.#keepAlive));
    }
    this.response.write(eventText(JSON.stringify(message)));
  }

  /** Ends the stream, or an empty one, without an answer: what a cancelled request of 2025 gets. False if the client cannot read one. */
  abandon(): boolean {
    if (this.#streaming) this.#endStream('');
    else if (this.accepted.eventStream) this.#write(200, asEvents, '');
    else return false;
    return true;
  }

  #endStream(text: string): number {
    clearInterval(this.#keepAlive);
    if (this.done) return 0;
    this.#done = true;
    const length = Buffer.byteLength(text);
    this.#watchReader(length);
    this.response.end(text);
    return length;
  }

  #write(
    status: number,
    as: OutgoingHttpHeaders,
    body: string | Buffer,
    headers?: OutgoingHttpHeaders,
    close = false,
  ): number {
    if (this.done) return 0;
    this.#done = true;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (!close) {
      this.#watchReader(length);
      this.response.writeHead(status, this.#headers(as, { ...headers, 'content-length': length })).end(body);
      return length;
    }
    const all = this.#headers(as, { ...headers, 'content-length': length, connection: 'close' });
    answerEarly(this.request, this.response, status, all, body);
    return length;
  }

  /** The bytes are not copied, and go out together with what surrounds them. */
  #writeEnclosed(head: string, json: Buffer | Borrowed, headers: OutgoingHttpHeaders | undefined): number {
    if (this.done) return 0;
    this.#done = true;
    const bytes = Buffer.isBuffer(json) ? json : json.memory.subarray(0, json.length);
    const length = Buffer.byteLength(head) + bytes.length + 1;
    this.#watchReader(length);
    const { response } = this;
    response.writeHead(200, this.#headers(asJson, { ...headers, 'content-length': length })).write(head);
    response.write(bytes);
    response.end('}');
    if (!Buffer.isBuffer(json) && this.#isTaken()) giveBack(json.memory);
    return length;
  }

  /** Whether the kernel has all written bytes; else the socket, or a middleware that wraps the response, may still hold the memory. */
  #isTaken(): boolean {
    const { response } = this;
    if (response.writableLength > 0) return false;
    const own = response.write === ServerResponse.prototype.write && response.end === ServerResponse.prototype.end;
    return own && response.socket !== null;
  }

  #hasUnboundedRest(): boolean {
    const { complete, headers } = this.request;
    if (complete) return false;
    return (
      headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > this.#limits.maxBodyBytes
    );
  }

  #watchReader(bytes: number): void {
    if (bytes > largeAnswer) this.response.setTimeout(slowReaderMs, () => this.response.destroy());
  }

  #headers(as: OutgoingHttpHeaders, extra?: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const headers = { ...as, ...extra };
    if (this.origin !== undefined) {
      headers['access-control-allow-origin'] = this.origin;
      headers['access-control-expose-headers'] = exposedHeaders;
      headers['vary'] = headers['vary'] === undefined ? 'Origin' : `Origin, ${String(headers['vary'])}`;
    }
    return headers;
  }
}

/** A short text goes out in one write with its headers; of a long one the bytes are made once. */
function whole(json: string): string | Buffer {
  return json.length < shortAnswer ? json : Buffer.from(json);
}

export function resultText(id: RequestId | undefined, json: string | Buffer | Borrowed): string {
  return `${resultHead(id)}${textOf(json)}}`;
}

function resultHead(id: RequestId | undefined): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

export function failureText(
  id: RequestId | undefined,
  { code, message, data }: Pick<RequestFailure, 'code' | 'message' | 'data'>,
): string {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  const known = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  return `{"jsonrpc":"2.0",${known}"error":${JSON.stringify(error)}}`;
}

function textOf(json: string | Buffer | Borrowed): string {
  if (typeof json === 'string') return json;
  return Buffer.isBuffer(json) ? json.toString() : json.memory.toString('utf8', 0, json.length);
}

/** Line ends in JSON text are white space between tokens, but would end an event's data. */
function eventText(json: string): string {
  return `event: message\ndata: ${json.replace(/[\r\n]+/g, ' ')}\n\n`;
}

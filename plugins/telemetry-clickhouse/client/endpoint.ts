import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as requestOverTls } from 'node:https';
import { pipeline, type Duplex, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import { engineError } from './engine-error.ts';

export interface EndpointOptions {
  readonly username: string;
  readonly password: string;
  readonly database?: string | undefined;
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly maxConnections: number;
  readonly compression: boolean;
}

export type Settings = Readonly<Record<string, string | number | boolean>>;

export interface Statement {
  /** With its FORMAT clause. */
  readonly sql: string;
  readonly queryId?: string;
  readonly role?: string;
  readonly settings?: Settings;
  /** Rows to insert. */
  readonly values?: Readable;
  /** Breaks off the statement and its answer. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly body: Readable;
  /** `X-ClickHouse-Summary` as far as it was known when the answer began. */
  readonly readBytes: number | undefined;
  /** The endpoint that answered: what belongs to the same query has to go there. */
  readonly endpoint: Endpoint;
}

/** Below the server's own time-out for idle connections, three seconds at the least. */
const idleSocketMs = 2_000;
const longestFailure = 64 << 10;

/**
 * A server's HTTP interface, through a pool of kept-alive connections. @clickhouse/client waits for a timer before each
 * statement (its issue 294), which is 1 to 2 ms of a query's 15.
 */
export class Endpoint {
  readonly #send: typeof request;
  readonly #request: RequestOptions & { readonly agent: Agent };
  readonly #path: string;
  readonly #parameters: Readonly<Record<string, string>>;
  readonly #restingSince = new WeakMap<Duplex, number>();

  constructor(url: string, { username, password, database, tls, maxConnections, compression }: EndpointOptions) {
    const target = new URL(url);
    const isTls = target.protocol === 'https:';
    const pool = { keepAlive: true, maxSockets: maxConnections, timeout: idleSocketMs };
    this.#send = isTls ? requestOverTls : request;
    this.#request = {
      ...urlToHttpOptions(target),
      method: 'POST',
      agent: isTls ? new TlsAgent({ ...pool, ...tls }) : new Agent(pool),
      headers: {
        'user-agent': 'sightline',
        ...(compression ? { 'accept-encoding': 'gzip' } : {}),
        // Where there is no password, a certificate stands in its place.
        ...(tls?.cert !== undefined && password === ''
          ? { 'x-clickhouse-user': utf8(username), 'x-clickhouse-ssl-certificate-auth': 'on' }
          : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
      },
    };
    this.#request.agent.on('free', (socket: Duplex) => this.#restingSince.set(socket, performance.now()));
    this.#path = target.pathname;
    this.#parameters = {
      ...(database === undefined ? {} : { database }),
      ...(compression ? { enable_http_compression: '1' } : {}),
    };
  }

  /** Rejects with the engine's error, the network's, or the signal's reason. */
  async send({ sql, values, signal, ...parameters }: Statement): Promise<Reply> {
    signal.throwIfAborted();
    this.#dropStale();
    const path = this.#pathOf(parameters, values === undefined ? undefined : sql);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = this.#send({ ...this.#request, path });
      // A request that waits for a connection does not hear of its own end, so that the signal is not left to it.
      const leave = () => {
        sent.destroy();
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      let answered = false;
      sent.on('response', (answer) => {
        answered = true;
        // Who has answered and does not read on would keep the connection, and what is still to be sent, for good.
        answer.once('end', () => void (sent.writableFinished || sent.destroy()));
        resolve(answer);
      });
      sent.on('error', reject).on('close', () => {
        signal.removeEventListener('abort', leave);
        if (!answered) reject(new Error('The connection was closed without an answer.'));
      });
      // Not as text, together with which the head would be sent as UTF-8.
      if (values === undefined) sent.end(Buffer.from(sql));
      else pipeline(values, sent, (error) => void (error && reject(error)));
    });
    const body = unzipped(response);
    // A break between two reads is heard of at the next.
    body.on('error', () => undefined);
    if (response.statusCode !== 200 || 'x-clickhouse-exception-code' in response.headers) {
      const text = await beginning(body);
      throw engineError(text) ?? new Error(`HTTP ${String(response.statusCode)}: ${text}`);
    }
    return { body, readBytes: readBytesOf(response), endpoint: this };
  }

  close(): void {
    this.#request.agent.destroy();
  }

  /** Whose time is over, although the event loop had none to notice: the server may have closed it. */
  #dropStale(): void {
    const now = performance.now();
    for (const sockets of Object.values(this.#request.agent.freeSockets)) {
      for (const socket of sockets ?? []) {
        if (now - (this.#restingSince.get(socket) ?? now) >= idleSocketMs) socket.destroy();
      }
    }
  }

  #pathOf(
    { queryId, role, settings }: Omit<Statement, 'sql' | 'values' | 'signal'>,
    query: string | undefined,
  ): string {
    const all = new URLSearchParams(this.#parameters);
    for (const [name, value] of Object.entries(settings ?? {})) {
      all.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value));
    }
    for (const [name, value] of Object.entries({ query_id: queryId, role, query })) {
      if (value !== undefined) all.set(name, value);
    }
    return `${this.#path}?${all.toString()}`;
  }
}

/** As the bytes of a header, which the server takes as they are. */
function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function unzipped(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // What went wrong is the result's own error.
  return pipeline(response, createGunzip(), () => undefined);
}

async function beginning(body: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    const buffer = Buffer.from(part);
    parts.push(buffer);
    bytes += buffer.length;
    if (bytes > longestFailure) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, longestFailure);
}

function readBytesOf({ headers }: IncomingMessage): number | undefined {
  const summary = headers['x-clickhouse-summary'];
  const [, bytes] = typeof summary === 'string' ? (/"read_bytes":"?(\d+)/.exec(summary) ?? []) : [];
  return bytes === undefined ? undefined : Number(bytes);
}

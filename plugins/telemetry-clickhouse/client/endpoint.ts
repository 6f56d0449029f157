import { Agent } from 'node:https';
import { addAbortSignal, Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { words } from '../../../src/contract/telemetry/index.ts';
import { engineError, EngineError } from './failures.ts';

interface EndpointsOptions extends EndpointOptions {
  readonly urls: readonly string[];
}

/** How long an endpoint that could not be reached is asked last. */
const avoidedMs = 5_000;

/** The replicas of one warehouse for one account. A statement that reached no server is sent to the next. */
export class Endpoints {
  readonly #endpoints: readonly { readonly endpoint: Endpoint; avoidUntil: number }[];

  constructor({ urls, ...options }: EndpointsOptions) {
    this.#endpoints = urls.map((url) => ({ endpoint: new Endpoint(url, options), avoidUntil: 0 }));
  }

  /** For statements that only read. Rejects with the engine's error, or the network's. */
  async send(statement: Statement): Promise<Reply> {
    const now = performance.now();
    const ordered = this.#endpoints.toSorted((a, b) => Number(a.avoidUntil > now) - Number(b.avoidUntil > now));
    // A kept connection may have been closed a moment ago, so that even a single server is asked twice.
    const attempts = ordered.length === 1 ? [...ordered, ...ordered] : ordered;
    let failure: unknown;
    for (const candidate of attempts) {
      try {
        return await candidate.endpoint.send(statement);
      } catch (error) {
        if (statement.signal.aborted || !isUnreachable(error)) throw error;
        if (ordered.length > 1) candidate.avoidUntil = now + avoidedMs;
        failure = error;
      }
    }
    throw failure;
  }

  /** To the first server alone and once: what was written may be there although no answer came. */
  async sendOnce(statement: Statement): Promise<Reply> {
    const [first] = this.#endpoints;
    if (first === undefined) throw new TypeError('no url');
    return await first.endpoint.send(statement);
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map(({ endpoint }) => endpoint.close()));
  }
}

const unreachable = new Set(words('ECONNREFUSED ECONNRESET EPIPE EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'));

/** Whether no server took the statement up, or it broke off before it answered. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof EngineError || typeof error !== 'object' || error === null) return false;
  if ('code' in error && typeof error.code === 'string') return unreachable.has(error.code);
  return error instanceof AggregateError || ('message' in error && error.message === 'socket hang up');
}

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
 * A server's HTTP interface, through the connection pool of @clickhouse/client. The client awaits a zero timer before each
 * request (its issue 294), 1 to 2 ms of a query's 15; that is accepted.
 */
export class Endpoint {
  readonly #client: ReturnType<typeof createClient>;

  constructor(url: string, { username, password, database, tls, maxConnections, compression }: EndpointOptions) {
    const { origin, pathname } = new URL(url);
    const byCertificate = tls?.cert !== undefined && password === '';
    this.#client = createClient({
      url: origin,
      pathname,
      username,
      password,
      application: 'sightline',
      // As a setting: the client leaves out a database named `default`, and a user's default may be another.
      clickhouse_settings: database === undefined ? {} : { database },
      compression: { response: compression },
      max_open_connections: maxConnections,
      keep_alive: { idle_socket_ttl: idleSocketMs, eagerly_destroy_stale_sockets: true },
      // Every statement has its own deadline.
      request_timeout: 0,
      log: { level: ClickHouseLogLevel.OFF },
      // The client's `tls` sends the password as a plain header, which takes only ASCII, and never beside a certificate.
      ...(tls === undefined ? {} : { http_agent: new Agent({ keepAlive: true, maxSockets: maxConnections, ...tls }) }),
      ...(byCertificate
        ? {
            set_basic_auth_header: false,
            http_headers: { 'X-ClickHouse-User': utf8(username), 'X-ClickHouse-SSL-Certificate-Auth': 'on' },
          }
        : {}),
    });
  }

  /** Rejects with the engine's error, the network's, or the signal's reason. */
  async send({ sql, queryId, role, settings, values, signal }: Statement): Promise<Reply> {
    signal.throwIfAborted();
    // A request that waits for a connection may not hear of its own end.
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    // Bytes, because Node would encode the head as UTF-8 together with a text.
    const input = values ?? Readable.from([Buffer.from(sql)]);
    const executed = this.#client.exec({
      query: values === undefined ? '' : sql,
      values: input,
      abort_signal: signal,
      // Read here: the client would read all of it, and take the last exception that its text quotes for the engine's.
      ignore_error_response: true,
      ...(queryId === undefined ? {} : { query_id: queryId }),
      ...(role === undefined ? {} : { role }),
      ...(settings === undefined ? {} : { clickhouse_settings: settings }),
    });
    const {
      stream,
      summary,
      response_headers: headers,
      http_status_code: status,
    } = await Promise.race([executed, aborted]);
    const body = addAbortSignal(signal, stream);
    // An error between two reads is reported by the next.
    body.on('error', () => undefined);
    // A server that has answered without reading all rows would keep the connection.
    body.once('end', () => void input.destroy());
    if (status !== 200 || 'x-clickhouse-exception-code' in headers) {
      const text = await beginning(body);
      throw engineError(text) ?? new Error(`HTTP ${String(status)}: ${text}`);
    }
    // A summary may come without it.
    const readBytes = Number(summary?.read_bytes);
    return { body, readBytes: Number.isNaN(readBytes) ? undefined : readBytes, endpoint: this };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** As the bytes of a header, which the server takes as they are. */
function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
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

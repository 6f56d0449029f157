import type { Readable } from 'node:stream';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';

export interface EndpointOptions {
  readonly urls: readonly string[];
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
  /** Aborts until the answer has begun; after that `body` is destroyed instead. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly body: Readable;
  /** `X-ClickHouse-Summary` as far as it was known when the answer began. */
  readonly readBytes: number | undefined;
  /** The endpoint that answered: what belongs to the same query has to go there. */
  readonly endpoint: Endpoint;
}

/** One server, through a pool of kept-alive connections. */
export interface Endpoint {
  send(statement: Statement): Promise<Reply>;
}

/** How long an endpoint that could not be reached is asked last. */
const avoidedMs = 5_000;
/** Below the server's own time-out for idle connections, three seconds at the least. */
const idleSocketMs = 2_000;

/** The replicas of one warehouse for one account. A statement that reached no server is sent to the next. */
export class Endpoints {
  readonly #endpoints: readonly { readonly endpoint: Endpoint; close(): Promise<void>; avoidUntil: number }[];

  constructor(options: EndpointOptions) {
    this.#endpoints = options.urls.map((url) => ({ ...connect(url, options), avoidUntil: 0 }));
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
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
  }
}

function connect(url: string, options: EndpointOptions): { readonly endpoint: Endpoint; close(): Promise<void> } {
  const { origin, pathname } = new URL(url);
  const { username, password, database, tls, maxConnections, compression } = options;
  const client = createClient({
    url: origin,
    ...(pathname === '/' ? {} : { pathname }),
    username,
    password,
    ...(database === undefined ? {} : { database }),
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
    application: 'sightline',
    max_open_connections: maxConnections,
    // Each statement brings a deadline of its own, which is sooner.
    request_timeout: 3_600_000,
    compression: { response: compression, request: false },
    keep_alive: { enabled: true, idle_socket_ttl: idleSocketMs, eagerly_destroy_stale_sockets: true },
    // Its own log would print statements and settings.
    log: { level: ClickHouseLogLevel.OFF },
  });
  const endpoint: Endpoint = {
    async send({ sql, queryId, role, settings, values, signal }) {
      signal.throwIfAborted();
      const { stream, summary } = await client.exec({
        query: sql,
        ...(queryId === undefined ? {} : { query_id: queryId }),
        ...(role === undefined ? {} : { role }),
        ...(settings === undefined ? {} : { clickhouse_settings: { ...settings } }),
        ...(values === undefined ? {} : { values }),
        abort_signal: signal,
      });
      const readBytes = Number(summary?.read_bytes ?? Number.NaN);
      return { body: stream, readBytes: Number.isFinite(readBytes) ? readBytes : undefined, endpoint };
    },
  };
  return { endpoint, close: () => client.close() };
}

function tlsOptions({ ca, cert, key }: NonNullable<EndpointOptions['tls']>) {
  const ca_cert = Buffer.from(ca);
  return cert === undefined || key === undefined
    ? { ca_cert }
    : { ca_cert, cert: Buffer.from(cert), key: Buffer.from(key) };
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Whether no server took the statement up, or it broke off before it answered. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof ClickHouseError || typeof error !== 'object' || error === null) return false;
  if ('code' in error && typeof error.code === 'string') return unreachable.has(error.code);
  return error instanceof AggregateError || ('message' in error && error.message === 'socket hang up');
}

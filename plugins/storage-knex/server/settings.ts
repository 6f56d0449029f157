import type { ServerConfig } from '../config.ts';

/** A server to connect to, and how long it is waited for. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: false | Tls;
  readonly connections: Shares;
  readonly acquireMs: number;
  readonly statementMs: number;
}

export interface Tls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
}

/** A process's connections by kind of work; no kind takes another's. */
export interface Shares {
  readonly lookups: number;
  readonly writers: number;
  readonly readers: number;
}

export const connectMs = 5_000;
/** After this long unused a pooled connection is closed. */
export const idleMs = 30_000;
/**
 * After this long a server ends a transaction whose client says nothing any more, with all its locks: shorter than others wait
 * for those, so that a process which stands still holds up nobody's writes for longer.
 */
export const abandonedMs = 5_000;
/** How much longer than the server a client waits for a statement: then the network has lost one of them. */
export const networkMs = 5_000;
/** A look-up of one row by its key is done in less, or not at all: a request waits for it. */
export const lookupMs = 5_000;

export function settingsOf(config: ServerConfig): ServerSettings {
  const { ssl, pool, statementTimeoutSeconds } = config;
  const url = config.url === undefined ? undefined : new URL(config.url);
  return {
    host: url === undefined ? (config.host ?? '') : url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url?.port) || config.port,
    user: url === undefined ? (config.user ?? '') : decodeURIComponent(url.username),
    password: decodeURIComponent(url?.password ?? '') || (config.password ?? ''),
    database: url === undefined ? (config.database ?? '') : decodeURIComponent(url.pathname.slice(1)),
    tls: tlsOf(ssl),
    connections: share(pool.max),
    acquireMs: pool.acquireTimeoutSeconds * 1_000,
    statementMs: statementTimeoutSeconds * 1_000,
  };
}

/** For an operator: which database, where, and the login. */
export function place({ host, port, user, database }: ServerSettings): string {
  const at = host.startsWith('/') ? host : `${host}:${port}`;
  return `database ${database} at ${at}, login ${user}`;
}

function tlsOf(ssl: ServerConfig['ssl']): ServerSettings['tls'] {
  if (typeof ssl === 'boolean') return ssl && { rejectUnauthorized: true };
  const { ca, cert, key, rejectUnauthorized } = ssl;
  return {
    rejectUnauthorized,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

function share(max: number): Shares {
  const lookups = max < 6 ? 1 : 2;
  const writers = Math.floor((max - lookups) / 2);
  return { lookups, writers, readers: max - lookups - writers };
}

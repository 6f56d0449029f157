import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './database-server.ts';
import type { PostgresServer } from './postgres.ts';

export function pgBouncerInstalled(): boolean {
  const installed = spawnSync('pgbouncer', ['--version']).status === 0;
  if (!installed) process.stderr.write('not run: behind PgBouncer, which is not installed\n');
  return installed;
}

interface Behind {
  readonly server: PostgresServer;
  readonly database: string;
  readonly login: string;
  readonly password: string;
  /** Lines of its configuration. */
  readonly settings: readonly string[];
}

/** Runs the test with the URL of the database as PgBouncer offers it. */
export async function behindPgBouncer(
  { server, database, login, password, settings }: Behind,
  test: (url: string) => Promise<void>,
): Promise<void> {
  const [directory, port] = [await mkdtemp(join(tmpdir(), 'sl-pgbouncer-')), await freePort()];
  await chmod(directory, 0o755);
  await writeFile(join(directory, 'users.txt'), `"${login}" "${password}"\n`);
  const config = [
    '[databases]',
    `* = host=${server.host} port=${server.port}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = plain`,
    `auth_file = ${join(directory, 'users.txt')}`,
    ...settings,
  ];
  await writeFile(join(directory, 'pgbouncer.ini'), `${config.join('\n')}\n`);
  const user = userInfo().uid === 0 ? ['-u', 'nobody'] : [];
  const bouncer = spawn('pgbouncer', ['-q', ...user, join(directory, 'pgbouncer.ini')], { stdio: 'ignore' });
  try {
    await listening(port, bouncer);
    await test(`postgres://${login}:${password}@127.0.0.1:${port}/${database}`);
  } finally {
    if (bouncer.exitCode === null) {
      bouncer.kill('SIGKILL');
      await once(bouncer, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  }
}

async function listening(port: number, bouncer: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (bouncer.exitCode !== null) throw new Error(`pgbouncer ended with ${bouncer.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await delay(50);
  }
  throw new Error('pgbouncer did not listen');
}

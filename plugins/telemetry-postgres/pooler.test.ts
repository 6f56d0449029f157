import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/database-server.ts';
import { embeddedServer, localServer, type PostgresServer } from '../../test/support/postgres.ts';
import { ask } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const installed = spawnSync('pgbouncer', ['--version']).status === 0;
if (!installed) process.stderr.write('not run: behind PgBouncer, which is not installed\n');

(installed ? describe : describe.skip)('behind PgBouncer', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  beforeAll(async () => {
    server = await localServer().catch(() => embeddedServer());
    warehouse = await createWarehouse(server);
  });
  afterAll(async () => {
    await warehouse.cleanup();
    await server.stop();
  });

  async function behind(settings: readonly string[], test: (url: string) => Promise<void>): Promise<void> {
    const [directory, port] = [await mkdtemp(join(tmpdir(), 'sl-pgbouncer-')), await freePort()];
    await chmod(directory, 0o755);
    const { database, gateway, password } = warehouse;
    await writeFile(join(directory, 'users.txt'), `"${gateway}" "${password}"\n`);
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
      await test(`postgres://${gateway}:${password}@127.0.0.1:${port}/${database}`);
    } finally {
      if (bouncer.exitCode === null) {
        bouncer.kill('SIGKILL');
        await once(bouncer, 'exit');
      }
      await rm(directory, { recursive: true, force: true });
    }
  }

  it.each([
    ['pool_mode = transaction', 'default_pool_size = 1'],
    ['pool_mode = transaction', 'default_pool_size = 5'],
    ['pool_mode = transaction', 'server_round_robin = 1'],
  ])('%s, %s is refused by name', async (...settings) => {
    await behind(settings, async (url) => {
      const component = warehouse.create({ url, ingest: { enabled: false } });
      try {
        await expect(component.start(AbortSignal.timeout(20_000))).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringContaining('pooler in transaction mode'),
          hint: expect.stringContaining('pool_mode = session'),
        });
      } finally {
        await component.stop();
      }
    });
  });

  it('a pool in session mode is served', async () => {
    await behind(['pool_mode = session', 'default_pool_size = 10'], async (url) => {
      const component = warehouse.create({ url, ingest: { enabled: false } });
      try {
        await component.start(AbortSignal.timeout(20_000));
        expect((await ask(component, warehouse.organizations[0], 'SELECT count(*) FROM otel.spans')).rows).toEqual([
          ['0'],
        ]);
      } finally {
        await component.stop();
      }
    });
  });
});

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

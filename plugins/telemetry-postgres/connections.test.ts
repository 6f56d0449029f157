import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { selfSigned } from '../../test/support/certificate.ts';
import { listen } from '../../test/support/listen.ts';
import { localServer, embeddedServer, type PostgresServer } from '../../test/support/postgres.ts';
import { silentLogger } from '../../test/contract/host.ts';
import { Connections } from './connections.ts';
import { ask } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

describe('connections', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  let made: Connections[] = [];
  beforeAll(async () => {
    server = await localServer().catch(() => embeddedServer());
    warehouse = await createWarehouse(server);
  });
  afterAll(async () => {
    await warehouse.component.stop();
    await Promise.all(made.map(async (connections) => await connections.end()));
    await warehouse.cleanup();
    await server.stop();
  });

  const open = (max: number, idleMs = 60_000, connectMs = 3_000) => {
    const url = server.url(warehouse.database, warehouse.gateway, warehouse.password);
    const options = { client: { connectionString: url }, ssl: false, max, idleMs, connectMs, logger: silentLogger };
    const connections = new Connections(options);
    made = [...made, connections];
    return connections;
  };
  const never = new AbortController().signal;
  const use = async (connections: Connections, tenant: string) => {
    const lease = connections.take(tenant) ?? (await connections.lease(never, tenant));
    const { session } = lease;
    lease.release();
    return session;
  };

  it('give each tenant the session it had, as long as there may be one for each', async () => {
    const connections = open(3);
    const [a, b] = [await use(connections, 'a'), await use(connections, 'b')];
    expect(a).not.toBe(b);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(connections.take('c')).toBeUndefined();
      expect([await use(connections, 'a'), await use(connections, 'b')]).toEqual([a, b]);
    }
    expect([connections.open, connections.inUse]).toEqual([2, 0]);
  });

  it('are not lost where the server lets in and then does not answer as it should', async () => {
    let well = false;
    const message = (code: string, body: string) => {
      const bytes = Buffer.from(`${code}0000${body}`, 'latin1');
      bytes.writeInt32BE(bytes.length - 1, 1);
      return bytes;
    };
    const ready = message('Z', 'I');
    const failing = createServer((socket) => {
      const asked = (): Buffer =>
        well ? message('C', 'SELECT 1\0') : message('E', 'SERROR\0C53200\0Mout of memory\0\0');
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(Buffer.concat([message('R', '\0\0\0\0'), message('K', '\0\0\0\0\0\0\0\0'), ready]));
        socket.on('data', (chunk: Buffer) => chunk[0] === 0x51 && socket.write(Buffer.concat([asked(), ready])));
      });
    });
    const client = { host: '127.0.0.1', port: await listen(failing), user: 'a', database: 'a' };
    const connections = new Connections({
      client,
      ssl: false,
      max: 2,
      idleMs: 1_000,
      connectMs: 5_000,
      logger: silentLogger,
    });
    for (const _ of [1, 2, 3]) {
      await expect(connections.lease(never, 'a')).rejects.toThrow('out of memory');
      expect(connections.open).toBe(0);
    }
    well = true;
    (await connections.lease(never, 'a')).release();
    expect(connections.open).toBe(1);
    await connections.end();
    failing.close();
  });

  it('clean the one that rested for the longest where there may be no more', async () => {
    const connections = open(2);
    const [a, b] = [await use(connections, 'a'), await use(connections, 'b')];
    a.prepared.add('left');
    await use(connections, 'b');
    expect(await use(connections, 'c')).toBe(a);
    expect([a.tenant, a.prepared.size, b.tenant]).toEqual(['c', 0, 'b']);
  });

  it('serve those who wait in turn, and forget who left', async () => {
    const connections = open(1);
    const first = await connections.lease(never, 'a');
    const order: string[] = [];
    const leaving = new AbortController();
    const wait = async (name: string, tenant: string, signal: AbortSignal) => {
      const lease = await connections.lease(signal, tenant);
      order.push(name);
      lease.release();
    };
    const left = wait('left', 'a', leaving.signal);
    const [second, third, fourth] = [wait('2', 'b', never), wait('3', 'a', never), wait('4', 'b', never)];
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(connections.lease(never, 'a', 20)).rejects.toMatchObject({ reason: 'timeout' });
    first.release();
    await Promise.all([second, third, fourth]);
    expect(order).toEqual(['2', '3', '4']);
    expect([connections.open, connections.inUse]).toEqual([1, 0]);
  });

  it('let who waits for a session to be cleaned leave, and clean it for the next', async () => {
    const connections = open(1);
    const session = await use(connections, 'a');
    const leaving = new AbortController();
    const waiting = connections.lease(leaving.signal, 'b');
    expect(connections.inUse).toBe(1);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(await use(connections, 'c')).toBe(session);
    expect(session.tenant).toBe('c');
  });

  it('are refused in time, with another one opened where one was closed', async () => {
    const connections = open(1, 60_000, 150);
    const lease = await connections.lease(never, 'a');
    await expect(connections.lease(never, 'b')).rejects.toThrow('no connection was free in time');
    const next = connections.lease(never, 'b', 30_000);
    await lease.abandon();
    expect((await next).session).not.toBe(lease.session);
    (await next).release();
  });

  it('end when they have rested for long enough', async () => {
    const connections = open(2, 100);
    const session = await use(connections, 'a');
    await until(() => connections.open === 0);
    expect(connections.take('a')).toBeUndefined();
    expect(await use(connections, 'a')).not.toBe(session);
  });

  it('are forgotten where the server ends them, at rest and in use', async () => {
    const connections = open(2);
    const lease = await connections.lease(never, 'b');
    await use(connections, 'a');
    expect(connections.open).toBe(2);
    await server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${warehouse.gateway}'`);
    await until(() => lease.session.ended && connections.open === 1);
    lease.release();
    expect([connections.open, connections.inUse, connections.take('a'), connections.take('b')]).toEqual([
      0,
      0,
      undefined,
      undefined,
    ]);
    const again = await connections.lease(never, 'a');
    expect((await again.client.query('SELECT 1')).rowCount).toBe(1);
    again.release();
  });

  it('end for all who use them or wait', async () => {
    const connections = open(1);
    const lease = await connections.lease(never, 'a');
    const abandoned = new Promise<void>((resolve) => {
      lease.onAbandon = resolve;
    });
    const waiting = expect(connections.lease(never, 'b')).rejects.toMatchObject({ reason: 'closing' });
    await connections.end();
    await Promise.all([abandoned, waiting]);
    await expect(connections.lease(never, 'a')).rejects.toMatchObject({ reason: 'closing' });
    expect(connections.open).toBe(0);
  });

  it('are read as well where they are encrypted', async () => {
    const { key, cert } = selfSigned('warehouse.test');
    const secured: TLSSocket[] = [];
    const proxy = createServer((near) => {
      near.on('error', () => {});
      near.once('data', () => {
        near.write('S');
        const inside = new TLSSocket(near, { isServer: true, key, cert });
        const far = connect(server.port, server.host);
        secured.push(inside);
        inside.on('error', () => far.destroy()).pipe(far);
        far.on('error', () => inside.destroy()).pipe(inside);
      });
    });
    const url = new URL(server.url(warehouse.database, warehouse.gateway, warehouse.password));
    url.hostname = '127.0.0.1';
    url.port = String(await listen(proxy));
    const ssl = { ca: cert, servername: 'warehouse.test' };
    const far = warehouse.create({ url: url.href, ssl, ingest: { enabled: false } });
    try {
      await far.start(AbortSignal.timeout(10_000));
      const sql = "SELECT x, repeat('ñ', 1000) AS y FROM generate_series(1, 900) AS g(x)";
      for (let turn = 0; turn < 2; turn += 1) {
        const { rows } = await ask(far, warehouse.organizations[0], sql, { limits: { maxBytes: 10_000_000 } });
        expect([rows.length, rows[899]]).toEqual([900, [900, 'ñ'.repeat(1_000)]]);
      }
      expect(secured.length).toBeGreaterThan(0);
    } finally {
      await far.stop();
      for (const socket of secured) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 200 && !condition(); attempt += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(condition()).toBe(true);
}

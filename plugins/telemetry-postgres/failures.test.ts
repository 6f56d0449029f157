import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { embeddedServer, type PostgresServer } from '../../test/support/postgres.ts';
import { listen } from '../../test/support/listen.ts';
import { batch } from '../../test/contract/telemetry-rows.ts';
import type { Telemetry } from '../../src/contract/telemetry/index.ts';
import { ask, openQuery } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const endless =
  'SELECT count(*) FROM generate_series(1, 100000) AS a(x), generate_series(1, 100000) AS b(y) WHERE a.x + b.y = 7';
const long = "SELECT x, repeat('x', 1000) AS y FROM generate_series(1, 200000) AS g(x)";

/** A server that is down, slow, or dies: a clear error in time, no connection left, and well again without a restart. */
describe('a failing server', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  let telemetry: Telemetry;

  beforeAll(async () => {
    server = await embeddedServer();
    warehouse = await createWarehouse(server);
    telemetry = warehouse.component;
    await telemetry.start(AbortSignal.timeout(20_000));
    const [organizationId] = warehouse.organizations;
    const batches = [batch('logs', [{ time: new Date(), body: 'well' }])];
    await telemetry.sink?.load(
      { organizationId, log: 'a', batches, upTo: { segment: 1, offset: 1 } },
      new AbortController().signal,
    );
  });
  afterAll(async () => {
    await telemetry.stop();
    await warehouse.cleanup();
    await server.stop();
  });
  afterEach(async () => {
    await expectNothingRuns();
    expect((await query('SELECT body FROM otel.logs')).rows).toEqual([['well']]);
  });

  const query = async (sql: string, options = {}) => await ask(telemetry, warehouse.organizations[0], sql, options);
  const failure = async (work: Promise<unknown>) =>
    await work.then(
      () => 'no failure',
      (error: unknown) => error,
    );
  const running = async () =>
    Number(
      (
        await server.admin(
          `SELECT count(*) FROM pg_stat_activity WHERE usename = '${warehouse.gateway}' AND state <> 'idle'`,
        )
      )[0]?.[0],
    );
  /** Waits for the server to notice; that it does is the promise. */
  const expectNothingRuns = async () => {
    for (let attempt = 0; attempt < 100 && (await running()) > 0; attempt += 1) await pause(50);
    expect(await running()).toBe(0);
  };
  const kill = async () =>
    await server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${warehouse.gateway}'`);

  it('stops the work of a query whose time is over', async () => {
    expect(await failure(query(endless, { limits: { timeoutMs: 300 } }))).toMatchObject({ code: 'query_timeout' });
  });

  it('stops the work of a query whose caller left, before its first row and between rows', async () => {
    for (const sql of [endless, long]) {
      const controller = new AbortController();
      const asked = query(sql, { signal: controller.signal, limits: { maxRows: 1_000_000, maxBytes: 1 << 30 } });
      setTimeout(() => controller.abort(), 100);
      expect(await failure(asked)).toMatchObject({ code: 'query_cancelled' });
    }
  });

  it('stops the work of a cursor that is closed early, more often than the pool has connections', async () => {
    for (let round = 0; round < 10; round += 1) {
      const cursor = await openQuery(telemetry, warehouse.organizations[0], long, { limits: { maxBytes: 1 << 30 } });
      await cursor.read();
      await cursor.close();
      expect(await cursor.read()).toBeUndefined();
    }
  });

  it('says that the warehouse ended a query whose backend is killed', async () => {
    const asked = failure(query(endless));
    while ((await running()) === 0) await pause(20);
    await kill();
    expect(await asked).toMatchObject({ code: 'telemetry_unavailable' });
  });

  it('says so too when the backend is killed in the middle of a result', async () => {
    const cursor = await openQuery(telemetry, warehouse.organizations[0], long, {
      limits: { maxRows: 1_000_000, maxBytes: 1 << 30 },
    });
    await cursor.read();
    await kill();
    const rest = async () => {
      while (await cursor.read());
    };
    expect(await failure(rest())).toMatchObject({ code: 'telemetry_unavailable' });
    await cursor.close();
  });

  it('reads no row that would fill the memory of the gateway', async () => {
    // What is read may be that large: the gate estimates only what a statement makes itself.
    const large = "jsonb_build_object('body', repeat('x', 1000000))";
    await server.admin(
      `INSERT INTO telemetry.logs SELECT (jsonb_populate_record(l, ${large})).* FROM telemetry.logs AS l, generate_series(1, 100)`,
      warehouse.database,
    );
    const sql = "SELECT string_agg(body, '') AS x FROM otel.logs";
    expect(await failure(query(sql))).toMatchObject({ code: 'query_memory', hint: expect.stringContaining('left(') });
    await server.admin('DELETE FROM telemetry.logs WHERE length(body) > 10', warehouse.database);
  });

  it('waits for a connection no longer than the query may take, and then has it', async () => {
    const busy = Array.from({ length: 4 }, async (_, index) => {
      const organization = warehouse.organizations[index % 2] ?? warehouse.organizations[0];
      return await failure(ask(telemetry, organization, endless, { limits: { timeoutMs: 1_500 } }));
    });
    // One of the four connections is for the gateway's own questions.
    while ((await running()) < 3) await pause(20);
    expect(await failure(query('SELECT 1 AS x', { limits: { timeoutMs: 200 } }))).toMatchObject({
      code: 'query_timeout',
    });
    for (const outcome of await Promise.all(busy)) expect(outcome).toMatchObject({ code: 'query_timeout' });
  });

  it('says in time that a server is down, and serves again when it is back', async () => {
    await server.halt?.();
    expect(await failure(query('SELECT 1 AS x', { limits: { timeoutMs: 4_000 } }))).toMatchObject({
      code: 'telemetry_unavailable',
    });
    expect((await telemetry.health(AbortSignal.timeout(5_000))).ok).toBe(false);
    await server.restart?.();
    expect((await telemetry.health(AbortSignal.timeout(5_000))).ok).toBe(true);
  });

  it.each([
    ['SELECT name FROM otel.spans EXCEPT SELECT name, kind FROM otel.spans', 'EXCEPT'],
    ['SELECT * FROM (VALUES (1), (2, 3)) AS v', 'VALUES'],
    ['SELECT (SELECT name, kind FROM otel.spans LIMIT 1) AS one', 'more than one column'],
  ])('says what %s has too many of, though its state is that of what cannot be parsed', async (sql, said) => {
    expect(await failure(query(sql))).toMatchObject({ code: 'sql_failed', message: expect.stringContaining(said) });
  });

  it('says in time that a network swallows what is sent, and serves again when it no longer does', async () => {
    const network = new Network(server);
    const url = new URL(server.url(warehouse.database, warehouse.gateway, warehouse.password));
    url.port = String(await network.open());
    const far = warehouse.create({ url: url.href, ingest: { enabled: false } });
    try {
      await far.start(AbortSignal.timeout(10_000));
      const own = warehouse.organizations[0];
      expect((await ask(far, own, 'SELECT body FROM otel.logs')).rows).toEqual([['well']]);
      network.swallows = true;
      expect(await failure(ask(far, own, 'SELECT 1 AS x', { limits: { timeoutMs: 500 } }))).toMatchObject({
        code: 'query_timeout',
      });
      expect(await failure(ask(far, own, 'SELECT 1 AS x', { limits: { timeoutMs: 500 } }))).toMatchObject({
        code: 'query_timeout',
      });
      network.swallows = false;
      expect((await ask(far, own, 'SELECT body FROM otel.logs')).rows).toEqual([['well']]);
    } finally {
      await far.stop();
      await network.close();
    }
  });
});

/** Between gateway and server; while it swallows, nothing arrives and nobody is told. */
class Network {
  swallows = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor({ host, port }: PostgresServer) {
    this.#server = createServer((near) => {
      const far = connect(port, host);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
      }
      near.on('data', (data) => this.swallows || far.write(data));
      far.on('data', (data) => this.swallows || near.write(data));
      near.on('close', () => this.swallows || far.destroy());
      far.on('close', () => this.swallows || near.destroy());
    });
  }

  async open(): Promise<number> {
    return await listen(this.#server);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

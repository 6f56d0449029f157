import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedServer, type PostgresServer } from '../../../test/support/postgres.ts';
import { batch } from '../../../test/contract/telemetry-rows.ts';
import type { Telemetry, TelemetrySink } from '../../../src/contract/telemetry/index.ts';
import { ask } from '../support/ask.ts';
import { createWarehouse, type TestWarehouse } from '../support/warehouse.ts';

describe('loading into PostgreSQL', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  let telemetry: Telemetry;
  let sink: TelemetrySink;

  beforeAll(async () => {
    server = await embeddedServer();
    warehouse = await createWarehouse(server);
    telemetry = warehouse.component;
    await telemetry.start(AbortSignal.timeout(20_000));
    if (telemetry.sink === undefined) throw new Error('no sink');
    sink = telemetry.sink;
  });
  afterAll(async () => {
    await telemetry.stop();
    await warehouse.cleanup();
    await server.stop();
  });

  const own = () => warehouse.organizations[0];
  const load = async (log: string, offset: number, rows: readonly object[], signal = new AbortController().signal) => {
    const batches = [
      batch(
        'logs',
        rows.map((row) => ({ time: new Date(), service_name: log, ...row })),
      ),
    ];
    await sink.load({ organizationId: own(), log, batches, upTo: { segment: 1, offset } }, signal);
  };
  const bodies = async (log: string) =>
    (await ask(telemetry, own(), `SELECT body FROM otel.logs WHERE service_name = '${log}' ORDER BY body`)).rows.flat();
  const killWriters = async () =>
    await server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${warehouse.writer}'`);
  const writersWaiting = async () =>
    Number(
      (
        await server.admin(
          `SELECT count(*) FROM pg_stat_activity WHERE usename = '${warehouse.writer}' AND wait_event_type = 'Lock'`,
        )
      )[0]?.[0],
    );
  /** Runs while nobody can write logs. */
  const whileLocked = async (work: () => Promise<void>) => {
    const sql = `BEGIN; LOCK TABLE telemetry.logs IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(1.5); COMMIT`;
    const locked = server.admin(sql, warehouse.database);
    const held =
      "SELECT FROM pg_locks WHERE mode = 'ShareRowExclusiveLock' AND granted AND relation = 'telemetry.logs'::regclass";
    while ((await server.admin(held, warehouse.database)).length === 0) await pause();
    await work();
    await locked;
  };
  const untilWaiting = async () => {
    while ((await writersWaiting()) === 0) await pause();
  };

  it('loads all or nothing when the backend is killed in between, and each row once when it is tried again', async () => {
    await load('killed', 1, [{ body: 'a' }]);
    await whileLocked(async () => {
      const loading = load('killed', 2, [{ body: 'b' }, { body: 'c' }]).catch((error: unknown) => error);
      await untilWaiting();
      await killWriters();
      expect(await loading).toMatchObject({ code: 'telemetry_unavailable' });
    });
    expect(await sink.committed(own(), 'killed')).toEqual({ segment: 1, offset: 1 });
    expect(await bodies('killed')).toEqual(['a']);
    await load('killed', 2, [{ body: 'b' }, { body: 'c' }]);
    await load('killed', 2, [{ body: 'b' }, { body: 'c' }]);
    expect(await bodies('killed')).toEqual(['a', 'b', 'c']);
    expect(await sink.committed(own(), 'killed')).toEqual({ segment: 1, offset: 2 });
  });

  it('loads once what two load at the same time', async () => {
    const loads = Array.from({ length: 4 }, async () => await load('twice', 7, [{ body: 'x' }, { body: 'y' }]));
    await Promise.all(loads);
    expect(await bodies('twice')).toEqual(['x', 'y']);
  });

  it('stops when it is told to, and leaves nothing', async () => {
    const controller = new AbortController();
    await whileLocked(async () => {
      const loading = load('stopped', 1, [{ body: 'z' }], controller.signal).catch((error: unknown) => error);
      await untilWaiting();
      controller.abort();
      expect(await loading).toMatchObject({ code: 'telemetry_unavailable' });
    });
    expect(await bodies('stopped')).toEqual([]);
    expect(await sink.committed(own(), 'stopped')).toBeUndefined();
  });

  it('keeps every text as it was sent, but for what PostgreSQL cannot hold', async () => {
    const odd = ['tab\t', 'line\nfeed\r', '\\N', '\\.', 'back\\slash', '"quotes\'', '', ' ', '😀ñ', '\u2028'];
    await load('texts', 1, [...odd.map((body) => ({ body })), { body: 'nul\0' }, { body: 'half\ud800' }]);
    expect(new Set(await bodies('texts'))).toEqual(new Set([...odd, 'nul\ufffd', 'half\ufffd']));
  });

  it('writes what a table of an earlier version has a place for', async () => {
    const admin = async (sql: string) => await server.admin(sql, warehouse.database);
    const said = { schema_url: 'https://example.com/1', scope_attributes: { build: '7' } };
    await admin('ALTER TABLE telemetry.logs RENAME COLUMN schema_url TO not_there');
    await load('before', 1, [{ body: 'a', ...said }]);
    await admin('ALTER TABLE telemetry.logs RENAME COLUMN not_there TO schema_url');
    await load('before', 2, [{ body: 'b', ...said }]);
    const { rows } = await ask(
      telemetry,
      own(),
      "SELECT body, schema_url, scope_attributes FROM otel.logs WHERE service_name = 'before' ORDER BY body",
    );
    expect(rows).toEqual([
      ['a', '', { build: '7' }],
      ['b', said.schema_url, { build: '7' }],
    ]);
  });

  it('cuts a name that no index can hold, rather than stop at it for good', async () => {
    const noise = randomBytes(6_000).toString('base64');
    const wide = '語'.repeat(500) + noise;
    const organizationId = own();
    const batches = [
      batch('logs', [
        { time: new Date(), service_name: 'beside', body: noise },
        { time: new Date(), service_name: `long${noise}`, trace_id: noise, body: 'x' },
      ]),
      batch('spans', [{ time: new Date(), service_name: 'long', trace_id: wide, name: noise }]),
      batch('metrics', [{ time: new Date(), service_name: 'long', name: noise }]),
    ];
    await sink.load(
      { organizationId, log: 'long', batches, upTo: { segment: 1, offset: 9 } },
      AbortSignal.timeout(9_000),
    );
    expect(await bodies('beside')).toEqual([noise]);
    const cut = await ask(
      telemetry,
      own(),
      "SELECT service_name, trace_id FROM otel.logs WHERE service_name LIKE 'long%'",
    );
    expect(cut.rows).toEqual([[`long${noise}`.slice(0, 1_000), noise.slice(0, 1_000)]]);
    const spans = await ask(telemetry, own(), "SELECT trace_id, name FROM otel.spans WHERE service_name = 'long'");
    expect(spans.rows).toEqual([['語'.repeat(333), noise]]);
    const metrics = await ask(telemetry, own(), "SELECT name FROM otel.metrics WHERE service_name = 'long'");
    expect(metrics.rows).toEqual([[noise.slice(0, 1_000)]]);
  });

  it('keeps times to the microsecond, from the year 1 to 9999', async () => {
    const rows = [1_772_366_400_123_456n, -1n, 0n, 2n ** 62n, -(2n ** 62n)].map((time, index) => ({
      time,
      body: String(index),
    }));
    await load('times', 1, rows);
    const { rows: found } = await ask(
      telemetry,
      own(),
      "SELECT time FROM otel.logs WHERE service_name = 'times' ORDER BY body",
    );
    expect(found.flat()).toEqual([
      '2026-03-01T12:00:00.123456Z',
      '1969-12-31T23:59:59.999999Z',
      '1970-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '0001-01-01T00:00:00Z',
    ]);
  });

  it('has a login that can read and change no more than its tables', async () => {
    const granted = await server.admin(
      `SELECT table_schema || '.' || table_name || ' ' || privilege_type FROM information_schema.role_table_grants WHERE grantee = '${warehouse.writer}' ORDER BY 1`,
      warehouse.database,
    );
    const tables = ['logs', 'metrics', 'spans'].flatMap((table) =>
      ['DELETE', 'INSERT', 'SELECT'].map((privilege) => `telemetry.${table} ${privilege}`),
    );
    const positions = ['INSERT', 'SELECT', 'UPDATE'].map((privilege) => `telemetry.positions ${privilege}`);
    expect(new Set(granted.flat())).toEqual(new Set([...tables, ...positions]));
  });
});

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

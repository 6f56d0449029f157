import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { ask, collect, contextOf, testLimits } from '../../test/contract/telemetry/warehouse.ts';
import { rejection } from '../../test/contract/runner.ts';
import { at, type Field } from '../../test/support/bigquery/server.ts';
import { acme, globex, Harness } from './support/harness.ts';

const spansOf = 'FROM otel.spans';
const name: Field = { name: 'name', type: 'STRING' };
const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => [`span ${index}`]);

/** Until it holds; fails by the test's own time-out. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a query', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.start({ labels: { team: 'sre' } });
  });
  afterEach(() => harness.stop());

  const run = (sql: string, options: Parameters<typeof ask>[3] = {}) => ask(harness.telemetry, acme, sql, options);
  const real = () => harness.server.inserted();

  it('is a job without legacy SQL, cache, session or dataset, with its limits and who asked', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(1) });
    await run(`SELECT name ${spansOf}`, {
      limits: { timeoutMs: 4_000 },
      label: { principal: 'ak_Ab/1', tool: 'query_otel', traceId: '0af7651916cd43dd8448eb211c80319c' },
    });
    expect(real()).toHaveLength(1);
    const [job] = real();
    const query = at(job, 'configuration', 'query');
    expect(query).toMatchObject({
      useLegacySql: false,
      useQueryCache: false,
      maximumBytesBilled: '20000000000',
    });
    expect(Object.keys(query ?? {}).toSorted()).toEqual([
      'maximumBytesBilled',
      'priority',
      'query',
      'useLegacySql',
      'useQueryCache',
    ]);
    expect(at(job, 'configuration', 'labels')).toEqual({
      team: 'sre',
      sightline: 'query',
      sightline_principal: 'ak_ab_1',
      sightline_tool: 'query_otel',
      sightline_trace: '0af7651916cd43dd8448eb211c80319c',
    });
    const timeout = Number(at(job, 'configuration', 'jobTimeoutMs'));
    expect(timeout).toBeGreaterThan(0);
    expect(timeout).toBeLessThanOrEqual(4_000);
    expect(at(job, 'jobReference')).toMatchObject({ projectId: 'acme-observability', location: 'EU' });
    expect(harness.server.requests.every(({ authorization }) => authorization === 'Bearer fixture')).toBe(true);
  });

  it('comes back page by page, to the last row', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(25), rowsPerPage: 10, bytes: 4_711 });
    const context = contextOf(acme);
    const checked = harness.telemetry.check(await harness.telemetry.parse(`SELECT name ${spansOf}`, context));
    const cursor = await harness.telemetry.open(
      await harness.telemetry.render(checked, {}, context),
      testLimits,
      context,
    );
    const counts: number[] = [];
    for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) counts.push(chunk.rows);
    expect(counts).toEqual([10, 10, 5]);
    expect(cursor.columns).toEqual([{ name: 'name', type: 'STRING' }]);
    expect(cursor.end).toEqual({ cutCells: 0, bytesScanned: 4_711 });
    await cursor.close();
    await cursor.close();
    expect(harness.server.cancelled()).toEqual([]);
  });

  it('ends at so many rows, and asks BigQuery for one more at most', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(100) });
    const cut = await run(`SELECT name ${spansOf}`, { limits: { maxRows: 7 } });
    expect([cut.rows.length, cut.truncated]).toEqual([7, 'rows']);
    const pages = harness.server.requests.filter(({ path }) => path.includes('/queries/'));
    expect(pages.map(({ query }) => query.get('maxResults'))).toEqual(['8']);
  });

  it('is whole when there are just as many rows as there may be', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(7) });
    const whole = await run(`SELECT name ${spansOf}`, { limits: { maxRows: 7 } });
    expect([whole.rows.length, whole.truncated]).toEqual([7, undefined]);
  });

  it('ends at so many bytes', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(1_000), rowsPerPage: 50 });
    const cut = await run(`SELECT name ${spansOf}`, { limits: { maxBytes: 2_000 } });
    expect(cut.truncated).toBe('bytes');
    expect(cut.bytes).toBeLessThanOrEqual(2_000);
    expect(cut.rows.length).toBeGreaterThan(100);
  });

  it('is refused before it costs anything when it would read too much', async () => {
    harness.server.script('`name`', { bytes: 3e12 });
    const error = await rejection(run(`SELECT name ${spansOf}`));
    expect(error).toMatchObject({ code: 'query_too_costly', message: expect.stringContaining('3.0 TB') });
    expect(real()).toEqual([]);
  });

  it('is asked once for what it would read, within a minute, and estimated without being run', async () => {
    harness.server.script('`name`', { fields: [name], rows: [], bytes: 12_345 });
    const context = contextOf(acme);
    const checked = harness.telemetry.check(await harness.telemetry.parse(`SELECT name ${spansOf}`, context));
    const rendered = await harness.telemetry.render(checked, {}, context);
    expect(await harness.telemetry.estimate?.(rendered, context)).toEqual({ bytes: 12_345 });
    expect(real()).toEqual([]);
    const before = harness.server.inserted(true).length;
    await collect(await harness.telemetry.open(rendered, testLimits, context));
    await collect(await harness.telemetry.open(rendered, testLimits, context));
    expect(harness.server.inserted(true)).toHaveLength(before);
    expect(real()).toHaveLength(2);
  });

  it.each<[string, object]>([
    ['is no SELECT', { statementType: 'SCRIPT' }],
    ['reads another table', { tables: ['acme-observability.otel.trace', 'acme-observability.hr.salaries'] }],
    [
      'reads more tables than BigQuery names',
      { tables: Array.from({ length: 50 }, () => 'acme-observability.otel.trace') },
    ],
    ['calls a routine', { routines: ['exfiltrate'] }],
    ['has parameters', { parameters: ['x'] }],
  ])('is refused when BigQuery says that it %s', async (_what, script) => {
    // A statement of ours is asked first, which tables are the organization's.
    harness.server.script((sql) => sql.includes('`name` FROM') && !sql.includes('SELECT 1'), script);
    const error = await rejection(run(`SELECT name ${spansOf}`));
    expect(error).toBeInstanceOf(SightlineError);
    expect(error).toMatchObject({ code: expect.stringMatching(/^sql_(refused|not_read_only)$/) });
    expect(real()).toEqual([]);
  });

  it('is cancelled when its caller leaves', async () => {
    harness.server.script('`name`', { fields: [name], runsForever: true });
    const controller = new AbortController();
    const running = rejection(run(`SELECT name ${spansOf}`, { signal: controller.signal }));
    await until(() => real().length === 1);
    controller.abort();
    expect(await running).toMatchObject({ code: 'query_cancelled' });
    await until(() => harness.server.cancelled().length === 1);
    expect(harness.server.cancelled()).toEqual([at(real()[0], 'jobReference', 'jobId')]);
  });

  it('is cancelled at the deadline', async () => {
    harness.server.script('`name`', { fields: [name], runsForever: true });
    const error = await rejection(run(`SELECT name ${spansOf}`, { limits: { timeoutMs: 300 } }));
    expect(error).toMatchObject({ code: 'query_timeout' });
    await until(() => harness.server.cancelled().length === 1);
  });

  it.each(['break', 'late'] as const)(
    'is cancelled although its start may still be on the way (%s)',
    async (mishap) => {
      const context = contextOf(acme);
      const checked = harness.telemetry.check(await harness.telemetry.parse(`SELECT name ${spansOf}`, context));
      const rendered = await harness.telemetry.render(checked, {}, context);
      await harness.telemetry.estimate?.(rendered, context);
      harness.server.failNext('/jobs', mishap);
      harness.server.script('`name`', { fields: [name], runsForever: true });
      const controller = new AbortController();
      const running = rejection(
        harness.telemetry.open(rendered, testLimits, contextOf(acme, { signal: controller.signal })),
      );
      await until(() => harness.server.inserted().length === 1);
      controller.abort();
      expect(await running).toMatchObject({ code: 'query_cancelled' });
      const id = at(harness.server.inserted()[0], 'jobReference', 'jobId');
      // A job that never came cannot be cancelled; one that did is.
      await until(() => harness.server.cancelled().includes(String(id)));
      if (mishap === 'late') await until(() => harness.server.stopped().includes(String(id)));
    },
  );

  it('is cancelled when the service stops', async () => {
    harness.server.script('`name`', { fields: [name], runsForever: true });
    const running = rejection(run(`SELECT name ${spansOf}`));
    await until(() => real().length === 1);
    await harness.telemetry.stop();
    expect(await running).toBeInstanceOf(SightlineError);
    await until(() => harness.server.cancelled().length === 1);
  });

  it('is not started under a signal that is aborted', async () => {
    const error = await rejection(run(`SELECT name ${spansOf}`, { signal: AbortSignal.abort(new Error('gone')) }));
    expect(error instanceof SightlineError ? error.code : error).toBeDefined();
    expect(real()).toEqual([]);
  });

  it('is sent again where BigQuery fails for the moment, under the same id', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(1) });
    const down = { status: 503, reason: 'backendError', message: 'try again' };
    await run(`SELECT name ${spansOf}`);
    harness.server.failNext('/jobs', down);
    harness.server.failNext('/queries/', down);
    expect((await run(`SELECT name ${spansOf}`)).rows).toHaveLength(1);
    const ids = real().map((job) => at(job, 'jobReference', 'jobId'));
    expect(ids).toHaveLength(3);
    expect(ids[1]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('fails within its deadline when BigQuery hangs, and the next one runs', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(1) });
    await run(`SELECT name ${spansOf}`);
    harness.server.failNext('/queries/', 'hang');
    expect(await rejection(run(`SELECT name ${spansOf}`, { limits: { timeoutMs: 300 } }))).toMatchObject({
      code: 'query_timeout',
    });
    expect((await run(`SELECT name ${spansOf}`)).rows).toHaveLength(1);
  });

  it('fails when BigQuery dies between two pages, and never ends as if it were whole', async () => {
    harness.server.script('`name`', { fields: [name], rows: rowsOf(25), rowsPerPage: 10, diesAtPage: 1 });
    const error = await rejection(run(`SELECT name ${spansOf}`, { limits: { timeoutMs: 1_000 } }));
    expect(error).toMatchObject({ code: expect.stringMatching(/^(query_timeout|telemetry_unavailable)$/) });
  });

  it('fails with words of ours where the tables cannot even be looked up', async () => {
    await harness.stop();
    harness = await Harness.create();
    const secret = { status: 403, reason: 'accessDenied', message: 'Access Denied: secret-detail' };
    harness.server.failNext('/tables/', secret, 9);
    const error = await rejection(harness.telemetry.start(AbortSignal.timeout(5_000)));
    expect(error).toMatchObject({
      code: 'telemetry_unavailable',
      message: expect.not.stringContaining('secret'),
      operatorMessage: expect.stringContaining('accessDenied'),
    });
  });

  it('carries no mark of the client’s that would become the project', async () => {
    harness.server.script('`name`', { fields: [name], rows: [] });
    await run(`SELECT name ${spansOf} WHERE name = '{{projectId}}'`);
    const sql = String(at(real()[0], 'configuration', 'query', 'query'));
    expect(sql).toContain(String.raw`'{\u007bprojectId}}'`);
    expect(sql).not.toContain("'acme-observability'");
  });

  it('is nothing for an organization that is no tenant', async () => {
    await harness.stop();
    harness = await Harness.start({
      tenancy: { boundary: { mode: 'column', column: 'tenant_id' }, organizations: { acme: 'a' } },
    });
    const before = harness.server.inserted(true).length;
    expect(await rejection(ask(harness.telemetry, globex, `SELECT name ${spansOf}`))).toMatchObject({
      code: 'forbidden',
    });
    expect(harness.server.inserted(true)).toHaveLength(before);
  });
});

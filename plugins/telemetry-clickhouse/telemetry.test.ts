import { afterEach, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { Telemetry } from '../../src/contract/telemetry/index.ts';
import { rejection } from '../../test/contract/runner.ts';
import { ask, contextOf, writeRows } from '../../test/contract/telemetry/warehouse.ts';
import { CuttingProxy } from '../../test/support/clickhouse/cutting-proxy.ts';
import type { ClickHouseServer } from '../../test/support/clickhouse/server.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { otelTables } from '../../src/contract/telemetry/index.ts';
import { fittingSql, sampleSql } from '../../src/telemetry/query/attribute-keys.ts';
import { createTelemetry, newOrganization, ownDatabase } from './support/harness.ts';

const never = new AbortController().signal;
const count = 'SELECT count() FROM otel.spans';

withEngine(() => {
  describe('a ClickHouse with organizations', () => {
    const server = sharedServer();
    const opened: Telemetry[] = [];
    afterEach(async () => {
      for (const telemetry of opened.splice(0)) await telemetry.stop();
    });

    const start = async (url: string, config: object) => {
      const telemetry = createTelemetry(url, config);
      opened.push(telemetry);
      await telemetry.start(never);
      return telemetry;
    };
    const own = async () => ({ ingest: { database: await ownDatabase(server()), prefix: '' } });
    const write = async (telemetry: Telemetry, organization: OrganizationId, rows: number) =>
      await writeRows(
        { component: telemetry, organizations: [organization, organization], cleanup: async () => undefined },
        organization,
        'spans',
        Array.from({ length: rows }, (_, index) => ({ time: new Date(), name: `n${index}` })),
      );

    it('tells the server whose statement it is where SQL cannot change it: in the query id, and in a role', async () => {
      const proxy = await CuttingProxy.start(server().url);
      const [one] = [newOrganization()];
      const byId = await start(proxy.url, await own());
      await ask(byId, one, count);
      expect(proxy.seen.at(-1)?.get('query_id')).toMatch(new RegExp(`^${one}:[0-9a-f-]{36}$`));
      expect(proxy.seen.at(-1)?.has('role')).toBe(false);
      const tenancy = {
        boundary: { mode: 'column', column: 'organization' },
        organizations: { [one]: 'a:b', [newOrganization()]: 'shop' },
      };
      await ask(await start(proxy.url, { ...(await own()), tenancy }), one, count);
      // A colon of the tenant's own would end it early.
      expect(proxy.seen.at(-1)?.get('query_id')).toMatch(/^a%3Ab:/);
      const serverBoundary = { by: 'role', role: 'tenant_{tenant}' };
      const byRole = await start(proxy.url, { ...(await own()), serverBoundary });
      await ask(byRole, one, count);
      expect(proxy.seen.at(-1)?.get('role')).toBe(`tenant_${one}`);
      const odd = await start(proxy.url, { ...(await own()), tenancy, serverBoundary });
      expect(await rejection(ask(odd, one, count))).toMatchObject({ code: 'forbidden' });
      proxy.stop();
    });

    it('asks as nobody what is not an organization’s', async () => {
      const proxy = await CuttingProxy.start(server().url);
      const telemetry = await start(proxy.url, await own());
      expect(await telemetry.health(never)).toMatchObject({ ok: true });
      expect(proxy.seen.length).toBeGreaterThan(5);
      for (const params of proxy.seen) expect(params.get('query_id')).toMatch(/^sightline-[^:]*$/);
      proxy.stop();
    });

    it('has a database of its own for each, where that keeps them apart', async () => {
      const [one, two] = [newOrganization(), newOrganization()];
      const tenancy = {
        boundary: { mode: 'database', template: 'org_{tenant}' },
        organizations: { [one]: 'a1', [two]: 'b2' },
      };
      const databases = ['org_a1', 'org_b2'];
      for (const [index, database] of databases.entries()) await fill(server(), database, index + 1);
      const names = { spans: 'spans', metrics: 'metrics', logs: 'logs' };
      const mapping = { preset: 'sightline', names };
      const telemetry = await start(server().url, { ingest: undefined, tenancy, mapping });
      expect((await ask(telemetry, one, count)).rows).toEqual([['1']]);
      expect((await ask(telemetry, two, count)).rows).toEqual([['2']]);
      expect(await rejection(ask(telemetry, newOrganization(), count))).toMatchObject({ code: 'forbidden' });
      const shared = createTelemetry(server().url, {
        ingest: undefined,
        tenancy,
        mapping: { preset: 'sightline', names: { ...names, database: 'org_a1' } },
      });
      expect(await rejection(shared.start(never))).toMatchObject({
        code: 'config_invalid',
        operatorMessage: expect.stringContaining('{tenant}'),
      });
      await shared.stop();
    });

    it('has an account of its own for each, where that keeps them apart', async () => {
      const [one, two] = [newOrganization(), newOrganization()];
      await fill(server(), 'of_one', 1);
      const tenancy = { boundary: { mode: 'connection' }, organizations: { [one]: 'one', [two]: 'two' } };
      const telemetry = await start(server().url, {
        ingest: undefined,
        tenancy,
        connections: { one: { username: 'default', database: 'of_one' } },
        mapping: { tables: { spans: { from: 'spans', columns: { time: 'time', name: 'name' } } } },
      });
      expect((await ask(telemetry, one, count)).rows).toEqual([['1']]);
      expect(await rejection(ask(telemetry, two, count))).toMatchObject({
        code: 'forbidden',
        operatorMessage: expect.stringContaining('telemetry.connections'),
      });
    });

    it('does not start with a mapping that the engine cannot read', async () => {
      const database = await ownDatabase(server());
      const telemetry = createTelemetry(server().url, {
        ingest: undefined,
        mapping: { tables: { spans: { from: `${database}.spans`, columns: { time: 'time', name: 'nam' } } } },
      });
      expect(await rejection(telemetry.start(never))).toMatchObject({
        code: 'config_invalid',
        operatorMessage: expect.stringContaining('nam'),
      });
      await telemetry.stop();
    });

    it('reads attributes of JSON columns as paths, and is written to accordingly', async () => {
      await server().runAll([
        'CREATE DATABASE j',
        'CREATE TABLE j.logs (ts DateTime64(9), a JSON, org String) ENGINE = MergeTree ORDER BY (org, ts)',
        `INSERT INTO j.logs SELECT now64(9), '{"http.route":"/cart","n":5}', 'acme'`,
      ]);
      const one = newOrganization();
      const telemetry = await start(server().url, {
        ingest: undefined,
        tenancy: { boundary: { mode: 'column', column: 'org' }, organizations: { [one]: 'acme' } },
        mapping: { tables: { logs: { from: 'j.logs', columns: { time: 'ts', attributes: 'a' } } } },
      });
      const { attributeHint, write: w } = telemetry.dialect;
      expect(attributeHint).toContain('attributes.http.route::String');
      const answers = async (sql: string) => (await ask(telemetry, one, sql)).rows;
      const route = w.attribute('attributes', 'http.route');
      expect(
        await answers(`SELECT attributes.http.route::String, ${route}, attributes.no::String FROM otel.logs`),
      ).toEqual([['/cart', '/cart', '']]);
      const entries = `SELECT a.key, a.value FROM otel.logs AS s, ${w.unnestMap('s.attributes', 'a')} ORDER BY a.key`;
      expect(await answers(entries)).toEqual([
        ['http.route', '/cart'],
        ['n', '5'],
      ]);
      const window = { start: new Date(Date.now() - 60_000), end: new Date(Date.now() + 60_000) };
      const keys = [['attributes', 'http.route', '/cart', '1', '1']];
      expect(await answers(fittingSql(telemetry.dialect, otelTables.logs, window, 'HTTP.%'))).toEqual(keys);
      expect(await answers(sampleSql(telemetry.dialect, otelTables.logs, window, 1))).toEqual([
        ...keys,
        ['attributes', 'n', '5', '1', '1'],
      ]);
    });

    it('reads a column in one way that is JSON in one table and a map in another', async () => {
      await server().runAll([
        'CREATE DATABASE jm',
        'CREATE TABLE jm.logs (ts DateTime64(9), a JSON, r Map(String, String)) ENGINE = MergeTree ORDER BY ts',
        'CREATE TABLE jm.spans (ts DateTime64(9), a Map(String, String)) ENGINE = MergeTree ORDER BY ts',
        `INSERT INTO jm.logs SELECT now64(9), '{"http":{"route":"/cart"}}', map('host.name', 'h1')`,
        `INSERT INTO jm.spans SELECT now64(9), map('http.route', '/cart')`,
      ]);
      const one = newOrganization();
      const columns = { time: 'ts', attributes: 'a' };
      const telemetry = await start(server().url, {
        ingest: undefined,
        tenancy: { boundary: { mode: 'none', organization: one }, value: 'id' },
        mapping: {
          tables: {
            spans: { from: 'jm.spans', columns },
            logs: { from: 'jm.logs', columns: { ...columns, resource_attributes: 'r' } },
          },
        },
      });
      const { dialect } = telemetry;
      const window = { start: new Date(Date.now() - 60_000), end: new Date(Date.now() + 60_000) };
      for (const table of [otelTables.spans, otelTables.logs]) {
        const { rows } = await ask(telemetry, one, fittingSql(dialect, table, window, '%'));
        expect(rows.map(([map, key]) => [map, key])).toEqual([
          ['attributes', 'http.route'],
          ...(table.name === 'logs' ? [['resource_attributes', 'host.name']] : []),
        ]);
        const route = dialect.write.attribute('attributes', 'http.route');
        expect((await ask(telemetry, one, `SELECT ${route} FROM otel.${table.name}`)).rows).toEqual([['/cart']]);
      }
    });

    it('walks a tree of spans to its leaves, and in a circle only so far', async () => {
      await server().runAll([
        'CREATE DATABASE tree',
        'CREATE TABLE tree.spans (ts DateTime64(9), id String, parent String) ENGINE = MergeTree ORDER BY ts',
        `INSERT INTO tree.spans SELECT now64(9), toString(number), if(number = 1, '', toString(intDiv(number, 2))) FROM numbers(1, 127)`,
        `INSERT INTO tree.spans SELECT now64(9), 'c', 'c'`,
      ]);
      const one = newOrganization();
      const columns = { time: 'ts', span_id: 'id', parent_span_id: 'parent' };
      const telemetry = await start(server().url, {
        ingest: undefined,
        tenancy: { boundary: { mode: 'none', organization: one }, value: 'id' },
        mapping: { tables: { spans: { from: 'tree.spans', columns } } },
      });
      const tree = (root: string) => `WITH RECURSIVE tree AS (SELECT span_id, 0 AS depth FROM otel.spans WHERE ${root}
        UNION ALL SELECT s.span_id, t.depth + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.span_id)
        SELECT max(depth), count(*) FROM tree`;
      expect((await ask(telemetry, one, tree("parent_span_id = ''"))).rows).toEqual([['6', '127']]);
      expect(await rejection(ask(telemetry, one, tree("span_id = 'c'")))).toMatchObject({
        code: 'sql_failed',
        message: 'The statement is nested, or recurs, too deeply.',
      });
      expect((await ask(telemetry, one, count)).rows).toEqual([['128']]);
    });

    it.each(['schema', 'dataset'])('knows no %s', (mode) => {
      const tenancy = { boundary: { mode, template: 't_{tenant}' } };
      expect(() => createTelemetry(server().url, { ingest: undefined, tenancy })).toThrow(/has no/);
    });

    it('tells before it runs what a statement would read: the less, the narrower its window', async () => {
      const one = newOrganization();
      const telemetry = await start(server().url, await own());
      await write(telemetry, one, 5_000);
      const context = contextOf(one);
      const checked = telemetry.check(await telemetry.parse('SELECT name FROM otel.spans', context));
      const estimate = async (start_: Date) =>
        await telemetry.estimate?.(await telemetry.render(checked, { window: { start: start_ } }, context), context);
      const all = await estimate(new Date(Date.now() - 86_400_000));
      expect(all?.rows).toBe(5_000);
      expect(all?.bytes).toBeGreaterThan(5_000);
      expect(await estimate(new Date(Date.now() + 86_400_000 * 2))).toEqual({ rows: 0, bytes: 0 });
    });

    it('is told what its attributes are like, and lacks what the warehouse lacks', async () => {
      const database = await ownDatabase(server());
      const telemetry = await start(server().url, {
        ingest: undefined,
        mapping: { preset: 'sightline', names: { database, spans: 'spans', logs: 'logs', metrics: 'nothing' } },
      });
      const { dialect } = telemetry;
      expect(dialect.tables.map(({ name }) => name)).toEqual(['spans', 'logs']);
      expect(dialect.attributeHint).toContain("attributes['http.route']");
      expect(await rejection(ask(telemetry, newOrganization(), 'SELECT count() FROM otel.metrics'))).toMatchObject({
        code: 'unknown_table',
      });
    });
  });
});

async function fill(server: ClickHouseServer, database: string, rows: number): Promise<void> {
  await server.runAll([
    `CREATE DATABASE ${database}`,
    ...['spans', 'metrics', 'logs'].map(
      (table) =>
        `CREATE TABLE ${database}.${table} (time DateTime64(9, 'UTC'), name String, duration_nano Int64) ENGINE = MergeTree ORDER BY time`,
    ),
    `INSERT INTO ${database}.spans SELECT now64(9), 'n', 1 FROM numbers(${rows})`,
  ]);
}

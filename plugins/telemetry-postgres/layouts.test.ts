import { afterAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { telemetryHost } from '../../src/gateway/wiring/telemetry-host.ts';
import { noOrganizations, testHost } from '../../test/contract/host.ts';
import { newId, type OrganizationId } from '../../src/contract/core/index.ts';
import { type Telemetry } from '../../src/contract/telemetry/index.ts';
import { postgresServers, type PostgresServer } from '../../test/support/postgres.ts';
import plugin from './index.ts';
import { ask, askBare } from './support/ask.ts';
import { applyScripts } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

/** As the exporter makes them. */
const exporter = `
  CREATE TABLE oteltraces ("Timestamp" TIMESTAMP(6) NOT NULL, "TraceId" TEXT, "SpanId" TEXT, "ParentSpanId" TEXT, "TraceState" TEXT,
    "SpanName" TEXT, "SpanKind" TEXT, "ServiceName" TEXT, "ResourceAttributes" JSONB, "ScopeName" TEXT, "ScopeVersion" TEXT,
    "SpanAttributes" JSONB, "Duration" BIGINT, "StatusCode" TEXT, "StatusMessage" TEXT, "Events" JSONB, "Links" JSONB,
    PRIMARY KEY ("ServiceName", "SpanName", "Timestamp"));
  CREATE TABLE otellogs ("Timestamp" TIMESTAMP(6) NOT NULL, "TimestampTime" TIMESTAMP GENERATED ALWAYS AS ("Timestamp") STORED,
    "TraceId" TEXT, "SpanId" TEXT, "TraceFlags" SMALLINT, "SeverityText" TEXT, "SeverityNumber" SMALLINT, "ServiceName" TEXT,
    "Body" TEXT, "ResourceSchemaUrl" TEXT, "ResourceAttributes" JSONB, "ScopeSchemaUrl" TEXT, "ScopeName" TEXT,
    "ScopeVersion" TEXT, "ScopeAttributes" JSONB, "LogAttributes" JSONB, PRIMARY KEY ("ServiceName", "TimestampTime"));`;
const exported = (tenant: string) => `
  INSERT INTO oteltraces VALUES ('2026-03-01 12:00:00.123456', 'ab', 'cd', '', '', 'GET /', 'Server', 'shop-${tenant}',
    '{"tenant.id": "${tenant}", "service.version": "2.1", "deployment.environment": "prod"}', 's', '1',
    '{"http.route": "/", "tenant": "${tenant}"}', 1500000, 'Error', 'no', '[]', '[]');
  INSERT INTO otellogs ("Timestamp", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber", "ServiceName", "Body", "ResourceAttributes", "LogAttributes")
  VALUES ('2026-03-01 12:00:01', 'ab', 'cd', 1, 'ERROR', 17, 'shop-${tenant}', 'body of ${tenant}', '{"tenant.id": "${tenant}"}', '{"tenant": "${tenant}"}');`;

interface Layout {
  readonly sql: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** A database made by `sql`, and the product set up over it by the shipped scripts, as an administrator would. */
async function withLayout(
  server: PostgresServer,
  { sql, config }: Layout,
  test: (telemetry: Telemetry, database: string) => Promise<void>,
): Promise<void> {
  const unique = randomBytes(5).toString('hex');
  const [gateway, owner, password, secret] = [
    `sl_gateway_${unique}`,
    `sl_owner_${unique}`,
    unique,
    randomBytes(24).toString('hex'),
  ];
  const directory = await mkdtemp(join(tmpdir(), 'sl-pg-'));
  const database = await server.createDatabase();
  const filled = JSON.stringify(config)
    .replaceAll('{database}', database)
    .replaceAll('{login}', `${gateway}:${password}`);
  const changes: Record<string, unknown> = JSON.parse(filled);
  const host = telemetryHost(testHost(directory), noOrganizations);
  const own = {
    url: server.url(database, gateway, password),
    boundary: { secret, owner, login: gateway },
    pool: { max: 2 },
  };
  const telemetry = plugin.create(plugin.configSchema.parse({ ...own, ...changes }), host);
  try {
    await server.admin(sql, database);
    const scripts = (await telemetry.operations?.setup(AbortSignal.timeout(20_000))) ?? [];
    await applyScripts(server, database, scripts, { gateway_password: password, boundary_secret: secret });
    await telemetry.start(AbortSignal.timeout(20_000));
    await test(telemetry, database);
  } finally {
    await telemetry.stop();
    await server.drop(database, [gateway, owner]);
    await rm(directory, { recursive: true, force: true });
  }
}

const [a, b, stranger] = [newId('org'), newId('org'), newId('org')];
const tenants = { value: 'id', organizations: { [a]: 'alpha', [b]: 'beta' } };
const numbers = { value: 'id', organizations: { [a]: '1', [b]: '2' } };
const uuids = [randomUUID(), randomUUID()] as const;

const simple = (name: string, rows = '') => `
  CREATE TABLE ${name} (ts timestamptz, msg text, org text); INSERT INTO ${name} VALUES ('2026-03-01T12:00:00Z', ${rows})`;
const mapped = (from: string, more = {}) => ({
  tables: { logs: { from, columns: { time: 'ts', body: 'msg' }, ...more }, spans: false, metrics: false },
});
const inSchemas = `CREATE SCHEMA org_alpha; CREATE SCHEMA org_beta;
  ${simple('org_alpha.events', "'of alpha', 'alpha'")}; ${simple('org_beta.events', "'of beta', 'beta'")};`;

/** Every way of telling tenants apart: two of them see their own rows, and a third nothing. */
const modes: Readonly<Record<string, Layout>> = {
  column: {
    sql: `${simple('public.events', "'of alpha', 'alpha'")}; INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of beta', 'beta')`,
    config: { mapping: mapped('public.events'), tenancy: { boundary: { mode: 'column', column: 'org' }, ...tenants } },
  },
  'a column of numbers': {
    sql: `CREATE TABLE public.events (ts timestamptz, msg text, "Org Id" int); INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of alpha', 1), ('2026-03-01T12:00:00Z', 'of beta', 2)`,
    config: {
      mapping: mapped('public.events'),
      tenancy: { boundary: { mode: 'column', column: 'Org Id', type: 'int' }, ...numbers },
    },
  },
  'a column of uuids': {
    sql: `CREATE TABLE public.events (ts timestamptz, msg text, org uuid); INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of alpha', '${uuids[0]}'), ('2026-03-01T12:00:00Z', 'of beta', '${uuids[1]}')`,
    config: {
      mapping: mapped('public.events'),
      tenancy: {
        boundary: { mode: 'column', column: 'org', type: 'uuid' },
        value: 'id',
        organizations: { [a]: uuids[0], [b]: uuids[1] },
      },
    },
  },
  expression: {
    sql: `${simple('public.events', "'of alpha', 'x-alpha'")}; INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of beta', 'x-beta')`,
    config: {
      mapping: mapped('public.events'),
      tenancy: { boundary: { mode: 'expression', expression: "split_part(org, '-', 2)" }, ...tenants },
    },
  },
  'an expression of the table, in place of the column of others': {
    sql: `${simple('public.events', "'of alpha', 'x-alpha'")}; INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of beta', 'x-beta')`,
    config: {
      mapping: mapped('public.events', { tenant: "split_part(org, '-', 2)" }),
      tenancy: { boundary: { mode: 'column', column: 'customer' }, ...tenants },
    },
  },
  schema: {
    sql: inSchemas,
    config: {
      mapping: mapped('"org_{tenant}"."events"'),
      tenancy: { boundary: { mode: 'schema', template: 'org_{tenant}' }, ...tenants },
    },
  },
  table_template: {
    sql: `${simple('public.events_alpha', "'of alpha', ''")}; ${simple('public.events_beta', "'of beta', ''")}`,
    config: {
      mapping: mapped('public."events_{tenant}"'),
      tenancy: { boundary: { mode: 'table_template', template: 'events_{tenant}' }, ...tenants },
    },
  },
};

for (const server of servers) {
  describe(`on ${server.name}`, () => {
    describe.each(['layered', 'degraded'] as const)('%s, tenants told apart by', (isolation) => {
      it.each(Object.entries(modes))('%s', async (_, { sql, config }) => {
        await withLayout(server, { sql, config: { ...config, isolation } }, async (telemetry) => {
          const bodies = async (organization: OrganizationId) =>
            (await ask(telemetry, organization, "SELECT body FROM otel.logs WHERE body LIKE '%'")).rows;
          expect(await bodies(a)).toEqual([['of alpha']]);
          expect(await bodies(b)).toEqual([['of beta']]);
          await expect(bodies(stranger)).rejects.toMatchObject({ code: 'forbidden' });
          await expect(ask(telemetry, a, 'SELECT * FROM otel.spans')).rejects.toMatchObject({ code: 'unknown_table' });
        });
      });

      it('attributes of the resource, and of the record, in the exporter’s layout', async () => {
        for (const boundary of [
          { mode: 'resource_attribute', key: 'tenant.id' },
          { mode: 'attribute', key: 'tenant' },
        ]) {
          const config = { isolation, mapping: { preset: 'postgres-exporter' }, tenancy: { boundary, ...tenants } };
          await withLayout(
            server,
            { sql: exporter + exported('alpha') + exported('beta'), config },
            async (telemetry) => {
              const services = async (organization: OrganizationId) =>
                (
                  await ask(
                    telemetry,
                    organization,
                    'SELECT service_name FROM otel.spans UNION SELECT service_name FROM otel.logs',
                  )
                ).rows;
              expect(await services(a)).toEqual([['shop-alpha']]);
              expect(await services(b)).toEqual([['shop-beta']]);
              const sql = `SELECT time, end_time, duration_nano, kind, status_code, service_version, deployment_environment, attributes ->> 'http.route' AS route, events FROM otel.spans`;
              const window = { start: new Date('2026-03-01T12:00:00Z'), end: new Date('2026-03-01T12:00:01Z') };
              expect((await ask(telemetry, a, sql, { window })).rows).toEqual([
                [
                  '2026-03-01T12:00:00.123456Z',
                  '2026-03-01T12:00:00.124956Z',
                  '1500000',
                  'SERVER',
                  'ERROR',
                  '2.1',
                  'prod',
                  '/',
                  [],
                ],
              ]);
              expect(telemetry.dialect.tables.map(({ name }) => name)).toEqual(['spans', 'logs']);
            },
          );
        }
      });
    });

    it('timeBounds leave out partitions, through the views and without them', async () => {
      const days = Array.from({ length: 10 }, (_, day) => {
        const ends = [day, day + 1].map((at) => Date.parse('2026-03-01T00:00:00Z') / 1_000 + at * 86_400);
        const times = ends.map((at) => `'${new Date(at * 1_000).toISOString().slice(0, 10)}'`);
        return `CREATE TABLE e${day} PARTITION OF public.epochs FOR VALUES FROM (${ends[0]}) TO (${ends[1]});
          CREATE TABLE t${day} PARTITION OF public.times FOR VALUES FROM (${times[0]}) TO (${times[1]});`;
      });
      const sql = `
        CREATE TABLE public.epochs (at bigint, org text) PARTITION BY RANGE (at);
        CREATE TABLE public.times (at timestamp, org text) PARTITION BY RANGE (at); ${days.join('')}
        INSERT INTO public.epochs SELECT extract(epoch FROM timestamptz '2026-03-01Z') + i * 600, 'alpha' FROM generate_series(0, 1439) AS i;
        INSERT INTO public.times SELECT to_timestamp(at) AT TIME ZONE 'UTC', org FROM public.epochs;
        ANALYZE`;
      const tables = {
        spans: {
          from: 'public.epochs',
          columns: { time: 'to_timestamp(at)' },
          timeBounds: ['at >= extract(epoch FROM {start})::bigint', 'at < extract(epoch FROM {end})::bigint'],
        },
        logs: {
          from: 'public.times',
          columns: { time: "at AT TIME ZONE 'UTC'" },
          timeBounds: ["at >= {start} AT TIME ZONE 'UTC'", "at < {end} AT TIME ZONE 'UTC'"],
        },
      };
      const start = new Date('2026-03-05T12:00:00Z');
      const window = { start, end: new Date(start.getTime() + 3_600_000) };
      const context = { organizationId: a, signal: new AbortController().signal };
      for (const isolation of ['layered', 'degraded']) {
        const config = {
          mapping: { tables },
          tenancy: { boundary: { mode: 'column', column: 'org' }, ...tenants },
          isolation,
        };
        await withLayout(server, { sql, config }, async (telemetry) => {
          for (const table of ['spans', 'logs']) {
            const counted = `SELECT count(*) FROM otel.${table}`;
            expect((await ask(telemetry, a, counted, { window })).rows).toEqual([['6']]);
            expect((await ask(telemetry, a, counted)).rows).toEqual([['1440']]);
            const checked = telemetry.check(await telemetry.parse(counted, context));
            const rendered = await telemetry.render(checked, { window }, context);
            const { text } = await askBare(telemetry, a, `EXPLAIN (ANALYZE, COSTS OFF) ${rendered}`);
            expect([...new Set(text.match(/ on [et]\d\b/g))]).toEqual([` on ${table === 'spans' ? 'e' : 't'}4`]);
          }
        });
      }
    });

    it('the exporter’s tables by time, through the index that setup proposes', async () => {
      const config = {
        mapping: { preset: 'postgres-exporter' },
        tenancy: { boundary: { mode: 'none', organization: a } },
      };
      const rows = `INSERT INTO oteltraces ("Timestamp", "SpanName", "ServiceName")
        SELECT timestamp '2026-02-26' + i * interval '12 seconds', 'x', 'shop' FROM generate_series(1, 30000) AS i;
        INSERT INTO otellogs ("Timestamp", "ServiceName", "Body") SELECT "Timestamp", "ServiceName", repeat('x', 200) FROM oteltraces;`;
      await withLayout(server, { sql: exporter + rows, config }, async (telemetry, database) => {
        const scripts = (await telemetry.operations?.setup(AbortSignal.timeout(20_000))) ?? [];
        const indexes = scripts.flatMap(({ sql }) => sql.match(/^-- CREATE INDEX.*$/gm) ?? []);
        for (const line of indexes) await server.admin(line.slice(3), database);
        await server.admin('ANALYZE', database);
        const since = "time >= '2026-03-01T12:00:00Z' AND time < '2026-03-01T12:10:00Z'";
        for (const table of ['spans', 'logs']) {
          const { text } = await askBare(telemetry, a, `EXPLAIN SELECT count(*) FROM otel.${table} WHERE ${since}`);
          expect(text).toMatch(/Index Scan on sightline_time_[^]*Index Cond: [^]*Timestamp/);
        }
      });
    });

    it('a database of its own for the only organization', async () => {
      const config = { mapping: mapped('public.events'), tenancy: { boundary: { mode: 'none', organization: a } } };
      await withLayout(server, { sql: simple('public.events', "'of alpha', ''"), config }, async (telemetry) => {
        expect((await ask(telemetry, a, 'SELECT body FROM otel.logs')).rows).toEqual([['of alpha']]);
        await expect(ask(telemetry, b, 'SELECT body FROM otel.logs')).rejects.toMatchObject({ code: 'forbidden' });
      });
    });

    it('connections of their own for each', async () => {
      const url = `postgres://{login}@${server.host}:${server.port}/{database}`;
      for (const tenancy of [
        { boundary: { mode: 'connection' }, value: 'id', organizations: { [a]: 'alpha', [b]: 'unknown' } },
        {
          boundary: { mode: 'database', template: '{tenant}' },
          value: 'id',
          organizations: { [a]: '{database}', [b]: 'sl_none' },
        },
      ]) {
        const connections = tenancy.boundary.mode === 'connection' ? { alpha: url } : {};
        const config = { mapping: mapped('public.events'), tenancy, connections };
        await withLayout(server, { sql: simple('public.events', "'of alpha', ''"), config }, async (telemetry) => {
          expect((await ask(telemetry, a, 'SELECT body FROM otel.logs')).rows).toEqual([['of alpha']]);
          await expect(ask(telemetry, b, 'SELECT body FROM otel.logs')).rejects.toMatchObject({
            code: expect.stringMatching(/forbidden|telemetry_unavailable/),
          });
        });
      }
    });

    it("what the operator took away is the operator's to mend", async () => {
      const boundary = { boundary: { mode: 'column', column: 'org' }, ...tenants };
      for (const isolation of ['layered', 'degraded']) {
        const config = { mapping: mapped('public.events'), tenancy: boundary, isolation };
        await withLayout(
          server,
          { sql: simple('public.events', "'of alpha', 'alpha'"), config },
          async (telemetry, database) => {
            const sql = 'SELECT count(*) FROM otel.logs WHERE body = body';
            expect((await ask(telemetry, a, sql)).rows).toEqual([['1']]);
            await server.admin(isolation === 'layered' ? 'DROP VIEW otel.logs' : 'DROP TABLE public.events', database);
            await expect(ask(telemetry, a, sql)).rejects.toMatchObject({
              code: 'telemetry_unavailable',
              operatorMessage: expect.stringContaining('does not exist'),
            });
            await expect(ask(telemetry, a, 'SELECT nothing FROM (SELECT 1) AS x')).rejects.toMatchObject({
              code: 'unknown_column',
            });
          },
        );
      }
    });

    it('attributes that are a list or a text have no keys, and fail no other row', async () => {
      const sql = `CREATE TABLE public.events (ts timestamptz, msg text, org text, tags jsonb);
        INSERT INTO public.events SELECT '2026-03-01T12:00:00Z', 'm', 'alpha', tags FROM (VALUES ('[1]'::jsonb), ('"x"'), (NULL), ('{"k": "v"}')) AS t(tags)`;
      const tables = { logs: { from: 'public.events', columns: { time: 'ts', body: 'msg', attributes: 'tags' } } };
      const config = { mapping: { tables }, tenancy: { boundary: { mode: 'column', column: 'org' }, ...tenants } };
      await withLayout(server, { sql, config }, async (telemetry) => {
        const entries = telemetry.dialect.write.unnestMap('s.attributes', 'a');
        const keys = await ask(telemetry, a, `SELECT a.key, a.value FROM otel.logs AS s, ${entries}`);
        expect(keys.rows).toEqual([['k', 'v']]);
      });
    });

    it('a text that is no UTF-8 is called that', async () => {
      const config = {
        mapping: mapped('public.events'),
        tenancy: { boundary: { mode: 'column', column: 'org' }, ...tenants },
      };
      const sql = `${simple('public.events', "'x', 'alpha'")}; UPDATE pg_database SET encoding = 0 WHERE datname = current_database()`;
      await withLayout(server, { sql, config }, async (telemetry, database) => {
        await server.admin(`UPDATE public.events SET msg = E'\\xff'`, database);
        await expect(ask(telemetry, a, 'SELECT body FROM otel.logs')).rejects.toMatchObject({
          code: 'sql_failed',
          message: expect.stringContaining('no valid UTF-8'),
        });
      });
    });

    describe('without views, over a table without the column that tells tenants apart', () => {
      const config = {
        mapping: mapped('public.events'),
        tenancy: { boundary: { mode: 'column', column: 'org' }, ...tenants },
        isolation: 'degraded',
      };
      const sql = `${simple('public.events', "'of alpha', 'alpha'")}; INSERT INTO public.events VALUES ('2026-03-01T12:00:00Z', 'of beta', 'beta')`;
      const leaking = [
        `SELECT (SELECT max(body) FROM otel.logs) FROM (SELECT 'alpha' AS org) AS x`,
        `SELECT (SELECT count(*) FROM otel.logs) FROM (SELECT 'alpha' AS org) AS x`,
        `SELECT x.org FROM (SELECT 'alpha' AS org) AS x WHERE EXISTS (SELECT FROM otel.logs WHERE body LIKE '%beta')`,
        `WITH x AS (SELECT 'alpha' AS org) SELECT x.org, ARRAY(SELECT body FROM otel.logs) FROM x`,
        `SELECT l.body FROM (SELECT 'alpha' AS org) AS x, LATERAL (SELECT body FROM otel.logs) AS l`,
        `SELECT l.body FROM (SELECT 'alpha' AS org) AS x LEFT JOIN LATERAL (SELECT otel_logs.body FROM otel.logs AS otel_logs) AS l ON true`,
      ];

      it('a WITH of the caller stands beside ours, wherever it is written', async () => {
        await withLayout(server, { sql, config }, async (telemetry) => {
          for (const statement of [
            'WITH x AS (SELECT body FROM otel.logs) SELECT * FROM x',
            '((WITH x AS (SELECT body FROM otel.logs) SELECT * FROM x)) LIMIT 5',
            `(WITH x AS (SELECT body FROM otel.logs) SELECT * FROM x) UNION SELECT body FROM otel.logs`,
            `with recursive x(body, n) AS (SELECT body, 1 FROM otel.logs UNION ALL SELECT body, n + 1 FROM x WHERE n < 3) SELECT DISTINCT body FROM x`,
            'TABLE otel.logs',
          ]) {
            const { rows } = await ask(telemetry, a, statement);
            expect([statement, JSON.stringify(rows)]).toEqual([statement, expect.stringContaining('of alpha')]);
            expect(rows).toHaveLength(1);
          }
        });
      });

      it('the start is refused, and says which table and column', async () => {
        const without = `${sql}; ALTER TABLE public.events DROP COLUMN org`;
        await expect(withLayout(server, { sql: without, config }, async () => {})).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringMatching(/otel\.logs .*public\.events.*"org"/),
        });
      });

      it('a statement finds no column of its own in its place', async () => {
        await withLayout(server, { sql, config }, async (telemetry, database) => {
          for (const statement of leaking) {
            const { rows } = await ask(telemetry, a, statement);
            expect(JSON.stringify(rows)).not.toContain('beta');
          }
          await server.admin('ALTER TABLE public.events RENAME COLUMN org TO was_org', database);
          for (const statement of leaking) {
            await expect(ask(telemetry, a, statement)).rejects.toMatchObject({ code: expect.stringMatching(/./) });
          }
        });
      });
    });

    it('connections of tenants, each of which is probed', async () => {
      const url = `postgres://{login}@${server.host}:${server.port}/{database}`;
      const sql = `${simple('public.events', "'of alpha', ''")}; CREATE EXTENSION dblink`;
      const tenancy = { boundary: { mode: 'connection' }, value: 'id', organizations: { [a]: 'alpha', [b]: 'beta' } };
      const first = `postgres://{login}@${server.host}:${server.port}/sl_none`;
      for (const [connections, check, detail] of [
        [{ alpha: url, beta: url }, 'isolation', 'alpha and beta'],
        [{ alpha: url, beta: first }, 'network', 'In the database of alpha'],
        [{ alpha: url, beta: first }, 'tenant database', 'The database of beta'],
      ] as const) {
        const config = { mapping: mapped('public.events'), tenancy, connections };
        await withLayout(server, { sql, config }, async (telemetry) => {
          const findings = await telemetry.operations?.probe(AbortSignal.timeout(20_000));
          expect(findings).toContainEqual(
            expect.objectContaining({
              check,
              status: check === 'tenant database' ? 'warn' : 'fail',
              detail: expect.stringContaining(detail),
            }),
          );
        });
      }
    });

    it('are found by inspect, which writes the config for them', async () => {
      const config = {
        mapping: { preset: 'postgres-exporter' },
        tenancy: { boundary: { mode: 'none', organization: a } },
      };
      await withLayout(server, { sql: exporter + exported('alpha'), config }, async (telemetry) => {
        const inspection = await telemetry.operations?.inspect(AbortSignal.timeout(20_000));
        expect(inspection?.server).toBe(server.name);
        expect(inspection?.candidates).toHaveLength(1);
        expect(inspection?.candidates[0]).toMatchObject({
          preset: 'postgres-exporter',
          mapping: { preset: 'postgres-exporter' },
          found: { spans: '"public"."oteltraces"', logs: '"public"."otellogs"' },
        });
        const missing = inspection?.candidates[0]?.missing.map(({ what }) => what);
        expect(missing).toEqual(expect.arrayContaining(['otel.metrics', 'otel.spans.events', 'otel.logs.event_name']));
      });
    });
  });
}

describe('a mapping', () => {
  const host = telemetryHost(testHost(tmpdir()), noOrganizations);
  const tables = (logs: object) => ({ mapping: { tables: { logs: { from: 'l', columns: { time: 't' }, ...logs } } } });

  it.each([
    [{ mapping: { preset: 'other' } }, 'mapping.preset'],
    [{ mapping: { preset: 'sightline', names: { span: 'x' } } }, 'mapping.names.span'],
    [tables({ columns: { time: 't', text: 'b' } }), 'mapping.tables.logs.columns.text'],
    [tables({ columns: { time: 't', body: 'CASE WHEN' } }), 'mapping.tables.logs.columns.body'],
    [tables({ where: 'a ===> (' }), 'mapping.tables.logs.where'],
    [tables({ from: 'a JOIN' }), 'mapping.tables.logs.from'],
    [tables({ timeBounds: ['d >= {start} AND'] }), 'mapping.tables.logs.timeBounds.0'],
    [{ tenancy: { boundary: { mode: 'expression', expression: 'lower(a' } } }, 'tenancy.boundary.expression'],
  ])('that no server could serve is refused without one: %j', async (config, key) => {
    const parsed = plugin.configSchema.parse({ url: 'postgres://u:p@127.0.0.1:1/d', isolation: 'degraded', ...config });
    const check = async () => await plugin.create(parsed, host).operations?.check?.();
    await expect(check()).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringContaining(key) });
  });

  it('that one could serve is not', async () => {
    const config = { ...tables({ where: 'a > 1', timeBounds: ['d >= {start}::date'] }), isolation: 'degraded' };
    const parsed = plugin.configSchema.parse({ url: 'postgres://u:p@127.0.0.1:1/d', ...config });
    await plugin.create(parsed, host).operations?.check?.();
  });
});

describe('a config', () => {
  const host = telemetryHost(testHost(tmpdir()), noOrganizations);
  const create = (config: object) => plugin.create(plugin.configSchema.parse(config), host);
  const url = 'postgres://u:p@127.0.0.1:1/d';

  it.each([
    [{ url }, 'telemetry.boundary.secret is missing'],
    [{ isolation: 'degraded' }, 'telemetry.url is missing'],
    [{ url, host: 'h', isolation: 'degraded' }, 'telemetry.url and telemetry.host'],
    [{ url, tenancy: { boundary: { mode: 'dataset', template: '{tenant}' } } }, 'PostgreSQL has no datasets'],
    [{ url, tenancy: { boundary: { mode: 'connection' } } }, 'telemetry.connections is missing'],
    [
      { url, boundary: { secret: 's'.repeat(32) }, tenancy: { boundary: { mode: 'schema', template: '{tenant}' } } },
      'telemetry.tenancy.organizations is missing',
    ],
    [{ url: `${url}?sslmode=disable`, ssl: true, isolation: 'degraded' }, 'telemetry.url says sslmode=disable'],
    [{ url: `${url}?sslmode=require`, ssl: { ca: 'x' }, isolation: 'degraded' }, 'telemetry.url says sslmode=require'],
    [{ url, isolation: 'degraded', ingest: { enabled: true } }, 'telemetry.ingest.url is missing'],
    [
      { url, isolation: 'degraded', ingest: { enabled: true, url }, mapping: { preset: 'postgres-exporter' } },
      'telemetry.ingest.enabled needs mapping.preset: sightline',
    ],
  ])('that no PostgreSQL can serve is refused: %j', (config, message) => {
    expect(() => create(config)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) }),
    );
  });
});

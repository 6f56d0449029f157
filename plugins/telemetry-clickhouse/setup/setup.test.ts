import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ResolvedMapping, Tenancy } from '../../../src/contract/telemetry/index.ts';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { literal } from '../quote.ts';
import { openEngine, remove, type Engine } from '../support/layouts/engine.ts';
import { build, layouts } from '../support/layouts/index.ts';
import { isTenant, mapped, physicalColumns } from '../support/layouts/mapped.ts';
import { usersXml } from '../support/layouts/users-xml.ts';
import { changedSettings } from '../client/settings.ts';
import { access, accessSql, type AccessOptions, type ServerBoundary } from './access.ts';
import { setupScripts } from './index.ts';
import { ownTables } from './own-tables.ts';
import { physicalTables } from './physical-tables.ts';
import { profileSettings } from './profile.ts';

const tenants = ['acme', "o'brien"].filter(isTenant);

function options(
  engine: Engine,
  mapping: ResolvedMapping,
  boundary: Tenancy['boundary'],
  json: ReadonlySet<string>,
  server: ServerBoundary = { by: 'query_id' },
): AccessOptions {
  return {
    username: 'sightline',
    limits: { executionSeconds: 60, memoryBytes: 4_000_000_000 },
    boundary,
    server,
    json,
    tenants,
    tables: () => physicalTables(engine.rows, physicalColumns(engine.rows), mapping),
  };
}

describeOnEngine('the setup of a warehouse', () => {
  let admin: Engine;
  beforeAll(async () => {
    admin = await openEngine();
    for (const layout of layouts) await build(admin, layout);
  });
  afterAll(async () => {
    await admin?.[Symbol.asyncDispose]();
    if (admin) remove(admin.directory);
  });

  /** The parser of the real engine; what it does with users and roles is the server's. */
  const parses = async (sql: string) => {
    for (const statement of sql.split(';\n').filter((text) => text.replaceAll(/^--.*$/gm, '').trim() !== '')) {
      await admin.rows(`EXPLAIN AST ${statement.replaceAll(/^--.*$/gm, '')}`);
    }
  };

  it('is SQL that the engine reads, for every layout, boundary and server', async () => {
    for (const { preset, names } of layouts) {
      const { mapping, boundary, json } = await mapped(admin.rows, { preset, names });
      for (const server of [{ by: 'query_id' }, { by: 'role', role: 'org_{tenant}' }, { by: 'none' }] as const) {
        for (const cluster of preset === 'signoz' ? [undefined, "my 'cluster'"] : [undefined]) {
          const scripts = setupScripts({
            given: await access(options(admin, mapping, boundary, json, server)),
            ...(cluster === undefined ? {} : { cluster }),
            own: {
              database: 'sightline',
              prefix: 'sightline_',
              writer: 'sightline_writer',
              retentionDays: 30,
              ...(cluster === undefined ? {} : { cluster }),
            },
          });
          for (const { sql } of scripts) await parses(sql);
        }
      }
    }
  });

  it('grants what the mapping reads and nothing else', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, {
      preset: 'otel-collector',
      names: { database: 'collector_old' },
    });
    const [{ sql: printed } = { sql: '' }] = setupScripts({
      given: await access(options(admin, mapping, boundary, json)),
    });
    const sql = printed.slice(printed.indexOf('CREATE SETTINGS'));
    const spans = sql.split(';\n').find((line) => line.includes('`otel_traces`'));
    expect(spans).toBe('GRANT SELECT ON `collector_old`.`otel_traces` TO `sightline`');
    expect(sql).not.toMatch(/ResourceSchemaUrl|\*\.\*|INSERT|CREATE TABLE/);
    expect(sql.match(/^GRANT/gm)).toHaveLength(7);
    expect(sql).toContain('readonly = 1 CONST');
  });

  it('ends in the same state where the user was there before', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'sightline' });
    const [{ sql } = { sql: '' }] = setupScripts({ given: await access(options(admin, mapping, boundary, json)) });
    expect(sql.trim().split(';\n').at(-1)).toBe(
      "ALTER USER `sightline` DEFAULT ROLE NONE SETTINGS PROFILE 'sightline_profile';",
    );
  });

  it('says what other users see, and how they go on seeing it', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'sightline' });
    const [, policies] = setupScripts({ given: await access(options(admin, mapping, boundary, json)) });
    const comments = (policies?.sql ?? '').split('\n').filter((line) => line.startsWith('--'));
    expect(comments.join(' ')).toContain('users_without_row_policies_can_read_rows');
    const others = comments.filter((line) => line.includes('CREATE')).map((line) => line.slice(3));
    expect(others).toContain(
      'CREATE ROW POLICY OR REPLACE `sightline_others` ON `sightline`.`sightline_spans` FOR SELECT USING 1 TO ALL EXCEPT `sightline`;',
    );
    expect(others).toHaveLength(3);
    await parses(`${others.join('\n')}\n`);
  });

  it('keeps one gateway’s policies apart from another’s on the same tables', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'sightline' });
    const scripts = setupScripts({
      given: await access({ ...options(admin, mapping, boundary, json), username: 'staging' }),
      own: { database: 'sightline', prefix: 'sightline_', writer: 'staging_writer' },
    });
    expect(scripts.at(-1)?.sql).toMatch(/^CREATE ROW POLICY OR REPLACE `staging` ON .* TO `staging`;$/m);
    expect(scripts.at(-1)?.sql).not.toMatch(/OR REPLACE `sightline` ON/);
    // The writer reads what it wrote, also where a server hides rows from whoever has no policy.
    expect(scripts[1]?.sql).toContain(
      'CREATE ROW POLICY OR REPLACE `staging_writer` ON `sightline`.`sightline_logs` FOR SELECT USING 1 TO `staging_writer`;',
    );
    await parses(scripts[1]?.sql ?? '');
  });

  it('takes no organization whose role would be the user itself', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'sightline' });
    const role = { by: 'role', role: '{tenant}' } as const;
    const tenant = ['sightline'].filter(isTenant);
    await expect(access({ ...options(admin, mapping, boundary, json, role), tenants: tenant })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('telemetry.serverBoundary.role'),
    });
  });

  it('shows the login the columns of tables that only roles may read', async () => {
    await using other = await openEngine();
    for (const sql of ownTables({ database: 'org_acme', prefix: 'sightline_' })) await other.rows(sql);
    const { mapping, json } = await mapped(other.rows, { preset: 'sightline', names: { database: 'org_acme' } });
    const given = await access({
      ...options(other, mapping, { mode: 'database', template: 'org_{tenant}' }, json, {
        by: 'role',
        role: 'r_{tenant}',
      }),
      tenants: ['acme'].filter(isTenant),
    });
    const [{ sql } = { sql: '' }] = accessSql(given, undefined);
    expect(sql).toContain('GRANT SHOW COLUMNS ON `org_acme`.`sightline_spans` TO `sightline`;');
    expect(sql).not.toContain('GRANT SELECT ON `org_acme`.`sightline_spans` TO `sightline`');
    await other[Symbol.asyncDispose]();
    await using login = await openEngine({ directory: other.directory, usersXml: usersXml(given) });
    const found = await physicalColumns(login.rows)('org_acme.sightline_spans');
    expect(found?.get('organization')).toBe('LowCardinality(String)');
    await expect(login.rows('SELECT count() FROM org_acme.sightline_spans')).rejects.toThrow(/Code: 497/);
    remove(other.directory);
  });

  it('lets the gateway change the settings that it sends, all of which the engine knows', async () => {
    const settings = profileSettings({ executionSeconds: 60, memoryBytes: 1e9 });
    expect(settings.filter(({ changeable }) => changeable).map(({ name }) => name)).toEqual(
      expect.arrayContaining([...changedSettings]),
    );
    const names = settings.map(({ name }) => literal(name)).join(', ');
    const known = await admin.rows(`SELECT name FROM system.settings WHERE name IN (${names})`);
    expect(known).toHaveLength(settings.length);
  });

  it('keys each policy on what SQL cannot change', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'sightline' });
    const [, policies] = setupScripts({ given: await access(options(admin, mapping, boundary, json)) });
    expect(policies?.sql).toContain(
      "CREATE ROW POLICY OR REPLACE `sightline` ON `sightline`.`sightline_spans` FOR SELECT USING `organization` = decodeURLComponent(splitByChar(':', initialQueryID())[1]) TO `sightline`;",
    );
    const [, byRole] = setupScripts({
      given: await access(options(admin, mapping, boundary, json, { by: 'role', role: 'org_{tenant}' })),
    });
    expect(byRole?.sql).toContain('FOR SELECT USING 0 TO `sightline`;');
    expect(byRole?.sql).toContain(
      String.raw`USING \`organization\` = 'o\'brien' TO \`org_o'brien\``.replaceAll('\\`', '`'),
    );
  });

  it('says of which tables no policy can tell tenants apart', async () => {
    const { mapping, boundary, json } = await mapped(admin.rows, { preset: 'signoz' });
    const { open, policies } = await access(options(admin, mapping, boundary, json));
    expect(open.map(({ table }) => table)).toEqual(['signoz_metrics.samples_v4', 'signoz_metrics.time_series_v4']);
    expect(policies.map(({ table }) => table)).toEqual(['signoz_index_v3', 'logs_v2']);
  });

  it('lets the gateway read what it may, and no other row', async () => {
    const directory = admin.directory;
    const given = await Promise.all(
      layouts.map(async ({ preset, names }) => {
        const { mapping, boundary, json, relation } = await mapped(admin.rows, { preset, names });
        return {
          preset,
          logs: relation('logs'),
          spans: relation('spans'),
          metrics: relation('metrics'),
          access: await access(options(admin, mapping, boundary, json)),
        };
      }),
    );
    await admin[Symbol.asyncDispose]();
    const all = given.map((one) => one.access);
    const [first] = all;
    if (first === undefined) throw new Error('no layout');
    const xml = usersXml(
      { ...first, grants: all.flatMap(({ grants }) => grants), policies: all.flatMap(({ policies }) => policies) },
      (using) => using.replaceAll(/decodeURLComponent\(.*?\)\[1\]\)/g, literal('acme')),
    );
    const gateway = await openEngine({ directory, usersXml: xml });
    try {
      for (const { preset, logs, spans, metrics } of given) {
        for (const [table, relation] of Object.entries({ logs, spans, metrics })) {
          const [row] = await gateway.rows(`SELECT count() AS n FROM (SELECT * FROM ${relation})`);
          expect({ preset, table, n: Number(row?.['n']) }).toEqual({
            preset,
            table,
            n: preset === 'signoz' && table === 'metrics' ? 288 : 720,
          });
        }
      }
      for (const table of [
        'collector_new.otel_logs',
        'collector_json.otel_logs',
        'signoz_logs.logs_v2',
        'sightline.sightline_logs',
      ]) {
        const column = table.includes('otel') ? 'Body' : 'body';
        const [row] = await gateway.rows(
          `SELECT count() AS n, countIf(${column} LIKE '%globex%') AS others FROM ${table}`,
        );
        expect({ table, n: Number(row?.['n']), others: Number(row?.['others']) }).toEqual({ table, n: 720, others: 0 });
      }
      for (const setting of ['max_execution_time = 600', 'readonly = 0', 'allow_ddl = 1', 'max_threads = 1']) {
        await expect(gateway.rows(`SET ${setting}`)).rejects.toThrow(/Code: (164|392|452)/);
      }
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  });
});

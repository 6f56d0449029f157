import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../../test/contract/telemetry/warehouse.ts';
import { ClickHouseServer } from '../../test/support/clickhouse/server.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { describeOnEngine } from '../../test/support/clickhouse/with-engine.ts';
import plugin from './index.ts';
import { ownTables } from './setup/own-tables.ts';
import { createTelemetry, newOrganization } from './support/harness.ts';

const boundary = { mode: 'column', column: 'organization' };
const tablesIn = (database: string) => ['spans', 'metrics', 'logs'].map((table) => `${database}.sightline_${table}`);
const signal = AbortSignal.timeout(60_000);

describeOnEngine("an operator's commands over HTTP", () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await ClickHouseServer.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  it('set up an empty server for our receiver, so that the plugin starts and inspection finds its tables', async () => {
    const telemetry = createTelemetry(server.url, { ingest: { username: 'sightline_writer' } });
    const scripts = (await telemetry.operations?.setup(signal)) ?? [];
    expect(scripts.map(({ title }) => title)).toEqual([
      expect.stringContaining('Tables'),
      expect.stringContaining('writes'),
      expect.stringContaining('reads'),
      expect.stringContaining('Row policies'),
    ]);
    expect(scripts.map(({ sql }) => sql).join('')).toContain(
      'GRANT SELECT ON `sightline`.`sightline_spans` TO `sightline`',
    );
    await server.runAll(statements(scripts[0]?.sql ?? ''));
    await telemetry.start(signal);
    expect(await telemetry.health(signal)).toMatchObject({ ok: true });
    const inspection = await telemetry.operations?.inspect(signal);
    expect(inspection?.candidates[0]).toMatchObject({
      preset: 'sightline',
      mapping: { preset: 'sightline' },
      found: { spans: '`sightline`.`sightline_spans`' },
    });
    await telemetry.stop();
  });

  it('take no writer that is not named, or that is the reader', async () => {
    const problem = plugin.configSchema.safeParse({ url: server.url, tenancy: { boundary }, ingest: {} }).error;
    expect(problem?.issues).toMatchObject([
      { path: ['ingest', 'username'], message: expect.stringContaining('sightline_writer') },
    ]);
    const telemetry = createTelemetry(server.url, { login: 'one', ingest: { username: 'one' } });
    await expect(telemetry.operations?.setup(signal)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('telemetry.ingest.username'),
    });
    await telemetry.stop();
  });

  it.each<[string, object, readonly string[]]>([
    [
      'otel-collector',
      { preset: 'otel-collector' },
      ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary']
        .map((type) => `otel.otel_metrics_${type}`)
        .concat('otel.otel_traces', 'otel.otel_logs'),
    ],
    ['clickstack', { preset: 'clickstack', tables: { metrics: false } }, ['default.otel_traces', 'default.otel_logs']],
    [
      'signoz',
      { preset: 'signoz' },
      [
        'signoz_traces.distributed_signoz_index_v3',
        'signoz_logs.distributed_logs_v2',
        'signoz_metrics.distributed_samples_v4',
        'signoz_metrics.distributed_time_series_v4',
      ],
    ],
    ['sightline', { preset: 'sightline', names: { database: 'obs' } }, tablesIn('obs')],
    [
      'by hand',
      {
        tables: {
          spans: { from: 'obs.requests', columns: { time: 'ts', resource_attributes: 'tags' } },
          logs: { from: '`app_log`', columns: { time: 'ts', resource_attributes: 'tags' } },
        },
      },
      ['obs.requests', 'own.app_log'],
    ],
  ])('print what the user of %s needs before it is there', async (_name, mapping, tables) => {
    const telemetry = createTelemetry('http://127.0.0.1:1', {
      username: 'sightline',
      database: 'own',
      ingest: undefined,
      mapping,
      tenancy: { boundary: { mode: 'resource_attribute', key: 'tenant.id' } },
    });
    const [user, policies] = (await telemetry.operations?.setup(signal)) ?? [];
    await telemetry.stop();
    expect(user?.sql).toMatch(/^-- The tables could not be looked at: the user sightline may not be there yet/);
    expect(policies?.sql).toMatch(/^-- The tables could not be looked at/);
    const granted = [...(user?.sql ?? '').matchAll(/^GRANT SELECT ON (.*) TO `sightline`;$/gm)];
    expect(granted.map(([, table = '']) => table.replaceAll('`', '')).toSorted()).toEqual(tables.toSorted());
    expect(policies?.sql).toMatch(/\['tenant.id'\] = decodeURLComponent/);
  });

  it('print the same for a user that is there and sees nothing', async () => {
    const bare = await ClickHouseServer.start({
      usersXml: `<clickhouse><profiles><default></default></profiles><quotas><default></default></quotas><users><default>
        <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
        <grants><query>GRANT SELECT ON nothing.there</query></grants></default></users></clickhouse>`,
    });
    const telemetry = createTelemetry(bare.url, { ingest: undefined, mapping: { preset: 'otel-collector' } });
    const [user] = (await telemetry.operations?.setup(signal)) ?? [];
    await telemetry.stop();
    await bare.stop();
    expect(user?.sql).toMatch(/^-- The tables could not be looked at/);
    expect(user?.sql).toContain('GRANT SELECT ON `otel`.`otel_traces`');
  });

  it('take the names of the preset’s tables from the template, whatever the tenants are called', async () => {
    const [one, two] = [newOrganization(), newOrganization()];
    const tenants = ['acme-7', '7up'];
    for (const tenant of tenants) {
      await server.runAll(ownTables({ database: 'shared', prefix: `${tenant}_sightline_` }));
      await server.run(`INSERT INTO shared.\`${tenant}_sightline_spans\` (time, name) VALUES (now64(9), '${tenant}')`);
    }
    const telemetry = createTelemetry(server.url, {
      ingest: undefined,
      isolation: 'degraded',
      mapping: { preset: 'sightline', names: { database: 'shared' } },
      tenancy: {
        boundary: { mode: 'table_template', template: '{tenant}_{table}' },
        organizations: { [one]: tenants[0], [two]: tenants[1] },
      },
    });
    const [user] = (await telemetry.operations?.setup(signal)) ?? [];
    for (const tenant of tenants) {
      expect(user?.sql).toContain(`GRANT SELECT ON \`shared\`.\`${tenant}_sightline_spans\` TO \`sightline\`;`);
    }
    await telemetry.start(signal);
    expect((await ask(telemetry, one, 'SELECT name FROM otel.spans')).rows).toEqual([['acme-7']]);
    expect((await ask(telemetry, two, 'SELECT name FROM otel.spans')).rows).toEqual([['7up']]);
    await telemetry.stop();
  });

  it('set up no table that would be the same for all tenants', async () => {
    const telemetry = createTelemetry(server.url, {
      ingest: undefined,
      mapping: { preset: 'sightline', names: { database: 'sightline' } },
      tenancy: { boundary: { mode: 'table_template', template: '{tenant}' }, organizations: { acme: 'acme' } },
    });
    await expect(telemetry.operations?.setup(signal)).rejects.toMatchObject({
      code: 'config_invalid',
      operatorMessage: expect.stringContaining('{tenant}'),
    });
    await telemetry.stop();
  });

  it('probe as the account of the config, and name what it may do', async () => {
    await server.run("INSERT INTO sightline.sightline_logs (organization, time, body) VALUES ('acme', now64(9), 'x')");
    const telemetry = createTelemetry(server.url, { isolation: 'layered' });
    const findings = (await telemetry.operations?.probe(signal)) ?? [];
    const failed = findings.filter(({ status }) => status === 'fail').map(({ check }) => check);
    expect(failed).toEqual(
      expect.arrayContaining(['other organizations', 'write access', 'read-only', 'files and network']),
    );
    for (const { hint } of findings.filter(({ status }) => status !== 'ok')) expect(hint ?? '').not.toBe('');
    expect(await server.run('SELECT count() FROM sightline.sightline_logs')).toBe('1\n');
    await telemetry.stop();
  });

  it('say which key is missing where each organization needs a role of its own', async () => {
    const telemetry = createTelemetry(server.url, {
      ingest: { username: 'sightline_writer' },
      serverBoundary: { by: 'role', role: 'org_{tenant}' },
    });
    await expect(telemetry.operations?.setup(signal)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('telemetry.tenancy.organizations'),
    });
    await telemetry.stop();
  });

  it('fail with a clear error where nothing answers', async () => {
    const telemetry = createTelemetry('http://127.0.0.1:1');
    await expect(telemetry.operations?.probe(signal)).rejects.toMatchObject({ code: 'telemetry_unavailable' });
    await telemetry.stop();
  });
});

/** The embedded engine makes no users; these are of its users.xml, and an administrator sees them. */
const user = (name: string, inside: string) =>
  `<${name}><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>${inside}</${name}>`;
const grants = (...queries: readonly string[]) =>
  `<grants>${queries.map((query) => `<query>GRANT ${query}</query>`).join('')}</grants>`;
const reading = tablesIn('sightline').map((table) => `SELECT ON ${table}`);
const usersXml = `<clickhouse><profiles><default></default><moved_profile></moved_profile></profiles><quotas><default></default></quotas><users>${[
  user('default', '<access_management>1</access_management>'),
  user('app', grants('SELECT, INSERT ON sightline.*')),
  user('reader', grants(...reading, 'SELECT ON sightline.orders')),
  user('sightline', grants(...reading, 'SHOW COLUMNS ON sightline.sightline_logs')),
  user('sightline', grants(...reading, 'SELECT ON before.logs'))
    .replaceAll(/sightline(?=>)/g, 'moved')
    .replace('>default<', '>moved_profile<'),
].join('')}</users></clickhouse>`;

describeOnEngine('the user that the set-up prints', () => {
  const server = sharedServer({ usersXml });
  const seen = async () =>
    await Promise.all(
      ['users', 'grants', 'role_grants', 'settings_profiles', 'settings_profile_elements', 'row_policies'].map(
        (table) => server().run(`SELECT * FROM system.${table} ORDER BY ALL`),
      ),
    );
  const withLogin = (login: object) => createTelemetry(server().url, { ingest: { username: 'writes' }, ...login });
  const printed = async (telemetry: ReturnType<typeof withLogin>, url?: string) => {
    const { operations } = telemetry;
    const scripts = (await (url === undefined ? operations : operations?.as?.(url))?.setup(signal)) ?? [];
    return scripts.map(({ sql }) => sql).join('');
  };

  it('is never the one that looks around, and looking changes nothing', async () => {
    await server().runAll(ownTables({ database: 'sightline', prefix: 'sightline_' }));
    const before = await seen();
    for (const login of ['sightline', 'moved', 'nobody']) {
      const telemetry = withLogin({ login });
      const sql = await printed(telemetry);
      expect(sql).toContain(`\nALTER USER \`${login}\` `);
      expect(sql.replaceAll(new RegExp(`\`(${login}|writes)\``, 'g'), '')).not.toMatch(/(?:USER|TO|EXCEPT) [`'](?!<)/);
      expect(await printed(telemetry, server().url.replace('//', '//app@'))).toBe(sql);
      await telemetry.stop();
    }
    expect(await seen()).toEqual(before);
  });

  it.each([
    ['app', /INSERT ON sightline\.\*/],
    ['reader', /SELECT ON sightline\.orders/],
  ])(
    'is not %s, which may do more: refused by the command, and by the script before it changes anything',
    async (login, why) => {
      const telemetry = withLogin({ login });
      await expect(printed(telemetry)).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringMatching(why),
      });
      const free = withLogin({ login: 'free' });
      const [first = ''] = statements((await printed(free)).slice((await printed(free)).indexOf('SELECT throwIf')));
      expect(await server().run(first)).toBe('0\n');
      const before = await seen();
      await expect(server().run(first.replaceAll("'free'", `'${login}'`))).rejects.toThrow(/may do more than read/);
      expect(await seen()).toEqual(before);
      await telemetry.stop();
      await free.stop();
    },
  );

  it.each(['nonsense', 'ftp://host', 'postgres://host'])('is looked for by no %s', async (written) => {
    const telemetry = withLogin({});
    expect(() => telemetry.operations?.as?.(written)).toThrow('--url must be http(s)://user:password@host:port.');
    await telemetry.stop();
  });

  it('cannot be default', () => {
    expect(
      plugin.configSchema.safeParse({ url: server().url, tenancy: { boundary }, login: 'default' }).error?.issues,
    ).toMatchObject([{ path: ['login'] }]);
  });
});

function statements(sql: string): readonly string[] {
  return sql.split(';\n').filter((statement) => statement.trim() !== '');
}

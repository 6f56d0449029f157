import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { telemetryHost } from '../../../src/gateway/wiring/telemetry-host.ts';
import type { SetupScript } from '../../../src/contract/telemetry/index.ts';
import { noOrganizations, testHost } from '../../../test/contract/host.ts';
import { postgresServers, type PostgresServer } from '../../../test/support/postgres.ts';
import plugin from '../index.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const unique = randomBytes(4).toString('hex');
const [app, reader, login, owner] = ['app', 'reader', 'login', 'owner'].map((name) => `sl_${name}_${unique}`);

/** Everything that a login has or may do, in this database and beside it, but for the roles of the set-up. */
const catalog = `
  WITH acls(object, owner, acl) AS (
    SELECT concat('relation ', oid::regclass), relowner, coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)) FROM pg_class
    UNION ALL SELECT concat('column ', attrelid::regclass, '.', attname), NULL, attacl FROM pg_attribute WHERE attacl IS NOT NULL
    UNION ALL SELECT concat('schema ', nspname), nspowner, coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace
    UNION ALL SELECT concat('function ', oid::regprocedure), proowner, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
    UNION ALL SELECT concat('database ', datname), datdba, coalesce(datacl, acldefault('d', datdba)) FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT concat('defaults ', defaclobjtype), defaclrole, defaclacl FROM pg_default_acl
  ), ours AS (SELECT oid FROM pg_roles WHERE rolname IN ('{login}', '{owner}')
  ), others AS (SELECT oid FROM pg_roles WHERE rolname IN ('{app}', '{reader}') OR rolname !~ '^sl_')
  SELECT concat(object, ' of ', owner::regrole, ': ', (
    SELECT string_agg(concat(a.grantee::regrole, ' ', a.privilege_type, a.is_grantable), ', ' ORDER BY a.grantee, a.privilege_type)
    FROM aclexplode(acl) AS a WHERE a.grantee NOT IN (SELECT oid FROM ours)))
  FROM acls WHERE owner IS NULL OR owner NOT IN (SELECT oid FROM ours)
  UNION ALL SELECT concat('role ', r, p.rolpassword) FROM pg_roles AS r JOIN pg_authid AS p USING (oid) WHERE r.oid IN (SELECT oid FROM others)
  UNION ALL SELECT concat('setting ', s) FROM pg_db_role_setting AS s WHERE setrole = 0 OR setrole IN (SELECT oid FROM others)
  UNION ALL SELECT concat('member ', m) FROM pg_auth_members AS m WHERE member IN (SELECT oid FROM others)
  ORDER BY 1`;
const filled = (sql: string) =>
  sql.replaceAll(/\{(app|reader|login|owner)\}/g, (_, name: string) => `sl_${name}_${unique}`);

async function scriptsOf(server: PostgresServer, database: string, boundary: object): Promise<readonly SetupScript[]> {
  const config = {
    url: server.url(database, 'postgres', ''),
    boundary: { secret: 's'.repeat(32), login, owner, ...boundary },
    mapping: {
      tables: {
        logs: { from: 'app.events', columns: { time: 'at', body: 'line' } },
        spans: { from: '(SELECT e.* FROM app.events AS e JOIN app.extra USING (id)) AS s', columns: { time: 'at' } },
        metrics: false,
      },
    },
    tenancy: { boundary: { mode: 'column', column: 'org' } },
  };
  const host = telemetryHost(testHost('/nonexistent'), noOrganizations);
  return (
    (await plugin.create(plugin.configSchema.parse(config), host).operations?.setup(AbortSignal.timeout(10_000))) ?? []
  );
}

/** As an administrator runs it, from standard input. */
async function psql(server: PostgresServer, database: string, sql: string, ...args: readonly string[]) {
  const user = String((await server.admin('SELECT current_user'))[0]?.[0]);
  const all = ['-X', '-q', '-h', server.host, '-p', String(server.port), '-U', user, '-d', database, ...args];
  const child = spawn('psql', [...all, '-v', 'gateway_password=g', '-v', `boundary_secret=${'s'.repeat(32)}`]);
  child.stdin.end(sql);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

for (const server of servers) {
  describe(`what the set-up prints, over ${server.name}`, () => {
    let database = '';
    const look = async () => (await server.admin(filled(catalog), database)).map(([line]) => String(line));
    const printed = (scripts: readonly SetupScript[], everybody = false) =>
      scripts
        .filter((script) => (script.everybody ?? false) === everybody)
        .map(({ title, sql }) => `-- ${title}\n${sql}`)
        .join('\n');

    beforeAll(async () => {
      database = await server.createDatabase();
      await server.admin(
        filled(`
        CREATE ROLE {app} LOGIN PASSWORD 'a' CREATEDB; CREATE ROLE {reader} LOGIN PASSWORD 'r';
        ALTER ROLE {app} SET search_path = app, public;
        CREATE SCHEMA app AUTHORIZATION {app}; SET ROLE {app};
        CREATE TABLE app.events (id int, at timestamptz, line text, org text); CREATE TABLE app.extra (id int);
        CREATE VIEW app.recent AS SELECT * FROM app.events; CREATE SEQUENCE app.ids;
        CREATE FUNCTION app.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
        GRANT USAGE ON SCHEMA app TO {reader}; GRANT SELECT ON app.extra TO {reader}; RESET ROLE;`),
        database,
      );
    });
    afterAll(async () => server.drop(database, [app ?? '', reader ?? '', login ?? '', owner ?? '']));

    const untouched: readonly (readonly [string, object, string, RegExp])[] = [
      ['the superuser that looks around', { login: 'postgres' }, 'SELECT 1', /is a superuser/],
      ["an application's login that owns tables", { login: app }, 'SELECT 1', /owns schema app/],
      ['a login that reads more', { login: reader }, 'SELECT 1', /has rights on (table app.extra|schema app)/],
      [
        'a login that may write a view of ours',
        {},
        'CREATE ROLE {login} LOGIN; CREATE SCHEMA otel; CREATE TABLE otel.logs (); GRANT INSERT ON otel.logs TO {login}',
        /may INSERT table otel.logs/,
      ],
      ['a member of another role', {}, 'CREATE ROLE {login}; GRANT {app} TO {login}', /is a member of sl_app/],
      ['a login with settings', {}, "CREATE ROLE {login}; ALTER ROLE {login} SET work_mem = '1MB'", /has settings/],
      ['an owner that logs in', {}, 'CREATE ROLE {owner} LOGIN', /can log in/],
      [
        'an owner that owns other things',
        {},
        'CREATE ROLE {owner}; ALTER TABLE app.extra OWNER TO {owner}',
        /owns table app.extra/,
      ],
      ['an owner that somebody may become', {}, 'CREATE ROLE {owner}; GRANT {owner} TO {reader}', /has the member/],
      [
        "another's schema of the name",
        {},
        'CREATE ROLE {owner}; CREATE SCHEMA otel AUTHORIZATION {app}',
        /not the owner of the schema/,
      ],
    ];
    const undo = filled(
      'ALTER TABLE app.extra OWNER TO {app}; DROP SCHEMA IF EXISTS otel CASCADE; DROP ROLE IF EXISTS {login}; DROP ROLE IF EXISTS {owner}',
    );

    it.each(untouched)('is refused for %s, by the command and by the script itself', async (_, names, sql, why) => {
      // Before the role is what it is, the script is printed without an objection.
      const free = { login: `sl_free_${unique}`, owner: `sl_nobody_${unique}` };
      const scripts = await scriptsOf(server, database, free);
      const { login: role = login, owner: own = owner }: { login?: string; owner?: string } = names;
      const script = printed(scripts).replaceAll(free.login, String(role)).replaceAll(free.owner, String(own));
      await server.admin(filled(sql), database);
      try {
        const before = await look();
        await expect(scriptsOf(server, database, names)).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringMatching(why),
        });
        const { code, stderr } = await psql(server, database, script);
        expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(why) });
        expect(await look()).toEqual(before);
      } finally {
        await server.admin(undo, database);
      }
    });

    it.each([[[]], [['-1']]])('changes nothing for anybody else, run twice with psql %j', async (args) => {
      const before = await look();
      for (const _ of [1, 2]) {
        const ran = await psql(server, database, printed(await scriptsOf(server, database, {})), ...args);
        expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
        expect(await look()).toEqual(before);
      }
      const [row] = await server.admin(
        filled(
          "SELECT has_table_privilege('{login}', 'otel.logs', 'SELECT'), has_table_privilege('{owner}', 'app.extra', 'SELECT')",
        ),
        database,
      );
      expect(row).toEqual([true, true]);
      await server.admin(filled('DROP OWNED BY {owner}, {login}; DROP ROLE {login}, {owner}'), database);
    });

    it('is one transaction: what fails at its end leaves nothing of its beginning', async () => {
      const before = await look();
      const script = printed(await scriptsOf(server, database, {})).replace('RESET ROLE;', 'SELECT 1 / 0;');
      for (const args of [[], ['-1']]) expect(await psql(server, database, script, ...args)).toMatchObject({ code: 3 });
      expect(await look()).toEqual(before);
      expect(await server.admin(filled("SELECT FROM pg_roles WHERE rolname IN ('{login}', '{owner}')"))).toEqual([]);
    });

    it('keeps apart what concerns other logins too', async () => {
      const scripts = await scriptsOf(server, database, {});
      expect(printed(scripts)).not.toMatch(/FROM PUBLIC(?!;$)/m);
      expect(printed(scripts, true)).toContain('pg_stat_get_');
    });
  });
}

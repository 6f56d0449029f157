import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { postgresServers, type PostgresServer } from '../../test/support/postgres.ts';
import { otelTables, type Finding } from '../../src/contract/telemetry/index.ts';
import { applyScripts, createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const columns = otelTables.spans.columns.map(({ name }) => `"${name}"`).join(', ');

/** One protection taken away, and what the probe must say of it. `{…}` are the warehouse's own names. */
const removals: readonly (readonly [sql: string, check: string, status: Finding['status']])[] = [
  ['ALTER ROLE {gateway} SUPERUSER', 'login attributes', 'fail'],
  ['ALTER ROLE {gateway} BYPASSRLS', 'login attributes', 'fail'],
  ['ALTER ROLE {gateway} CREATEROLE', 'login attributes', 'fail'],
  ['GRANT pg_read_all_data TO {gateway}', 'login memberships', 'fail'],
  ['GRANT {owner} TO {gateway}', 'login memberships', 'fail'],
  [
    'GRANT pg_read_server_files TO {gateway}; GRANT EXECUTE ON FUNCTION pg_read_file(text) TO {gateway}',
    'files and programs',
    'fail',
  ],
  ['CREATE EXTENSION dblink', 'network', 'fail'],
  ['GRANT CREATE ON SCHEMA public TO PUBLIC', 'new objects', 'fail'],
  ['GRANT TEMPORARY ON DATABASE {database} TO PUBLIC', 'new objects', 'warn'],
  ['GRANT EXECUTE ON FUNCTION pg_stat_get_activity(integer) TO PUBLIC', 'other sessions', 'warn'],
  ['GRANT EXECUTE ON FUNCTION lo_from_bytea(oid, bytea) TO PUBLIC', 'other sessions', 'warn'],
  [
    'CREATE FUNCTION public.peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*) FROM telemetry.spans $$',
    'definer functions',
    'warn',
  ],
  ['ALTER ROLE {gateway} RESET statement_timeout', 'statement_timeout', 'warn'],
  ['ALTER ROLE {gateway} RESET temp_file_limit', 'temp_file_limit', 'warn'],
  ['ALTER ROLE {gateway} RESET default_transaction_read_only', 'default_transaction_read_only', 'warn'],
  [
    'GRANT USAGE ON SCHEMA telemetry TO {gateway}; GRANT SELECT ON telemetry.spans TO {gateway}',
    'tables beneath',
    'fail',
  ],
  ['GRANT SELECT (body) ON telemetry.logs TO PUBLIC', 'tables beneath', 'fail'],
  [
    'CREATE TABLE public.probe_part () INHERITS (telemetry.spans); GRANT SELECT ON public.probe_part TO PUBLIC',
    'tables beneath',
    'fail',
  ],
  [
    'ALTER VIEW otel.logs RENAME TO probe_deep; CREATE VIEW otel.logs WITH (security_barrier) AS SELECT * FROM otel.probe_deep; GRANT SELECT ON otel.logs TO {gateway}; GRANT SELECT ON telemetry.logs TO PUBLIC; REVOKE ALL ON otel.probe_deep FROM {gateway}',
    'tables beneath',
    'fail',
  ],
  [
    'CREATE TABLE public.probe_copy AS SELECT * FROM telemetry.spans; GRANT SELECT ON public.probe_copy TO PUBLIC',
    'other tables',
    'warn',
  ],
  [
    'CREATE TABLE public.probe_own (); ALTER TABLE public.probe_own OWNER TO {gateway}; REVOKE ALL ON public.probe_own FROM {gateway}',
    'ownership',
    'fail',
  ],
  ['GRANT EXECUTE ON FUNCTION pg_read_binary_file(text) TO PUBLIC', 'server functions', 'fail'],
  ['GRANT EXECUTE ON FUNCTION pg_ls_waldir() TO {gateway}', 'server functions', 'fail'],
  ['CREATE EXTENSION pg_stat_statements', 'other sessions', 'warn'],
  ['GRANT DELETE ON otel.spans TO {gateway}', 'writes', 'fail'],
  [
    'GRANT USAGE ON SCHEMA otel_priv TO {gateway}; GRANT SELECT ON otel_priv.secret TO {gateway}',
    'boundary secret',
    'fail',
  ],
  ['ALTER VIEW otel.logs SET (security_barrier = false)', 'security barrier', 'fail'],
  [
    `CREATE OR REPLACE VIEW otel.spans WITH (security_barrier) AS SELECT ${columns} FROM telemetry.spans`,
    'tenant token',
    'fail',
  ],
  [
    "CREATE OR REPLACE FUNCTION otel_priv.current_org() RETURNS text LANGUAGE sql STABLE AS $$ SELECT split_part(current_setting('otel.token', true), '|', 3) $$",
    'tenant token',
    'fail',
  ],
  ['UPDATE otel_priv.secret SET outer_key = inner_key', "other organizations' rows", 'fail'],
  ['REVOKE SELECT ON otel.metrics FROM {gateway}', "other organizations' rows", 'fail'],
  ['DROP SCHEMA otel CASCADE', 'views', 'fail'],
];

for (const server of servers) {
  describe(`the probe on ${server.name}`, () => {
    let warehouse: TestWarehouse;

    beforeAll(async () => {
      warehouse = await createWarehouse(server);
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });
    afterEach(async () => {
      await restore(server, warehouse);
    });

    const probe = async () => (await warehouse.component.operations?.probe(AbortSignal.timeout(20_000))) ?? [];
    const filled = (sql: string) =>
      sql
        .replaceAll('{gateway}', warehouse.gateway)
        .replaceAll('{owner}', warehouse.owner)
        .replaceAll('{database}', warehouse.database);

    it('finds nothing wrong with what the scripts set up, and they can run again', async () => {
      expect((await probe()).filter(({ status }) => status !== 'ok')).toEqual([]);
      await restore(server, warehouse);
      const findings = await probe();
      expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
      expect(findings.length).toBeGreaterThan(12);
    });

    it.each(removals)('finds what is gone: %s', async (sql, check, status) => {
      await server.admin(filled(sql), warehouse.database);
      const findings = await probe();
      const found = findings.find((finding) => finding.check === check);
      expect(found).toMatchObject({ check, status, hint: expect.stringMatching(/./) });
      expect(JSON.stringify(findings)).not.toContain(warehouse.secret);
    });

    it('finds nothing wrong with tables that the server knows to be empty', async () => {
      await server.admin('VACUUM ANALYZE telemetry.spans', warehouse.database);
      expect((await probe()).filter(({ status }) => status !== 'ok')).toEqual([]);
      const plain = `CREATE OR REPLACE VIEW otel.spans WITH (security_barrier) AS SELECT ${columns} FROM telemetry.spans`;
      await server.admin(plain, warehouse.database);
      expect(await probe()).toContainEqual(expect.objectContaining({ check: 'tenant token', status: 'fail' }));
    });

    it('does not call safe what an empty table without an index cannot show', async () => {
      await server.admin(
        'DROP INDEX telemetry.spans_time, telemetry.spans_service, telemetry.spans_trace',
        warehouse.database,
      );
      await server.admin('VACUUM ANALYZE telemetry.spans', warehouse.database);
      expect((await probe()).filter(({ status }) => status !== 'ok')).toEqual([
        expect.objectContaining({
          check: 'tenant token',
          status: 'warn',
          detail: expect.stringContaining('"otel"."spans"'),
        }),
      ]);
      const plain = `CREATE OR REPLACE VIEW otel.spans WITH (security_barrier) AS SELECT ${columns} FROM telemetry.spans`;
      await server.admin(plain, warehouse.database);
      expect(await probe()).toContainEqual(expect.objectContaining({ check: 'tenant token', status: 'fail' }));
    });

    it("asks for nothing to be taken from a login that is not the gateway's own", async () => {
      await server.admin(filled('ALTER ROLE {gateway} SUPERUSER'), warehouse.database);
      const { secret, owner, gateway } = warehouse;
      const other = warehouse.create({ ingest: { enabled: false }, boundary: { secret, owner, login: 'sl_own' } });
      const findings = (await other.operations?.probe(AbortSignal.timeout(20_000))) ?? [];
      await other.stop();
      expect(findings.filter(({ status }) => status === 'fail').length).toBeGreaterThan(3);
      const hints = findings.flatMap(({ hint = '' }) => (hint.includes(gateway) ? [hint] : []));
      expect(hints).toEqual([expect.stringContaining(`Take nothing from ${gateway}`)]);
    });

    it('says which GRANT is missing, and blames no clock', async () => {
      const found = async () => (await probe()).find(({ check }) => check === "other organizations' rows");
      await server.admin(`REVOKE SELECT ON telemetry.logs FROM ${warehouse.owner}`, warehouse.database);
      expect(await found()).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('may not read telemetry.logs'),
        hint: `GRANT USAGE ON SCHEMA telemetry TO ${warehouse.owner}; GRANT SELECT ON telemetry.logs TO ${warehouse.owner};`,
      });
      await restore(server, warehouse);
      await server.admin(`REVOKE SELECT ON otel.logs FROM ${warehouse.gateway}`, warehouse.database);
      expect(await found()).toMatchObject({
        status: 'fail',
        hint: expect.stringContaining(`GRANT SELECT ON "otel"."logs" TO "${warehouse.gateway}"`),
      });
    });

    it('says what has changed since the views were made', async () => {
      const probed = async (changes: object) => {
        const other = warehouse.create({ ingest: { enabled: false }, ...changes });
        const findings = (await other.operations?.probe(AbortSignal.timeout(20_000))) ?? [];
        await other.stop();
        return findings.find(({ check }) => check === 'set-up');
      };
      expect(await probed({})).toMatchObject({ status: 'ok' });
      const tables = { logs: { where: 'severity_number > 0' } };
      const changed = {
        tenancy: { boundary: { mode: 'column', column: 'tenant' }, value: 'id' },
        mapping: { preset: 'sightline', tables },
      };
      expect(await probed(changed)).toEqual({
        check: 'set-up',
        status: 'fail',
        detail:
          'telemetry.mapping.tables.logs.where is `severity_number > 0` in the config and was absent at the set-up, telemetry.tenancy.boundary.column is `tenant` in the config and was `organization` at the set-up.',
        hint: expect.stringContaining('telemetry setup --print'),
      });
      await server.admin('COMMENT ON SCHEMA otel IS NULL', warehouse.database);
      expect(await probed({})).toMatchObject({ status: 'warn' });
    });

    it('finds nothing to say of statistics of statements once the scripts ran over them', async () => {
      await server.admin('CREATE EXTENSION pg_stat_statements', warehouse.database);
      try {
        await restore(server, warehouse, true);
        expect((await probe()).filter(({ status }) => status !== 'ok')).toEqual([]);
      } finally {
        await server.admin('DROP EXTENSION pg_stat_statements', warehouse.database);
      }
    });

    it('warns of a boundary of one layer, where the config names it', async () => {
      const degraded = await createWarehouse(server, { isolation: 'degraded' });
      try {
        const findings = (await degraded.component.operations?.probe(AbortSignal.timeout(20_000))) ?? [];
        expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
        expect(findings).toContainEqual(expect.objectContaining({ check: 'isolation', status: 'warn' }));
      } finally {
        await degraded.cleanup();
      }
    });
  });
}

/** Everything as it was: what tests took away, and the scripts again over it. */
async function restore(server: PostgresServer, warehouse: TestWarehouse, keepStatistics = false): Promise<void> {
  const { gateway, owner, database, password, secret, component } = warehouse;
  const undo = [
    `ALTER ROLE ${gateway} NOSUPERUSER NOBYPASSRLS NOCREATEROLE`,
    `ALTER ROLE ${gateway} SET default_transaction_read_only = on`,
    `REVOKE ${owner}, pg_read_all_data, pg_read_server_files FROM ${gateway}`,
    `REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM ${gateway}`,
    'DROP EXTENSION IF EXISTS dblink',
    ...(keepStatistics ? [] : ['DROP EXTENSION IF EXISTS pg_stat_statements']),
    'DROP FUNCTION IF EXISTS public.peek()',
    'DROP TABLE IF EXISTS public.probe_part, public.probe_copy, public.probe_own',
    `REVOKE EXECUTE ON FUNCTION pg_read_binary_file(text), pg_ls_waldir() FROM PUBLIC, ${gateway}`,
    `REVOKE ALL ON SCHEMA telemetry FROM ${gateway}`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA telemetry FROM PUBLIC, ${gateway}`,
    'REVOKE SELECT (body) ON telemetry.logs FROM PUBLIC',
    'DROP SCHEMA IF EXISTS otel CASCADE',
    'DROP SCHEMA IF EXISTS otel_priv CASCADE',
  ];
  for (const sql of undo) await server.admin(sql, database);
  const scripts = (await component.operations?.setup(AbortSignal.timeout(20_000))) ?? [];
  const variables = { gateway_password: password, writer_password: password, boundary_secret: secret };
  await applyScripts(server, database, scripts, variables);
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postgresServers } from '../../test/support/postgres.ts';
import { ask, askBare } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

/** Sessions are kept from one statement to the next; what a statement that got past the gate leaves in them is not. */
for (const server of servers) {
  describe(`the one session on ${server.name}`, () => {
    let warehouse: TestWarehouse;
    beforeAll(async () => {
      warehouse = await createWarehouse(server, { pool: { max: 1 } });
      await warehouse.component.start(AbortSignal.timeout(20_000));
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });
    const past = async (organization: 0 | 1, sql: string) =>
      (await askBare(warehouse.component, warehouse.organizations[organization], sql)).rows;
    const locks =
      "(SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND pid = pg_catalog.pg_backend_pid())";
    const prepared = 'SELECT name FROM pg_catalog.pg_prepared_statements ORDER BY name';

    it('is the same for many statements, of whichever organization', async () => {
      const pid = 'SELECT pg_catalog.pg_backend_pid()';
      const first = await past(0, pid);
      expect([await past(0, pid), await past(1, pid), await past(0, pid)]).toEqual([first, first, first]);
    });

    it('shows an organization nothing that another one left in it', async () => {
      await past(0, 'PREPARE left_behind AS SELECT 1');
      await past(0, "SELECT pg_catalog.pg_advisory_lock(7), pg_catalog.set_config('otel.left', 'behind', false)");
      const left = `SELECT coalesce(pg_catalog.current_setting('otel.left', true), ''), ${locks}`;
      expect(await past(0, left)).toEqual([['', '1']]);
      expect(await past(1, left)).toEqual([['', '0']]);
      expect(await past(1, prepared)).not.toContainEqual(['left_behind']);
    });

    it('takes no setting from one statement to the next, whatever it was set for', async () => {
      const guards =
        "SELECT pg_catalog.current_setting('transaction_read_only'), pg_catalog.current_setting('search_path'), pg_catalog.current_setting('statement_timeout')";
      const before = await past(0, guards);
      expect(before[0]?.slice(0, 2)).toEqual(['on', 'pg_catalog, pg_temp']);
      for (const sql of [
        "SET default_transaction_read_only = 'off'",
        "SELECT pg_catalog.set_config('search_path', 'public', false), pg_catalog.set_config('statement_timeout', '0', false)",
        'COMMIT',
        'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
      ]) {
        await past(0, sql);
        expect(await past(0, guards)).toEqual(before);
        expect(await past(0, 'SHOW default_transaction_read_only')).toEqual([['on']]);
      }
    });

    it('is read-only and rolled back, whatever an earlier statement would put in the place of our own', async () => {
      const own = await past(0, "SELECT name FROM pg_catalog.pg_prepared_statements WHERE name LIKE 'sightline%'");
      expect(own.length).toBeGreaterThan(0);
      const replaced = own.map(String).map((name) => {
        const parameters = name === 'sightline_settings' ? '(text, text, text)' : '';
        return `EXECUTE 'DEALLOCATE ${name}'; EXECUTE 'PREPARE ${name}${parameters} AS SELECT 1';`;
      });
      await past(0, `DO $do$ BEGIN ${replaced.join(' ')} END $do$`);
      await past(0, "SELECT pg_catalog.set_config('otel.kept', 'for ever', false)");
      const guards =
        "SELECT pg_catalog.current_setting('transaction_read_only'), pg_catalog.current_setting('search_path'), coalesce(pg_catalog.current_setting('otel.kept', true), '')";
      expect(await past(0, guards)).toEqual([['on', 'pg_catalog, pg_temp', '']]);
    });

    it('mends itself when a statement took its own ones out of it', async () => {
      await past(0, 'DEALLOCATE ALL');
      expect(await past(0, 'SELECT 1')).toEqual([[1]]);
    });

    it('answers alike where a statement is known for few rows and has many, and where it fails', async () => {
      const rows = async (count: number) =>
        (
          await ask(
            warehouse.component,
            warehouse.organizations[0],
            `SELECT x FROM generate_series(1, 5000) AS g(x) LIMIT 1 + abs(${count})`,
          )
        ).rows;
      expect(await rows(2)).toHaveLength(3);
      expect(await rows(2)).toHaveLength(3);
      const settled =
        'SELECT x FROM pg_catalog.generate_series(1, pg_catalog.current_setting($$otel.many$$)::int) AS g(x)';
      await expect(past(0, settled)).rejects.toMatchObject({ code: 'sql_failed' });
      const growing = `SELECT x FROM pg_catalog.generate_series(1, 1 + 3000 * ${locks}) AS g(x)`;
      expect(await past(0, growing)).toHaveLength(1);
      expect(await past(0, growing)).toHaveLength(1);
      await past(0, 'SELECT pg_catalog.pg_advisory_lock(8)');
      const { rows: many, end } = await askBare(warehouse.component, warehouse.organizations[0], growing);
      expect([many.length, end?.truncated]).toEqual([1_000, 'rows']);
      expect(await past(0, 'SELECT 1')).toEqual([[1]]);
    });
  });
}

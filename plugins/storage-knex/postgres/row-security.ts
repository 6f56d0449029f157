import type { Knex } from 'knex';
import { z } from 'zod';
import { organizationTables } from '../rows.ts';
import { everyone, reachSetting } from './session.ts';

const policy = 'sightline_organization';

/*
 * The second layer under the repositories: a statement that forgot its organization finds nothing, and one that writes
 * another's row is refused. It binds the tables' owner too, but no superuser.
 */

/** Puts the policy on every organization's table that lacks it. */
export async function secureRows(knex: Knex): Promise<void> {
  const { rows } = z
    .object({ rows: z.array(z.object({ relname: z.string() })) })
    .parse(await knex.raw(unsecured, [policy, [...organizationTables]]));
  for (const { relname } of rows) {
    await knex.raw('alter table ?? enable row level security, force row level security', [relname]);
    await knex.raw('drop policy if exists ?? on ??', [policy, relname]);
    await knex.raw(`create policy ?? on ?? using (organization_id = ${reach} or ${reach} = '${everyone}')`, [
      policy,
      relname,
    ]);
  }
}

/** In a subquery, which is evaluated once a statement and not for each row. */
const reach = `(select current_setting('${reachSetting}', true))`;

const unsecured = `
  select relname from pg_class as c
  where relnamespace = current_schema()::regnamespace
    and not (relrowsecurity and relforcerowsecurity
      and exists (select from pg_policy where polrelid = c.oid and polname = ?))
    and relname = any(?)
  order by relname`;

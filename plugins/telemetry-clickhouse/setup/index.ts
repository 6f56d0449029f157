import { SightlineError } from '../../../src/contract/core/index.ts';
import { tableNames, type SetupScript } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal, type Rows, textOf } from '../quote.ts';
import { type Access, accessSql, policySql, script } from './access.ts';
import { ownTables, type OwnTables } from './own-tables.ts';

export interface SetupOptions {
  readonly given: Access;
  readonly cluster?: string;
  /** Tables and login for our receiver's rows; absent if the warehouse has another source. */
  readonly own?: OwnTables & { readonly writer: string };
  /** The tables could not be inspected: assumes the preset's usual layout. */
  readonly unseen?: boolean;
}

/** What an administrator runs, in this order, and can run again. */
export function setupScripts({ given, cluster, own, unseen = false }: SetupOptions): readonly SetupScript[] {
  const [user, ...policies] = accessSql(given, cluster);
  const scripts = user === undefined ? [] : [{ ...user, sql: `${script([guard(given)])}${user.sql}` }, ...policies];
  if (own !== undefined) {
    return [
      { title: "Tables for what Sightline's receiver takes in", sql: script(ownTables(own)) },
      { title: 'The user that writes them', sql: script(writerSql(own, given)) },
      ...scripts,
    ];
  }
  if (!unseen) return scripts;
  const note = unseenNote(given.username);
  return scripts.map(({ title, sql }) => ({ title, sql: `${note}${sql}` }));
}

function unseenNote(username: string): string {
  const user = username.replaceAll(/\s+/g, ' ');
  return `-- The tables could not be looked at: the user ${user} may not be there yet, or sees none. This is for the usual
-- tables of the mapping. When it can log in, print it again, and run it again where it differs.
`;
}

/** The writer inserts and deletes what is too old, and reads of them only whose they are, when, and what was loaded. */
function writerSql(
  { database, prefix, cluster, writer }: NonNullable<SetupOptions['own']>,
  { policies }: Access,
): readonly string[] {
  const on = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
  const user = identifier(writer);
  const path = (table: string) => `${identifier(database)}.${identifier(`${prefix}${table}`)}`;
  return [
    `CREATE USER IF NOT EXISTS ${user}${on} IDENTIFIED WITH sha256_password BY '<password>'`,
    ...tableNames.flatMap((table) => [
      `GRANT${on} INSERT, ALTER DELETE ON ${path(table)} TO ${user}`,
      `GRANT${on} SELECT(organization, _log, _batch, time) ON ${path(table)} TO ${user}`,
    ]),
    `GRANT${on} INSERT, SELECT ON ${path('positions')} TO ${user}`,
    // Without it a server that hides rows from users without a policy would hide what was loaded, which would be loaded again.
    ...policies.map((policy) => policySql({ ...policy, using: '1' }, writer, user, on)),
  ];
}

/**
 * What a user of that name may do already beyond what the set-up gives it, one right a row. One with the set-up's own profile
 * was made by it: it may have read tables that were mapped before.
 */
function objections({ username, profile, grants, seen, roles }: Access): string {
  const user = `user_name = ${literal(username)}`;
  const tables = [...grants, ...seen].map(({ database, table }) => `(${literal(database)}, ${literal(table)})`);
  const isMapped = `(ifNull(database, ''), ifNull(table, '')) IN (${['tuple(NULL, NULL)', ...tables].join(', ')})`;
  const isOurs = `${literal(profile)} IN (SELECT inherit_profile FROM system.settings_profile_elements WHERE ${user})`;
  const own = ["''", ...roles.map(({ name }) => literal(name))];
  const on = "if(database IS NULL, '*.*', concat(database, '.', ifNull(table, '*')))";
  return `SELECT concat(toString(access_type), ' ON ', ${on}) AS beyond FROM system.grants WHERE ${user} AND NOT is_partial_revoke
  AND NOT (toString(access_type) IN ('SELECT', 'SHOW COLUMNS') AND (${isMapped} OR ${isOurs}))
UNION ALL SELECT concat('the role ', granted_role_name) FROM system.role_grants WHERE ${user} AND granted_role_name NOT IN (${own.join(', ')})`;
}

const elsewhere = 'Choose another name: telemetry.login.';

/** Ends the script with what speaks against it, before anything is changed. */
function guard(access: Access): string {
  const said = `The user ${access.username} is there already and may do more than read what Sightline reads. Nothing was changed. ${elsewhere}`;
  return `SELECT throwIf(count() > 0, ${literal(said)}) FROM (${objections(access)})`;
}

/** Throws config_invalid for a user that has more rights, as far as this login may look at users. */
export async function expectFree(rows: Rows, access: Access): Promise<void> {
  const beyond = await rows(`${objections(access)} LIMIT 5`).catch((error: unknown) => {
    // Most logins may not see who else is there; the script looks again.
    if (error instanceof SightlineError && error.code === 'telemetry_unavailable') return [];
    throw error;
  });
  if (beyond.length === 0) return;
  const rights = beyond.map((row) => textOf(row['beyond'])).join(', ');
  throw new SightlineError(
    'config_invalid',
    `The user ${access.username} is there already and may do more than Sightline reads: ${rights}.`,
    { hint: `The set-up would take that from it. ${elsewhere}` },
  );
}

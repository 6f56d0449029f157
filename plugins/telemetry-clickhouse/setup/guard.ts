import { SightlineError } from '../../../src/contract/core/index.ts';
import { literal, textOf, type Rows } from '../quote.ts';
import type { Access } from './access.ts';

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
export function guard(access: Access): string {
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

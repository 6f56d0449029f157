import { tableNames, type SetupScript } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal } from '../quote.ts';
import { accessSql, policySql, script, type Access } from './access.ts';
import { guard } from './guard.ts';
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

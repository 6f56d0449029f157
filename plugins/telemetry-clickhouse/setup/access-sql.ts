import type { SetupScript } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal } from '../quote.ts';
import type { Access, Grant, Policy } from './access.ts';
import type { ProfileSetting } from './profile.ts';

/** The user, its profile and grants, and the row policies, for whoever administers the server. Run again, they end the same. */
export function accessSql(given: Access, cluster: string | undefined): readonly SetupScript[] {
  const on = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
  const policies = policyScript(given, on);
  return [
    { title: 'The user that Sightline reads as: an administrator runs this', sql: script(userSql(given, on)) },
    ...(policies === '' ? [] : [{ title: policiesTitle, sql: policies }]),
  ];
}

const policiesTitle =
  'Row policies: the server shows each organization its own rows, whatever is asked. Read first what they do to other users';

function userSql({ username, settings, grants, seen, roles }: Access, on: string): readonly string[] {
  const profile = `${username}_profile`;
  const user = identifier(username);
  const profiled = `SETTINGS PROFILE ${literal(profile)}`;
  return [
    `CREATE SETTINGS PROFILE IF NOT EXISTS ${identifier(profile)}${on} SETTINGS readonly = 1`,
    `ALTER SETTINGS PROFILE ${identifier(profile)}${on} SETTINGS\n${settings.map((setting) => `  ${settingSql(setting)}`).join(',\n')}`,
    `CREATE USER IF NOT EXISTS ${user}${on} IDENTIFIED WITH sha256_password BY '<password>' ${profiled}`,
    ...roles.map(({ name }) => `CREATE ROLE IF NOT EXISTS ${identifier(name)}${on}`),
    ...grants.map((grant) => `${grantSql(grant, on)} TO ${user}`),
    ...seen.map((grant) => `${seenSql(grant, on)} TO ${user}`),
    ...roles.flatMap((role) => role.grants.map((grant) => `${grantSql(grant, on)} TO ${identifier(role.name)}`)),
    ...(roles.length === 0 ? [] : [`GRANT${on} ${roles.map(({ name }) => identifier(name)).join(', ')} TO ${user}`]),
    // Of a user that was there already, too.
    `ALTER USER ${user}${on} DEFAULT ROLE NONE ${profiled}`,
  ];
}

function policyScript({ username, policies, roles, open }: Access, on: string): string {
  const user = identifier(username);
  const kept = [
    ...policies.map((policy) => policySql(policy, username, user, on)),
    ...roles.flatMap(({ name, policies: own }) => own.map((policy) => policySql(policy, name, identifier(name), on))),
  ];
  const others = policies.map((policy) =>
    policySql({ ...policy, using: '1' }, `${username}_others`, `ALL EXCEPT ${user}`, on),
  );
  const notes = [
    ...open.map(({ table, why }) => `No policy keeps tenants apart in ${table}: ${why}.`),
    ...(others.length === 0 ? [] : [...aboutOthers, ...others.map((statement) => `${statement};`)]),
  ];
  return [...notes.map(comment), ...kept.map((statement) => `${statement};`)].map((line) => `${line}\n`).join('');
}

const aboutOthers = [
  'What other users of these tables see does not change where users_without_row_policies_can_read_rows is on',
  '(config.xml, access_control_improvements), the default of current servers. Where it is off, whoever has no policy of',
  'their own reads no row from here on. Then run these first. They show all rows to everybody but those after EXCEPT,',
  'whatever other policies say: add every user or role there that has a policy of its own on these tables.',
];

/** One line, whatever names are in it. */
function comment(text: string): string {
  return `-- ${text.replaceAll(/\s+/g, ' ')}`;
}

export function grantSql({ database, table }: Grant, on = ''): string {
  return `GRANT${on} SELECT ON ${identifier(database)}.${identifier(table)}`;
}

/** Names and types of columns, no row. */
export function seenSql({ database, table }: Grant, on = ''): string {
  return `GRANT${on} SHOW COLUMNS ON ${identifier(database)}.${identifier(table)}`;
}

export function policySql({ database, table, using }: Policy, name: string, to: string, on: string): string {
  const path = `${identifier(database)}.${identifier(table)}`;
  return `CREATE ROW POLICY OR REPLACE ${identifier(name)}${on} ON ${path} FOR SELECT USING ${using} TO ${to}`;
}

function settingSql({ name, value, max, changeable }: ProfileSetting): string {
  const most = max === undefined ? '' : ` MAX ${max}`;
  const written = typeof value === 'number' ? String(value) : literal(value);
  return `${name} = ${written}${most} ${changeable ? 'CHANGEABLE_IN_READONLY' : 'CONST'}`;
}

export function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join('');
}

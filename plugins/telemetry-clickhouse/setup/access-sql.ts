import type { SetupScript } from '../../../src/contract/index.ts';
import { identifier, literal } from '../quote.ts';
import type { Access, Grant, Policy } from './access.ts';
import type { ProfileSetting } from './profile.ts';

/** The user, its profile and grants, and the row policies, for whoever administers the server. */
export function accessSql(
  { username, settings, grants, policies, roles, open }: Access,
  cluster: string | undefined,
): readonly SetupScript[] {
  const on = cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;
  const profile = `${username}_profile`;
  const user = identifier(username);
  const create = [
    `CREATE SETTINGS PROFILE IF NOT EXISTS ${identifier(profile)}${on} SETTINGS readonly = 1`,
    `ALTER SETTINGS PROFILE ${identifier(profile)}${on} SETTINGS\n${settings.map((setting) => `  ${settingSql(setting)}`).join(',\n')}`,
    `CREATE USER IF NOT EXISTS ${user}${on} IDENTIFIED WITH sha256_password BY '<password>' SETTINGS PROFILE ${literal(profile)}`,
    ...roles.map(({ name }) => `CREATE ROLE IF NOT EXISTS ${identifier(name)}${on}`),
    ...grants.map((grant) => `${grantSql(grant, on)} TO ${user}`),
    ...roles.flatMap((role) => role.grants.map((grant) => `${grantSql(grant, on)} TO ${identifier(role.name)}`)),
    ...(roles.length === 0
      ? []
      : [
          `GRANT${on} ${roles.map(({ name }) => identifier(name)).join(', ')} TO ${user}`,
          `ALTER USER ${user}${on} DEFAULT ROLE NONE`,
        ]),
  ];
  const kept = [
    ...policies.map((policy) => policySql(policy, 'sightline', user, on)),
    ...roles.flatMap(({ name, policies: own }) => own.map((policy) => policySql(policy, name, identifier(name), on))),
  ];
  const notes = open.map(
    ({ table, why }) => `-- No policy keeps tenants apart in ${table.replaceAll('\n', ' ')}: ${why}.`,
  );
  return [
    { title: 'The user that Sightline reads as: an administrator runs this once', sql: script(create) },
    ...(kept.length + notes.length === 0
      ? []
      : [
          {
            title:
              'Row policies: the server shows each organization its own rows, whatever is asked. Other users are not affected',
            sql: [...notes, script(kept)].join('\n'),
          },
        ]),
  ];
}

export function grantSql({ database, table }: Grant, on = ''): string {
  return `GRANT${on} SELECT ON ${identifier(database)}.${identifier(table)}`;
}

function policySql({ database, table, using }: Policy, name: string, to: string, on: string): string {
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

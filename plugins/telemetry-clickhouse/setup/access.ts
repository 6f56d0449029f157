import { SightlineError } from '../../../src/contract/core/index.ts';
import { fingerprint, type Tenancy, type Tenant, type SetupScript } from '../../../src/contract/telemetry/index.ts';
import { tenantExpression, tenantLiteral, tenantOfQueryId } from '../tenant.ts';
import type { PhysicalTable } from './physical-tables.ts';
import { profileSettings, type ProfileLimits, type ProfileSetting } from './profile.ts';
import { identifier, literal } from '../quote.ts';

/** The user, its profile and grants, and the row policies, for the server's administrator. Idempotent. */
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

function userSql({ username, profile, settings, grants, seen, roles }: Access, on: string): readonly string[] {
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

/** How the server itself keeps organizations apart, beneath whatever SQL is sent. */
export type ServerBoundary =
  | { readonly by: 'query_id' }
  | { readonly by: 'role'; readonly role: string }
  | { readonly by: 'none' };

export interface AccessOptions {
  readonly username: string;
  readonly limits: ProfileLimits;
  readonly boundary: Tenancy['boundary'];
  readonly server: ServerBoundary;
  readonly json: ReadonlySet<string>;
  /** Needed where each has a role or tables of its own. */
  readonly tenants: readonly Tenant[];
  /** Of a mapping whose `{tenant}` is this one's; the same for all where tenants share tables. */
  tables(tenant: Tenant | undefined): Promise<readonly PhysicalTable[]>;
}

export interface Grant {
  readonly database: string;
  readonly table: string;
}

export interface Policy extends Grant {
  readonly using: string;
}

/** Who may read what, whatever it is written down as. */
export interface Access {
  readonly username: string;
  readonly profile: string;
  readonly settings: readonly ProfileSetting[];
  /** Of all below, kept in the profile: what is configured since is seen by it. */
  readonly fingerprint: string;
  readonly grants: readonly Grant[];
  /** Tables whose columns the user looks up before it has any role, to know how they are mapped. */
  readonly seen: readonly Grant[];
  readonly policies: readonly Policy[];
  readonly roles: readonly {
    readonly name: string;
    readonly grants: readonly Grant[];
    readonly policies: readonly Policy[];
  }[];
  /** Tables whose rows no policy can tell apart, with why. */
  readonly open: readonly { readonly table: string; readonly why: string }[];
}

export async function access(options: AccessOptions): Promise<Access> {
  const given = await accessOf(options);
  const { grants, seen, policies, roles } = given;
  const parts = {
    tables: [...grants, ...seen].map((grant) => grantSql(grant)),
    policies: policies.map((policy) => policySql(policy, '', '', '')),
    roles: [
      ...roles.map(({ name }) => name),
      ...roles.flatMap(({ name, grants: own }) => own.map((grant) => `${grantSql(grant)} TO ${name}`)),
      ...roles.flatMap(({ name, policies: own }) => own.map((policy) => policySql(policy, name, name, ''))),
    ],
  };
  const printed = fingerprint(parts);
  // A setting without a meaning of its own, which every statement of ours with a label overrides.
  const settings = given.settings.map((one) => (one.name === 'log_comment' ? { ...one, value: printed } : one));
  return { ...given, settings, fingerprint: printed };
}

async function accessOf(options: AccessOptions): Promise<Omit<Access, 'fingerprint'>> {
  const { username, limits, server, boundary, tenants } = options;
  if ((server.by === 'role' || 'template' in boundary) && tenants.length === 0) {
    throw new SightlineError('config_invalid', 'telemetry.tenancy.organizations is missing.', {
      hint: 'Each organization has a role or tables of its own: list them, so that they can be set up.',
    });
  }
  if (server.by === 'role' && tenants.some((tenant) => roleName(server.role, tenant) === username)) {
    throw new SightlineError('config_invalid', 'telemetry.serverBoundary.role names telemetry.username itself.', {
      hint: 'Begin the names of roles otherwise: a policy for that organization would be every query’s.',
    });
  }
  const shared = { username, profile: `${username}_profile`, settings: profileSettings(limits), seen: [] };
  if ('template' in boundary) {
    const own = await Promise.all(
      tenants.map(async (tenant) => ({ tenant, grants: (await options.tables(tenant)).flatMap(grantsOf) })),
    );
    if (server.by !== 'role') {
      return { ...shared, grants: own.flatMap(({ grants }) => grants), policies: [], roles: [], open: [] };
    }
    const roles = own.map(({ tenant, grants }) => ({ name: roleName(server.role, tenant), grants, policies: [] }));
    return { ...shared, grants: [], seen: roles.flatMap((role) => role.grants), policies: [], roles, open: [] };
  }
  const tables = await options.tables(undefined);
  const grants = tables.flatMap(grantsOf);
  const apart = server.by === 'none' ? [] : tables.filter((table) => telling(table, options) !== undefined);
  const open =
    server.by === 'none' || boundary.mode === 'none' || boundary.mode === 'connection'
      ? []
      : openTables(tables, options);
  const policy = (using: (expression: string) => string) =>
    apart.map((table) => policyOf(table, using(telling(table, options) ?? '')));
  if (server.by === 'role') {
    const roles = tenants.map((tenant) => ({
      name: roleName(server.role, tenant),
      grants: [],
      policies: policy((expression) => `${expression} = ${tenantLiteral(boundary, tenant)}`),
    }));
    // Policies that permit are joined by OR: without a role, no row.
    return { ...shared, grants, policies: policy(() => '0'), roles, open };
  }
  return {
    ...shared,
    grants,
    policies: policy((expression) => `${expression} = ${tenantOfQueryId(boundary)}`),
    roles: [],
    open,
  };
}

/** `{tenant}` in the name of a role. */
export function roleName(template: string, tenant: Tenant): string {
  return template.replaceAll('{tenant}', () => tenant);
}

/** Whole tables: a grant of columns does not cover the parts of a map or an array that the engine reads of one. */
function grantsOf({ database, table, local }: PhysicalTable): readonly Grant[] {
  return [{ database, table }, ...(local === undefined ? [] : [local])];
}

/** A Distributed table holds no rows: the policy stands where they are. */
function policyOf({ database, table, local }: PhysicalTable, using: string): Policy {
  return { ...(local ?? { database, table }), using };
}

/** What tells tenants apart in this table, where that can be said of it alone. */
function telling({ source, alone }: PhysicalTable, { boundary, json }: AccessOptions): string | undefined {
  if (!alone) return undefined;
  const expression = tenantExpression(boundary, source, json);
  return expression === "''" ? undefined : expression;
}

function openTables(tables: readonly PhysicalTable[], options: AccessOptions): Access['open'] {
  return tables
    .filter((table) => telling(table, options) === undefined)
    .map(({ database, table, alone }) => ({
      table: `${database}.${table}`,
      why: alone ? 'it has no attributes or column that name the tenant' : 'it is read together with another table',
    }));
}

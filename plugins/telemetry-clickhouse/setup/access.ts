import { SightlineError } from '../../../src/contract/core/index.ts';
import type { Tenancy, Tenant } from '../../../src/contract/telemetry/index.ts';
import { tenantExpression, tenantLiteral, tenantOfQueryId } from '../tenant.ts';
import type { PhysicalTable } from './physical-tables.ts';
import { profileSettings } from './profile.ts';
import type { ProfileLimits, ProfileSetting } from './profile.ts';

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

export interface Policy {
  readonly database: string;
  readonly table: string;
  readonly using: string;
}

/** Who may read what, whatever it is written down as. */
export interface Access {
  readonly username: string;
  readonly settings: readonly ProfileSetting[];
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
  const shared = { username, settings: profileSettings(limits), seen: [] };
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

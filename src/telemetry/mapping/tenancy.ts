import { foldCase, isId, SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import type { Directory, Organization } from '../../contract/storage/index.ts';
import {
  noTelemetry,
  type Tenancy,
  type TenancyConfig,
  type TenancyHelpers,
  type Tenant,
} from '../../contract/telemetry/index.ts';
import { checkFragment } from './relation.ts';

const section = 'telemetry.tenancy';
/** How long a renamed organization may still be the old tenant. */
const rememberMs = 60_000;
const mostRemembered = 10_000;

type Lookup = Pick<Directory, 'findOrganization'>;

export function createTenancy(directory: Lookup): TenancyHelpers {
  return { open: (config) => new ConfiguredTenancy(directory, config) };
}

class ConfiguredTenancy implements Tenancy {
  readonly boundary: TenancyConfig['boundary'];
  readonly #directory: Lookup;
  readonly #config: TenancyConfig;
  readonly #remembered = new Map<OrganizationId, { readonly tenant: Tenant; readonly until: number }>();

  constructor(directory: Lookup, config: TenancyConfig) {
    this.boundary = config.boundary;
    this.#directory = directory;
    this.#config = config;
    if (config.boundary.mode === 'expression')
      checkFragment(config.boundary.expression, `${section}.boundary.expression`);
    checkOrganizations(config.organizations ?? {});
  }

  async tenantOf(organizationId: OrganizationId): Promise<Tenant> {
    const known = this.#remembered.get(organizationId);
    if (known !== undefined && known.until > performance.now()) return known.tenant;
    const organization = await this.#directory.findOrganization(organizationId);
    const value = this.#valueOf(organizationId, organization);
    if (!isTenant(value, this.boundary)) throw unfit(organization?.name ?? organizationId, value, this.boundary);
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear();
    this.#remembered.set(organizationId, { tenant: value, until: performance.now() + rememberMs });
    return value;
  }

  #valueOf(id: OrganizationId, organization: Organization | undefined): string {
    const { boundary, value, organizations } = this.#config;
    const name = organization?.id === id ? organization.name : undefined;
    if (boundary.mode === 'none') {
      const only = boundary.organization;
      if (only === id || (name !== undefined && isNameOf(name, only))) return only;
      throw denied(name ?? id, `${section}.boundary.organization names another one`);
    }
    if (organizations !== undefined) {
      const listed = ownEntry(organizations, id) ?? (name === undefined ? undefined : byName(organizations, name));
      if (listed === undefined) throw denied(name ?? id, `${section}.organizations does not list it`);
      return listed;
    }
    if (value === 'id') return id;
    if (name === undefined) throw denied(id, 'there is no such organization');
    return name;
  }
}

function ownEntry(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function byName(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(table).find(([key]) => isNameOf(name, key))?.[1];
}

/** Compared as the directory does; what looks like an id is no name, since it must not stand for another's id. */
function isNameOf(name: string, written: string): boolean {
  const folded = foldCase(name);
  return !isId('org', folded) && folded === foldCase(written.trim());
}

/** Two organizations of one tenant would read each other's rows. */
function checkOrganizations(organizations: Readonly<Record<string, string>>): void {
  const names = new Map<string, string>();
  const tenants = new Map<string, string>();
  for (const [organization, tenant] of Object.entries(organizations)) {
    const name = foldCase(organization.trim());
    const same = names.get(name);
    if (same !== undefined) throw twice(same, organization, 'organization', 'Write it once.');
    const other = tenants.get(foldCase(tenant));
    if (other !== undefined) throw twice(other, organization, 'tenant', 'Each organization needs a tenant of its own.');
    names.set(name, organization);
    tenants.set(foldCase(tenant), organization);
  }
}

function twice(one: string, other: string, what: 'organization' | 'tenant', hint: string): SightlineError {
  const message = `${section}.organizations: "${one}" and "${other}" are the same ${what}.`;
  return new SightlineError('config_invalid', message, { hint });
}

/** Whether the value may stand where the boundary puts it: in a name, or as a literal of the column's type. */
function isTenant(value: string, boundary: TenancyConfig['boundary']): value is Tenant {
  if ('template' in boundary) {
    // No two hyphens together: where a name stands unquoted they begin a comment.
    return value.length <= 64 && /^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$/.test(value) && isWholeName(value, boundary);
  }
  const type = 'type' in boundary ? boundary.type : 'string';
  if (type === 'uuid') return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  // Each number is written in one way: 07 would be another organization's 7.
  if (type === 'int') return /^(0|-?[1-9]\d{0,17})$/.test(value);
  return value.length > 0 && value.length <= 256 && !/\p{C}/u.test(value);
}

/** PostgreSQL cuts a longer name, and then two tenants have the same. */
const longestName = 63;

function isWholeName(
  tenant: string,
  { mode, template }: Extract<TenancyConfig['boundary'], { readonly template: string }>,
): boolean {
  if (mode !== 'schema' && mode !== 'database') return true;
  return Buffer.byteLength(template.replaceAll('{tenant}', tenant)) <= longestName;
}

function unfit(organization: string, value: string, boundary: TenancyConfig['boundary']): SightlineError {
  const wanted =
    'template' in boundary
      ? `letters, digits and _, with single hyphens between them, 64 at most, ${longestName} with the rest of a schema's or database's name`
      : `a value of type ${'type' in boundary ? boundary.type : 'string'}`;
  return denied(organization, `its tenant ${JSON.stringify(value.slice(0, 80))} is not ${wanted}`);
}

function denied(organization: string, why: string): SightlineError {
  return noTelemetry(
    `The organization ${organization} is no tenant of the warehouse: ${why}. Map it under ${section}.organizations.`,
  );
}

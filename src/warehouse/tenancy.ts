import { SightlineError } from '../contract/index.ts';
import type {
  Directory,
  Organization,
  OrganizationId,
  Tenancy,
  TenancyConfig,
  TenancyHelpers,
  Tenant,
} from '../contract/index.ts';

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
    refuseShared(config.organizations ?? {});
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
      if (only === id || (name !== undefined && only.toLowerCase() === name.toLowerCase())) return only;
      throw denied(name ?? id, `${section}.boundary.organization names another one`);
    }
    if (organizations !== undefined) {
      // Its id is the organization's own; a name that reads like another's id must not stand for it.
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

/** Names of organizations are compared without case, and one that looks like an id is never looked up by name. */
function byName(table: Readonly<Record<string, string>>, name: string): string | undefined {
  if (/^org_/i.test(name)) return undefined;
  const wanted = name.toLowerCase();
  return Object.entries(table).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** Two organizations of one tenant would read each other's rows. */
function refuseShared(organizations: Readonly<Record<string, string>>): void {
  const seen = new Map<string, string>();
  for (const [organization, tenant] of Object.entries(organizations)) {
    const other = seen.get(tenant.toLowerCase());
    if (other !== undefined) {
      throw new SightlineError(
        'config_invalid',
        `${section}.organizations: "${other}" and "${organization}" are the same tenant.`,
        { hint: 'Each organization needs a tenant of its own.' },
      );
    }
    seen.set(tenant.toLowerCase(), organization);
  }
}

/** Whether the value may stand where the boundary puts it: in a name, or as a literal of the column's type. */
function isTenant(value: string, boundary: TenancyConfig['boundary']): value is Tenant {
  // No two hyphens together: where a name stands unquoted they begin a comment.
  if ('template' in boundary) return value.length <= 64 && /^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$/.test(value);
  const type = 'type' in boundary ? boundary.type : 'string';
  if (type === 'uuid') return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  if (type === 'int') return /^-?\d{1,18}$/.test(value);
  return value.length > 0 && value.length <= 256 && !/\p{C}/u.test(value);
}

function unfit(organization: string, value: string, boundary: TenancyConfig['boundary']): SightlineError {
  const wanted =
    'template' in boundary
      ? 'letters, digits and _, with single hyphens between them, 64 at most'
      : `a value of type ${'type' in boundary ? boundary.type : 'string'}`;
  return denied(organization, `its tenant ${JSON.stringify(value.slice(0, 80))} is not ${wanted}`);
}

function denied(organization: string, why: string): SightlineError {
  return new SightlineError('forbidden', 'This organization has no telemetry in the warehouse.', {
    hint: 'Whoever runs the service can connect it.',
    operatorMessage: `The organization ${organization} is no tenant of the warehouse: ${why}. Map it under ${section}.organizations.`,
  });
}

import { isTenant, judged, type Finding, type Tenant } from '../../../src/contract/telemetry/index.ts';
import type { PostgresConfig } from '../config.ts';
import type { Warehouses } from '../warehouses.ts';
import { Prober, some } from './attempt.ts';
import { probeSession } from './session.ts';

/** The databases of tenants that have one of their own: what is wrong in any, and whether any is not its own. */
export async function probeTenants(
  config: PostgresConfig,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { boundary, organizations } = config.tenancy;
  const tenants = boundary.mode === 'connection' ? Object.keys(config.connections) : Object.values(organizations ?? {});
  const findings: Finding[] = [];
  const known = new Map<string, string>();
  const shared: string[] = [];
  for (const tenant of new Set(tenants)) {
    const place = placeOf(config, tenant);
    const another = known.get(place);
    if (another !== undefined) shared.push(`${another} and ${tenant}`);
    known.set(place, tenant);
    if (isTenant(tenant)) findings.push(...(await ofTenant(tenant, warehouses, signal)));
  }
  findings.push(
    judged('isolation', shared.length === 0, {
      ok: 'The gate, and a database or login of its own for each tenant.',
      detail: `The same database is read with the same login for ${some(shared)}.`,
      hint: 'Give each tenant a database or a login of its own in telemetry.connections.',
    }),
  );
  return findings;
}

function placeOf(config: PostgresConfig, tenant: string): string {
  const url = config.tenancy.boundary.mode === 'connection' ? config.connections[tenant] : undefined;
  if (url === undefined) return tenant;
  const { hostname, port, pathname, username } = new URL(url);
  return JSON.stringify([hostname, port || '5432', pathname, username]);
}

async function ofTenant(tenant: Tenant, warehouses: Warehouses, signal: AbortSignal): Promise<readonly Finding[]> {
  const prober = new Prober(warehouses.of(tenant), signal);
  try {
    const [login = ''] = await prober.names('SELECT session_user::text');
    const findings = await probeSession(prober, login, false);
    return findings
      .filter(({ status }) => status !== 'ok')
      .map((finding) => Object.assign({}, finding, { detail: `In the database of ${tenant}: ${finding.detail}` }));
  } catch {
    signal.throwIfAborted();
    return [
      {
        check: 'tenant database',
        status: 'warn',
        detail: `The database of ${tenant} does not answer, so nothing is known of it.`,
        hint: 'See that it is there and that the login may connect.',
      },
    ];
  }
}

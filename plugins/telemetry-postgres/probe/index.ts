import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import {
  type Finding,
  isTenant,
  judged,
  type TenancyConfig,
  type Tenant,
  tenantType,
} from '../../../src/contract/telemetry/index.ts';
import type { PostgresConfig } from '../config.ts';
import type { OperationsOptions } from '../settings.ts';
import type { Warehouses } from '../warehouses.ts';
import { Prober, some } from './attempt.ts';
import { probeSession } from './session.ts';
import { probeViews } from './views.ts';

const oldestServer = 140_000;

/** Logs in as the gateway does and tries what must not succeed. */
export async function probe(
  { config, kind, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const prober = new Prober(warehouses.main, signal);
  const facts = await prober.names("SELECT unnest(ARRAY[session_user::text, current_setting('server_version_num')])");
  const [login = '', version = '0'] = facts;
  const { secret } = config.boundary;
  const findings: Finding[] = [
    server(Number(version)),
    ...(await probeSession(prober, login, kind === 'substitution')),
    ...(kind === 'connections' ? await probeTenants(config, warehouses, signal) : []),
  ];
  if (kind === 'views' && secret !== undefined) {
    const nobody = nobodyOf(config.tenancy.boundary);
    findings.push(...(await probeViews({ prober, config, secret, login, now: host.now(), nobody })));
  }
  if (kind !== 'connections') findings.push(layers(kind));
  return spared(findings, login, config.boundary.login);
}

/** The remedies, where the login is an administrator's or an application's: to take rights from it would harm its owner. */
function spared(findings: readonly Finding[], login: string, own: string): readonly Finding[] {
  const marks = findings.filter(
    ({ check, status }) => status !== 'ok' && (check === 'login attributes' || check === 'ownership'),
  );
  if (login === own || marks.length === 0) return findings;
  return findings.map(({ hint, ...finding }) => {
    if (finding.check === marks[0]?.check) {
      const instead = `Give the gateway a login of its own, named in telemetry.url; sightline telemetry setup --print makes ${own}.`;
      return { ...finding, hint: `${instead} Take nothing from ${login}, which others may use.` };
    }
    return hint === undefined || hint.includes(login) ? finding : { ...finding, hint };
  });
}

function server(version: number): Finding {
  return judged('server', version >= oldestServer, {
    ok: `The server is PostgreSQL ${Math.floor(version / 10_000)}.`,
    detail: 'The server is older than PostgreSQL 14, which the dialect needs.',
    hint: 'Upgrade it.',
  });
}

function layers(kind: 'views' | 'substitution'): Finding {
  return judged('isolation', kind === 'views', {
    ok: "The gate, and beneath it the database's own views.",
    status: 'warn',
    detail: 'isolation is degraded: the gate and the substituted tables alone keep organizations apart.',
    hint: 'Have an administrator run what `sightline telemetry setup --print` prints under isolation: layered.',
  });
}

function nobodyOf(boundary: TenancyConfig['boundary']): Tenant {
  const value = {
    string: `nobody-${randomBytes(8).toString('hex')}`,
    uuid: randomUUID(),
    int: String(-randomInt(2 ** 40)),
  }[tenantType(boundary)];
  if (!isTenant(value)) throw new TypeError('no tenant');
  return value;
}

/** The databases of tenants that have one of their own: what is wrong in any, and whether any is not its own. */
async function probeTenants(
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

import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import {
  isTenant,
  judged,
  tenantType,
  type Finding,
  type TenancyConfig,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import type { OperationsOptions } from '../settings.ts';
import type { Warehouses } from '../warehouses.ts';
import { Prober } from './attempt.ts';
import { probeSession } from './session.ts';
import { probeTenants } from './tenants.ts';
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
  return findings;
}

function server(version: number): Finding {
  return judged('server', version >= oldestServer, {
    ok: `PostgreSQL ${Math.floor(version / 10_000)}.`,
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

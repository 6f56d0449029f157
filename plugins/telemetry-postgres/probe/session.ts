import type { Finding } from '../../../src/contract/telemetry/index.ts';
import type { Prober } from './attempt.ts';
import { probeLimits, probeLogin } from './login.ts';
import { probeReach } from './reach.ts';
import { probeWrites } from './writes.ts';

/** What a login can do in a database, wherever telemetry lies in it. */
export async function probeSession(prober: Prober, login: string, degraded: boolean): Promise<readonly Finding[]> {
  return [
    ...(await probeLogin(prober, login, degraded)),
    await probeWrites(prober, login, degraded),
    ...(await probeReach(prober, login)),
    ...(await probeLimits(prober, login)),
  ];
}

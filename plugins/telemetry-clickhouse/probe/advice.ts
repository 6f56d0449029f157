import type { Finding } from '../../../src/contract/telemetry/index.ts';
import type { ProbeOptions } from './options.ts';

const most = 4;
const properUser = 'give the gateway the user of sightline telemetry setup --print.';

/** Statements that take rights away. Where they are many, another user is less work. */
export function revoking(statements: readonly string[]): string {
  const all = [...new Set(statements)];
  if (all.length <= most) return all.join(' ');
  return `${all.slice(0, most).join(' ')} These are ${most} of ${all.length}: rather ${properUser}`;
}

/** What was tried without a clear answer. Nothing is served over it, unless the config accepts a single layer. */
export function unproven({ isolation }: Pick<ProbeOptions, 'isolation'>, check: string, detail: string): Finding {
  return {
    check,
    status: isolation === 'degraded' ? 'warn' : 'fail',
    detail,
    hint: `Run sightline doctor again; if it says the same, ${properUser}`,
  };
}

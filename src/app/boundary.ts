import { SightlineError } from '../contract/index.ts';
import type { Finding, Logger, Telemetry } from '../contract/index.ts';

const probeTimeoutMs = 30_000;

/**
 * Tries the boundary between organizations as an intruder would, before anybody is served. Throws plugin_failed when
 * something succeeds that must not; what its operator has accepted is logged by name.
 */
export async function holdBoundary(telemetry: Telemetry, label: string, logger: Logger): Promise<void> {
  if (telemetry.operations === undefined) return;
  const findings = await telemetry.operations.probe(AbortSignal.timeout(probeTimeoutMs));
  for (const { status, check, detail, hint } of findings) {
    if (status === 'warn') logger.warn({ check, hint }, `the boundary of the ${label}: ${detail}`);
  }
  const broken = findings.filter(({ status }) => status === 'fail');
  if (broken.length === 0) return;
  throw new SightlineError('plugin_failed', 'The boundary between organizations does not hold.', {
    operatorMessage: `The boundary of the ${label} does not hold, so nothing is served:\n${broken.map(inWords).join('\n')}`,
    hint: 'sightline doctor tries again; sightline telemetry setup --print prints what a database administrator runs.',
  });
}

function inWords({ check, detail, hint }: Finding): string {
  return `- ${check}: ${detail}${hint === undefined ? '' : ` ${hint}`}`;
}

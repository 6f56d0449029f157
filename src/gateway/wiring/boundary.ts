import { SightlineError, type Logger } from '../../contract/core/index.ts';
import { isAway } from '../process/lifecycle.ts';
import type { Finding, Telemetry, WarehouseOperations } from '../../contract/telemetry/index.ts';

const probeTimeoutMs = 30_000;

/** Throws plugin_failed where something succeeds that must not, and unavailable where nothing could be tried. */
export async function holdBoundary(
  telemetry: Pick<Telemetry, 'operations'>,
  label: string,
  logger: Logger,
  timeoutMs = probeTimeoutMs,
): Promise<void> {
  const { findings, away } = await outcomeOf(telemetry, timeoutMs);
  for (const { status, check, detail, hint } of findings) {
    if (status === 'warn') logger.warn({ check, hint }, `the boundary of the ${label}: ${detail}`);
  }
  const broken = findings.filter(({ status }) => status === 'fail');
  if (broken.length === 0) return;
  const code = away ? 'unavailable' : 'plugin_failed';
  throw new SightlineError(code, 'The boundary between organizations does not hold.', {
    operatorMessage: `The boundary of the ${label} does not hold, so nothing is served:\n${broken.map(inWords).join('\n')}`,
    hint: 'sightline doctor tries again; sightline telemetry setup --print prints what a database administrator runs.',
  });
}

/** What the probe found. One that fails, ends late or tries nothing has shown nothing: a `fail`. Never rejects. */
export async function tryBoundary(
  telemetry: Pick<Telemetry, 'operations'>,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  return (await outcomeOf(telemetry, timeoutMs)).findings;
}

interface Outcome {
  readonly findings: readonly Finding[];
  /** The warehouse did not answer, so that nothing was shown of it. */
  readonly away: boolean;
}

async function outcomeOf({ operations }: Pick<Telemetry, 'operations'>, timeoutMs: number): Promise<Outcome> {
  if (operations === undefined) return { findings: [], away: false };
  try {
    const tried = await probeWithin(operations, timeoutMs);
    const findings = tried.length === 0 ? [untried('The probe tried nothing.')] : tried.map(judged);
    return { findings, away: false };
  } catch (error) {
    const known = error instanceof SightlineError;
    const said = known
      ? (error.operatorMessage ?? error.message)
      : error instanceof Error
        ? error.message
        : 'It failed.';
    return { findings: [untried(said, known ? error.hint : undefined)], away: known && isAway(error) };
  }
}

/** What is refused because the time is up was not refused by a boundary: such an answer is not believed. */
async function probeWithin(operations: WarehouseOperations, timeoutMs: number): Promise<readonly Finding[]> {
  const stopper = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new SightlineError('unavailable', `The probe did not end within ${timeoutMs / 1_000} s.`));
    stopper.abort();
  }, timeoutMs);
  try {
    return await Promise.race([late, operations.probe(stopper.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Plugins are not all compiled with our types: any other status is a `fail`. */
function judged(finding: Finding): Finding {
  return finding.status === 'ok' || finding.status === 'warn' ? finding : { ...finding, status: 'fail' };
}

function untried(detail: string, hint?: string): Finding {
  return { check: 'boundary', status: 'fail', detail, ...(hint === undefined ? {} : { hint }) };
}

function inWords({ check, detail, hint }: Finding): string {
  return `- ${check}: ${detail}${hint === undefined ? '' : ` ${hint}`}`;
}

import type { Suspicion } from '../../../src/contract/storage/index.ts';
import type { Clues } from '../clues.ts';
import { code, percent, reaches } from '../sql.ts';
import { describe as describeBehaviour } from '../steps/behaviour.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { describe as describeLatency } from '../steps/latency-shift.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import { describe as describeGauge } from '../steps/resources.ts';
import type { Suspect } from '../suspects.ts';
import { what } from './wording.ts';

const most = 5;

/** The likeliest services with what speaks for and against each; who nothing speaks for is left out. */
export function suspicionsOf(clues: Clues): readonly Suspicion[] {
  const [first] = clues.suspects;
  return clues.named
    .flatMap((service) => {
      const suspect = clues.suspects.find((one) => one.service === service);
      const [why] = suspect ? [{ text: what(suspect), ids: suspect.evidenceIds }] : seen(service, clues);
      if (why === undefined) return [];
      const not = first === undefined ? undefined : against(service, first, clues);
      const reasons = { why: `${why.text}.`, ...(not !== undefined && { why_not: `${not}.` }) };
      return [{ service, ...reasons, evidence_ids: why.ids }];
    })
    .slice(0, most);
}

interface Reason {
  /** One sentence without its full stop. */
  readonly text: string;
  readonly ids: readonly string[];
}

function seen(name: string, { errors, latency, resources, behaviours, logs }: Clues): readonly Reason[] {
  const isIts = ({ service }: { readonly service: string }): boolean => service === name;
  const said = (texts: readonly string[], ids: readonly string[]) => texts.map((text): Reason => ({ text, ids }));
  return [
    ...said(errors.changes.filter((one) => one.worse && isIts(one)).map(describeErrors), [errors.evidenceId]),
    ...said(latency?.changes.filter((one) => one.worse && isIts(one)).map(describeLatency) ?? [], [
      latency?.evidenceId ?? '',
    ]),
    ...said(resources?.changes.filter(isIts).map(describeGauge) ?? [], [resources?.evidenceId ?? '']),
    ...(behaviours?.changes ?? [])
      .filter(isIts)
      .map((one): Reason => ({ text: describeBehaviour(one), ids: [one.evidenceId] })),
    ...said(logs.worse.filter(isIts).map(describeLog), [logs.evidenceId]),
  ];
}

/** Why this service is rather not the cause; undefined of the first and where nothing speaks against it. */
function against(service: string, first: Suspect, { errors, latency, gaps }: Clues): string | undefined {
  if (service === first.service) return undefined;
  const isWorse = [...errors.changes, ...(latency?.changes ?? [])].some((one) => one.worse && one.service === service);
  const compared = !errors.failed && latency !== undefined && !latency.failed;
  if (!isWorse && compared) return 'None of its operations fails more or is slower';
  const calls = reaches(gaps?.calls ?? [], service, first.service);
  const share = first.category === 'errors' ? 'added failures' : 'added time';
  if (first.category === 'errors' || first.category === 'latency') {
    const accounts = `${code(first.service, 60)} accounts for ${percent(first.share)} of the ${share}`;
    return calls ? `It calls ${code(first.service, 60)}, and ${accounts}` : accounts;
  }
  return calls ? `It calls ${code(first.service, 60)}, which changed too` : undefined;
}

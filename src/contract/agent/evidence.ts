import type { Claim, Conclusion, InvestigationStep } from '../storage/investigation.ts';

export type Evidence = Pick<InvestigationStep, 'evidence_id' | 'verdict' | 'observation' | 'error'>;

const denies = /^(?:no|none|nothing|neither)\b|\b(?:no more|no slower|not slower|not new|unchanged)\b/i;
const named = /`([^`]+)`/g;

/**
 * Whether a supported claim stands against the evidence that it cites: it asserts what all of it refutes or could not check, or
 * denies a change that part of it shows. Evidence that names other services alone says nothing against a denial about one.
 */
export function contradicts({ text, status, evidence_ids: ids }: Claim, steps: readonly Evidence[]): boolean {
  const cited = steps.filter(({ evidence_id: id }) => ids.includes(id));
  if (status !== 'supported' || cited.length === 0) return false;
  // What telemetry says in quotes asserts nothing.
  if (!denies.test(text.replaceAll(named, '')))
    return cited.every(({ verdict, error }) => verdict === 'refutes' || error !== undefined);
  const about = [...text.matchAll(named)].map(([quoted]) => quoted);
  const speaksOf = (observation: string): boolean =>
    about.length === 0 || about.some((quoted) => observation.includes(quoted));
  return cited.some(
    ({ verdict, observation, error }) => error !== undefined || (verdict === 'supports' && speaksOf(observation)),
  );
}

/** The conclusion as its evidence allows: a contradicted claim is a hypothesis, and what rests on one is held with low confidence. */
export function heldTo(conclusion: Conclusion, steps: readonly Evidence[]): Conclusion {
  const claims = conclusion.claims.map((claim) =>
    contradicts(claim, steps) ? { ...claim, status: 'hypothesis' as const } : claim,
  );
  const isHeld = claims.every(({ status }, index) => status === conclusion.claims[index]?.status);
  if (isHeld) return conclusion;
  return { ...conclusion, claims, confidence: conclusion.confidence === 'none' ? 'none' : 'low' };
}

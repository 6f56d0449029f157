import { code } from '../../../src/contract/core/index.ts';
import type { Claim, Conclusion, InvestigationStep } from '../../../src/contract/storage/index.ts';

/** What came of it, ready to be put into words; each text is Markdown that shows and does nothing. */
export interface Findings {
  readonly conclusion: Conclusion;
  readonly nextSteps: readonly string[];
  readonly steps: readonly InvestigationStep[];
  /** Who says so, and whether the playbook agrees. */
  readonly notes: readonly string[];
}

/** The answer in the chat. */
export function writeAnswer({ conclusion, nextSteps, steps, notes }: Findings): string {
  const { claims, not_checked: unchecked = [] } = conclusion;
  const cited = new Set(claims.flatMap((claim) => claim.evidence_ids));
  const evidence = steps.filter((step) => cited.has(step.evidence_id));
  const blocks = [
    `**${headline(conclusion)}**${conclusion.confidence === 'none' ? '' : ` (${conclusion.confidence} confidence)`}`,
    conclusion.root_cause,
    bullets(claims.map(claimText)),
    nextSteps.length === 0 ? '' : `Next:\n${bullets(nextSteps)}`,
    notes.join(' '),
    evidence.length === 0
      ? ''
      : `Evidence:\n${bullets(evidence.map((step) => `${step.evidence_id}: ${step.observation}`))}`,
    unchecked.length === 0 ? '' : `Not checked: ${unchecked.join('; ')}.`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

export function headline({ category, service, root_cause: cause }: Conclusion): string {
  if (category === 'none') return 'Nothing is wrong, as far as was looked';
  if (cause === '') return 'The cause was not found';
  return service === '' ? `Likely cause: ${category}` : `Likely cause: ${category} in ${code(service, 100)}`;
}

export function claimText({ text, status, evidence_ids: ids }: Claim): string {
  return `${status === 'hypothesis' ? 'Perhaps: ' : ''}${text}${ids.length === 0 ? '' : ` [${ids.join(', ')}]`}`;
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

import { code } from '../../../src/contract/core/index.ts';
import type { AgentEvent } from '../../../src/contract/agent/index.ts';
import type { Claim, Conclusion, InvestigationStep } from '../../../src/contract/storage/index.ts';
import { plain } from '../plain.ts';
import type { Reply } from '../tools/endings.ts';
import type { Desk } from '../tools/tool.ts';

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

/** An answer in prose. It may cite what was found earlier, too; ids that name no evidence, or what failed, are left out. */
export function writeReply({ paragraphs }: Reply, { assignment, journal }: Desk, notes: readonly string[]): AgentEvent {
  const steps = [journal.steps, ...(assignment.earlier ?? []).map((one) => one.steps)].flat();
  const usable = new Map(steps.toReversed().map((step) => [step.evidence_id, step]));
  const cited = new Map<string, InvestigationStep>();
  const shown = paragraphs.map(({ text, evidence_ids: ids }) => {
    const found = [...new Set(ids)].flatMap((id) => usable.get(id) ?? []).filter(({ error }) => error === undefined);
    for (const step of found) cited.set(step.evidence_id, step);
    return { text: plain(text, 1_500), ids: found.map((step) => step.evidence_id) };
  });
  const unproven = shown.some(({ ids }) => ids.length === 0)
    ? ['What names no evidence is the word of the model.']
    : [];
  const evidence = [...cited.values()].map((step) => `${step.evidence_id}: ${step.observation}`);
  return {
    type: 'answer',
    answer: [
      ...shown.map(({ text, ids }) => (ids.length === 0 ? text : `${text} [${ids.join(', ')}]`)),
      [...notes, ...unproven].join(' '),
      ...(evidence.length === 0 ? [] : [`Evidence:\n${bullets(evidence)}`]),
    ].join('\n\n'),
    parts: [...cited.values()]
      .filter(({ dialect }) => dialect !== 'mcp')
      .slice(0, queriesShown)
      .map(({ evidence_id, sql }) => ({ type: 'query', evidence_id, sql })),
  };
}

/** As many as come with a conclusion. */
const queriesShown = 6;

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

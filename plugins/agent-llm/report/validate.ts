import { shortened, code } from '../../../src/contract/core/index.ts';
import type { Claim, Conclusion, InvestigationStep } from '../../../src/contract/storage/index.ts';
import type { Doing } from '../journal.ts';
import { plain } from '../plain.ts';
import type { Submission, Reply } from '../tools/endings.ts';
import type { Desk } from '../tools/tool.ts';
import { evidenceLead, type AgentEvent } from '../../../src/contract/agent/index.ts';

/** The incident's document: the model's conclusion, the evidence that it cites, and what the playbook concludes. */
export function writeDocument({ conclusion, nextSteps, steps, notes }: Findings, baseline: string): string {
  const refuted = steps.filter(({ verdict }) => verdict === 'refutes');
  const cited = new Set(conclusion.claims.flatMap((claim) => claim.evidence_ids));
  const sections: readonly (readonly [title: string, body: string])[] = [
    ['Summary', [`${headline(conclusion)}.`, ...notes].join(' ')],
    [
      'Root cause',
      [
        conclusion.root_cause === '' ? 'Not found.' : `${conclusion.root_cause} (confidence: ${conclusion.confidence})`,
        bullets(conclusion.claims.map(claimText)),
      ]
        .filter(Boolean)
        .join('\n\n'),
    ],
    ['Next steps', bullets(nextSteps)],
    ['Open questions', bullets((conclusion.not_checked ?? []).map((what) => `Not checked: ${what}.`))],
    ['Ruled out', bullets(refuted.map((step) => `${step.question} ${step.observation} [${step.evidence_id}]`))],
    ['Evidence', bullets(steps.filter(({ evidence_id: id }) => cited.has(id)).map(evidence))],
    ['Without a model', baseline],
  ];
  const none = '_Nothing to report._';
  return `${sections.map(([title, body]) => `## ${title}\n\n${body === '' ? none : body}`).join('\n\n')}\n`;
}

/** The whole observation, the SQL and the rows are the step's own. */
function evidence({ evidence_id: id, question, verdict, observation }: InvestigationStep): string {
  return `**${id}** ${question} ${shortened(observation, 160)} (${verdict})`;
}

/** Names that may stand for a service where they are not shown in a code span. */
const nameable = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@-]|\/(?!\/)|:(?!\/)){0,99}$/u;
const week = 7 * 86_400_000;

/**
 * What the model submitted, as far as the record bears it out: a claim that cites no evidence that there is, or any that
 * failed, becomes a hypothesis; a service that sends nothing, and a verdict without a supported claim, lower the confidence.
 */
export async function* validate(submission: Submission, desk: Desk): Doing<Conclusion> {
  const usable = new Set(desk.journal.steps.filter(({ error }) => error === undefined).map((step) => step.evidence_id));
  const claims = submission.claims.map(({ text, evidence_ids: cited }): Claim => {
    const ids = [...new Set(cited)].filter((id) => usable.has(id));
    const supported = ids.length > 0 && cited.every((id) => usable.has(id));
    return { text: plain(text, 1_000), status: supported ? 'supported' : 'hypothesis', evidence_ids: ids };
  });
  const service = nameable.test(submission.service) ? submission.service : '';
  const isThere = service === '' || (yield* sends(service, desk));
  const bornOut = claims.some(({ status }) => status === 'supported');
  const suspects = [service, ...submission.suspects].filter((name) => nameable.test(name));
  const lowered =
    isThere && bornOut && service === submission.service ? submission.confidence : lower(submission.confidence);
  return {
    root_cause: plain(submission.root_cause, 2_000),
    category: submission.category,
    service,
    confidence: lowered,
    claims,
    not_checked: [
      ...(isThere ? [] : ['whether the service that is named exists: it sends no spans and no logs']),
      ...submission.not_checked.map((text) => plain(text, 300)),
    ],
    suspects: [...new Set(suspects)],
  };
}

function lower(confidence: Conclusion['confidence']): Conclusion['confidence'] {
  return confidence === 'none' ? 'none' : 'low';
}

async function* sends(service: string, { assignment, host, journal, signal }: Desk): Doing<boolean> {
  if (journal.steps.some(({ columns, rows }) => rows.some((row) => row[columns.indexOf('service_name')] === service))) {
    return true;
  }
  const { write } = host.dialect;
  const window = { start: new Date(assignment.askedAt.getTime() - week), end: assignment.askedAt };
  for (const table of ['spans', 'logs']) {
    if (journal.full) return false;
    const { rows } = yield* journal.ask(
      {
        question: `Does the service that is named send ${table}?`,
        sql: `SELECT service_name, count(*) AS ${table} FROM otel.${table} WHERE time >= ${write.literal(window.start)} AND time < ${write.literal(window.end)} AND service_name = ${write.literal(service)} GROUP BY service_name`,
        window,
        expected: 'rows',
      },
      signal,
    );
    if (rows.length > 0) return true;
  }
  return false;
}

/** What came of it, ready to be put into words; each text is Markdown that shows and does nothing. */
interface Findings {
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
    unchecked.length === 0 ? '' : `Not checked: ${unchecked.join('; ')}.`,
    evidence.length === 0
      ? ''
      : `${evidenceLead}\n${bullets(evidence.map((step) => `${step.evidence_id}: ${step.observation}`))}`,
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
      ...(evidence.length === 0 ? [] : [`${evidenceLead}\n${bullets(evidence)}`]),
    ].join('\n\n'),
    parts: [...cited.values()]
      .filter(({ dialect }) => dialect !== 'mcp')
      .slice(0, queriesShown)
      .map(({ evidence_id, sql }) => ({ type: 'query', evidence_id, sql })),
  };
}

/** As many as come with a conclusion. */
const queriesShown = 6;

function headline({ category, service, root_cause: cause }: Conclusion): string {
  if (category === 'none') return 'Nothing is wrong, as far as was looked';
  if (cause === '') return 'The cause was not found';
  return service === '' ? `Likely cause: ${category}` : `Likely cause: ${category} in ${code(service, 100)}`;
}

function claimText({ text, status, evidence_ids: ids }: Claim): string {
  return `${status === 'hypothesis' ? 'Perhaps: ' : ''}${text}${ids.length === 0 ? '' : ` [${ids.join(', ')}]`}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

import { z } from 'zod';
import {
  chooseInvestigation,
  pictureColumns,
  type Conclusion,
  type Investigation,
  type InvestigationStep,
  type Workspace,
} from '../contract/storage/index.ts';
import { shortened, SightlineError } from '../contract/core/index.ts';
import { cutText, fitting, sizeOf } from './result.ts';
import { members } from './views.ts';

export type InvestigationView = NonNullable<Awaited<ReturnType<typeof viewInvestigation>>>;
export type StepView = ReturnType<typeof stepView>;

export const investigationMembers = z
  .object({
    status: z.string(),
    engine: z.string(),
    conclusion: members(
      'root_cause, category, service, confidence, suspects[{service, why?, why_not?, evidence_ids?}], onset?, not_checked[]',
    ).optional(),
    claims: z.array(members('text, status (supported, hypothesis), evidence_ids[]')),
    steps: z.array(
      members(
        'evidence_id, question, observation, verdict, row_count, error?; with evidence also sql, dialect, window, columns, rows',
      ),
    ),
  })
  .describe('also id, asked_at, finished_at?, failure?, question?');

/** Which steps are shown with their SQL and rows; `pictures` are those that the incident's are made of. */
export type Evidence = 'all' | 'none' | 'pictures' | { readonly id: string };

/** A cell of an evidence row is shown this long; its SQL gives the whole. */
const cellLimit = 300;
/** Investigations in which one step is looked for. */
const mostSearched = 50;
const rowLimits = [50, 20, 10, 5, 2, 0] as const;

/** The investigation behind an incident. Of steps that do not fit the budget rows are left out, then whole steps: `notes` says so. */
export async function viewInvestigation(
  workspace: Workspace,
  investigations: readonly Investigation[],
  { evidence, budget, notes }: { readonly evidence: Evidence; readonly budget: number; readonly notes: string[] },
) {
  const latest = chooseInvestigation(investigations);
  if (latest === undefined) return undefined;
  const { shown, steps } = await chooseSteps(workspace, latest, investigations, evidence);
  if (investigations.length > 1 && shown === latest) {
    notes.push(`${investigations.length} investigations; the shown one is the latest.`);
  }
  const { conclusion } = shown;
  const view = {
    id: shown.id,
    status: shown.status,
    engine: shown.engine,
    asked_at: shown.askedAt.toISOString(),
    finished_at: shown.finishedAt?.toISOString(),
    failure: shown.failure,
    question: shown.question && cutText(shown.question, 2_000).text,
    conclusion: conclusion && {
      root_cause: cutText(conclusion.root_cause, 1_000).text,
      category: conclusion.category,
      service: conclusion.service,
      confidence: conclusion.confidence,
      suspects: suspectViews(conclusion),
      onset: conclusion.onset,
      not_checked: (conclusion.not_checked ?? []).slice(0, 10).map((text) => cutText(text, 200).text),
    },
  };
  const claims = (conclusion?.claims ?? []).slice(0, 20).map((claim) => ({
    text: cutText(claim.text, 400).text,
    status: claim.status,
    evidence_ids: claim.evidence_ids.slice(0, 20),
  }));
  const room = Math.max(0, budget - sizeOf(view));
  const stated = fitting(claims, (room * 2) / 3);
  if (stated.length < claims.length) notes.push(`${stated.length} of ${claims.length} claims are shown.`);
  const left = Math.max(0, room - sizeOf(stated));
  return { ...view, claims: stated, steps: fitSteps(steps, { whole: evidence !== 'none', room: left, notes }) };
}

/** The likeliest first, with what speaks for and against each where the agent says so. */
function suspectViews({ suspects = [], suspicions = [] }: Conclusion) {
  return suspects.slice(0, 5).map((service) => {
    const found = suspicions.find((one) => one.service === service);
    if (found === undefined) return { service };
    const { why, why_not: not, evidence_ids } = found;
    return { service, why: shortened(why, 240), why_not: not && shortened(not, 240), evidence_ids };
  });
}

/** The latest with its steps, or one step with the investigation that took it. */
async function chooseSteps(
  { investigations }: Workspace,
  latest: Investigation,
  newestFirst: readonly Investigation[],
  evidence: Evidence,
): Promise<{ readonly shown: Investigation; readonly steps: readonly InvestigationStep[] }> {
  if (typeof evidence === 'string') {
    const steps = await investigations.steps(latest.id);
    return { shown: latest, steps: evidence === 'pictures' ? steps.filter(isPictured) : steps };
  }
  const wanted = evidence.id.trim().toLowerCase();
  const ids: string[] = [];
  for (const shown of newestFirst.slice(0, mostSearched)) {
    const steps = await investigations.steps(shown.id);
    const found = steps.filter(({ evidence_id: id }) => id.toLowerCase() === wanted);
    if (found.length > 0) return { shown, steps: found };
    ids.push(...steps.map(({ evidence_id: id }) => id));
  }
  throw new SightlineError('not_found', 'The investigations of this incident have no step with this evidence_id.', {
    hint: `They have ${ids.slice(0, 50).join(', ') || 'no steps'}.`,
  });
}

function isPictured({ columns }: InvestigationStep): boolean {
  return Object.values(pictureColumns).some((needed) => needed.every((column) => columns.includes(column)));
}

function fitSteps(
  steps: readonly InvestigationStep[],
  { whole, room, notes }: { readonly whole: boolean; readonly room: number; readonly notes: string[] },
): StepView[] {
  for (const limit of whole ? rowLimits : []) {
    const views = steps.map((step) => stepView(step, limit));
    if (sizeOf(views) > room) continue;
    if (limit < rowLimits[0]) notes.push(`Evidence rows are cut to ${limit} a step; run a step's sql in query_otel.`);
    return views;
  }
  const kept: StepView[] = [];
  let left = room;
  let withSql = whole;
  for (const step of steps) {
    const full = stepView(step, 0);
    withSql &&= sizeOf(full) + sizeOf(steps.slice(kept.length + 1).map((later) => stepView(later))) <= left;
    const view = withSql ? full : stepView(step);
    left -= sizeOf(view);
    if (left < 0) break;
    kept.push(view);
  }
  if (kept.length < steps.length) notes.push(`${kept.length} of ${steps.length} steps are shown.`);
  if (whole && !withSql) notes.push('Steps without SQL: send their evidence_id.');
  return kept;
}

/** With SQL and rows where `rows` says how many. */
function stepView(step: InvestigationStep, rows?: number) {
  const { evidence_id, question, verdict, observation, row_count, error } = step;
  return {
    evidence_id,
    question: cutText(question, 300).text,
    observation: cutText(observation, rows === undefined ? 400 : 2_000).text,
    verdict,
    row_count,
    ...(error !== undefined && { error }),
    ...(rows !== undefined && {
      sql: step.sql,
      dialect: step.dialect,
      window: step.window,
      columns: step.columns,
      rows: step.rows.slice(0, rows).map((row) => row.map(shortCell)),
      elapsed_ms: step.elapsed_ms,
      recorded_at: step.recorded_at,
    }),
  };
}

function shortCell(cell: unknown): unknown {
  const text = typeof cell === 'string' ? cell : undefined;
  if (text !== undefined) return text.length > cellLimit ? `${cutText(text, cellLimit).text}…` : text;
  if (typeof cell !== 'object' || cell === null) return cell;
  const json = JSON.stringify(cell);
  return json.length > cellLimit ? `${cutText(json, cellLimit).text}…` : cell;
}

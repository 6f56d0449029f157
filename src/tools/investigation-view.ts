import { z } from 'zod';
import {
  chooseInvestigation,
  type Investigation,
  type InvestigationStep,
  type Workspace,
} from '../contract/storage/index.ts';
import { cutText } from './result.ts';
import { members } from './views.ts';

/** A contract step, short enough to show. */
export type StepView = Omit<InvestigationStep, 'seq'>;

export type InvestigationView = NonNullable<Awaited<ReturnType<typeof viewInvestigation>>>;

export const investigationMembers = z
  .object({
    status: z.string(),
    engine: z.string(),
    conclusion: members('root_cause, category, service, confidence, not_checked[]').optional(),
    claims: z.array(members('text, status (supported, hypothesis), evidence_ids[]')),
    steps: z.array(
      members('evidence_id, question, sql, dialect, window, columns, rows, row_count, observation, verdict, error?'),
    ),
  })
  .describe('also id, asked_at, finished_at?, failure?, question?');

/** A cell of an evidence row is shown this long; its SQL gives the whole. */
const cellLimit = 300;
const rowLimits = [50, 20, 10, 5, 2, 0] as const;

/** The investigation behind an incident, without rows of its steps, and then whole steps, that do not fit the budget: `notes` says so. */
export async function viewInvestigation(
  workspace: Workspace,
  investigations: readonly Investigation[],
  budget: number,
  notes: string[],
) {
  const chosen = chooseInvestigation(investigations);
  if (chosen === undefined) return undefined;
  if (investigations.length > 1) notes.push(`${investigations.length} investigations; the shown one is the latest.`);
  const { conclusion } = chosen;
  return {
    id: chosen.id,
    status: chosen.status,
    engine: chosen.engine,
    asked_at: chosen.askedAt.toISOString(),
    finished_at: chosen.finishedAt?.toISOString(),
    failure: chosen.failure,
    question: chosen.question && cutText(chosen.question, 2_000).text,
    conclusion: conclusion && {
      root_cause: cutText(conclusion.root_cause, 2_000).text,
      category: conclusion.category,
      service: conclusion.service,
      confidence: conclusion.confidence,
      not_checked: (conclusion.not_checked ?? []).slice(0, 20).map((text) => cutText(text, 300).text),
    },
    claims: (conclusion?.claims ?? []).slice(0, 30).map((claim) => ({
      text: cutText(claim.text, 1_000).text,
      status: claim.status,
      evidence_ids: claim.evidence_ids.slice(0, 20),
    })),
    steps: fitSteps(await workspace.investigations.steps(chosen.id), budget, notes),
  };
}

function fitSteps(steps: readonly InvestigationStep[], budget: number, notes: string[]): StepView[] {
  for (const limit of rowLimits) {
    const views = steps.map((step) => stepView(step, limit));
    if (JSON.stringify(views).length > budget) continue;
    if (limit < rowLimits[0]) notes.push(`Evidence rows are cut to ${limit} a step; run a step's sql in query_otel.`);
    return views;
  }
  const kept: StepView[] = [];
  let size = 0;
  for (const view of steps.map((step) => stepView(step, 0))) {
    size += JSON.stringify(view).length;
    if (size > budget) break;
    kept.push(view);
  }
  notes.push(`${kept.length} of ${steps.length} steps fit, without rows; ask for include ["investigation"] alone.`);
  return kept;
}

function stepView(step: InvestigationStep, rowLimit: number): StepView {
  return {
    evidence_id: step.evidence_id,
    question: step.question,
    verdict: step.verdict,
    observation: cutText(step.observation, 2_000).text,
    sql: step.sql,
    dialect: step.dialect,
    window: step.window,
    columns: step.columns,
    rows: step.rows.slice(0, rowLimit).map((row) => row.map(shortCell)),
    row_count: step.row_count,
    elapsed_ms: step.elapsed_ms,
    recorded_at: step.recorded_at,
    ...(step.error !== undefined && { error: step.error }),
  };
}

function shortCell(cell: unknown): unknown {
  const text = typeof cell === 'string' ? cell : undefined;
  if (text !== undefined) return text.length > cellLimit ? `${cutText(text, cellLimit).text}…` : text;
  if (typeof cell !== 'object' || cell === null) return cell;
  const json = JSON.stringify(cell);
  return json.length > cellLimit ? `${cutText(json, cellLimit).text}…` : cell;
}

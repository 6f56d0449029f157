import type { NewStep } from '../../contract/agent/index.ts';
import type { Conclusion, InvestigationStep, MessagePart, Suspicion } from '../../contract/storage/index.ts';

/** What one investigation may use and leave behind. An agent is a plugin, so its product is bounded here. */
export const budget = {
  steps: 60,
  /** Of one run; a resumed investigation starts over. */
  wallMs: 10 * 60_000,
} as const;

const maxRows = 50;
const maxRowsLength = 64_000;
const maxParts = 20;

/** The step as it is stored under `seq`. Without an id of its own it is numbered on from `after`. */
export function boundStep(
  step: NewStep,
  { seq, after, recordedAt }: { readonly seq: number; readonly after: number; readonly recordedAt: Date },
): InvestigationStep {
  return {
    seq,
    evidence_id: clip(step.evidence_id ?? `E${after + seq}`, 20),
    question: clip(step.question, 500),
    sql: clip(step.sql, 32_000),
    dialect: clip(step.dialect, 40),
    window: { start: clip(step.window.start, 40), end: clip(step.window.end, 40) },
    columns: step.columns.slice(0, 100).map((name) => clip(name, 200)),
    rows: boundRows(step.rows),
    row_count: step.row_count,
    observation: clip(step.observation, 4_000),
    verdict: step.verdict,
    elapsed_ms: step.elapsed_ms,
    ...(step.error !== undefined && { error: clip(step.error, 1_000) }),
    recorded_at: recordedAt.toISOString(),
  };
}

function boundRows(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  const kept: (readonly unknown[])[] = [];
  let length = 0;
  for (const row of rows.slice(0, maxRows)) {
    length += JSON.stringify(row).length;
    if (length > maxRowsLength) break;
    kept.push(row);
  }
  return kept;
}

export function boundConclusion(conclusion: Conclusion): Conclusion {
  return {
    root_cause: clip(conclusion.root_cause, 4_000),
    category: clip(conclusion.category, 100),
    service: clip(conclusion.service, 200),
    confidence: conclusion.confidence,
    claims: conclusion.claims.slice(0, 50).map((claim) => ({
      text: clip(claim.text, 2_000),
      status: claim.status,
      evidence_ids: claim.evidence_ids.slice(0, 50).map((id) => clip(id, 20)),
    })),
    ...(conclusion.not_checked && { not_checked: conclusion.not_checked.slice(0, 50).map((text) => clip(text, 500)) }),
    ...(conclusion.suspects && { suspects: conclusion.suspects.slice(0, 20).map((name) => clip(name, 200)) }),
    ...(conclusion.suspicions && { suspicions: conclusion.suspicions.slice(0, 5).map(boundSuspicion) }),
    ...(conclusion.onset !== undefined && { onset: clip(conclusion.onset, 40) }),
    ...(conclusion.window && {
      window: { start: clip(conclusion.window.start, 40), end: clip(conclusion.window.end, 40) },
    }),
    ...(conclusion.trend && { trend: conclusion.trend.slice(0, 60).map(boundNumber) }),
  };
}

const boundNumber = (value: number): number => (Number.isFinite(value) ? Math.max(0, value) : 0);

function boundSuspicion({ service, why, why_not: not, evidence_ids: ids }: Suspicion): Suspicion {
  return {
    service: clip(service, 200),
    why: clip(why, 1_000),
    ...(not !== undefined && { why_not: clip(not, 1_000) }),
    evidence_ids: ids.slice(0, 20).map((id) => clip(id, 20)),
  };
}

export const boundAnswer = (markdown: string): string => clip(markdown, 48_000);
export const boundDocument = (markdown: string): string => clip(markdown, 50_000);

export function boundParts(parts: readonly MessagePart[]): readonly MessagePart[] {
  return parts.slice(0, maxParts).map((part) => {
    if (part.type === 'question') return { type: part.type, text: clip(part.text, 2_000) };
    const evidence_id = clip(part.evidence_id, 20);
    if (part.type === 'query') return { type: part.type, evidence_id, sql: clip(part.sql, 32_000) };
    return { type: part.type, evidence_id, text: clip(part.text, 2_000) };
  });
}

/** One line, for `waiting_on.reason` or as progress. */
export function boundSentence(text: string): string {
  return clip(text.replaceAll(/\s+/g, ' ').trim(), 300);
}

/** Storable in every database: no NUL, no half of a surrogate pair, at most `length` UTF-16 units. */
function clip(text: string, length: number): string {
  const storable = text.replaceAll('\0', '\u{FFFD}');
  return (storable.length > length ? `${storable.slice(0, length - 1)}…` : storable).toWellFormed();
}

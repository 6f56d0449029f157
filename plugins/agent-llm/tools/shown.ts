import type { InvestigationStep } from '../../../src/contract/storage/index.ts';
import { fence } from '../fence.ts';
import type { ToolOutcome } from './tool.ts';

/** A step as the model is shown it: its id to cite, its rows as data. */
export function shown(step: InvestigationStep): ToolOutcome {
  if (step.error !== undefined) {
    const text = `${step.evidence_id} failed (${step.error}) and may not be cited.\n${fence(step.observation)}`;
    return { text, failed: true };
  }
  const rows = step.rows.map((row) => JSON.stringify(row)).join('\n');
  const text = `${step.evidence_id}: ${step.row_count} rows.\n${fence(`${JSON.stringify(step.columns)}\n${rows}`)}`;
  return { text };
}

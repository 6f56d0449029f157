import { z } from 'zod';
import { issueText, issueWords } from '../../../src/contract/core/index.ts';
import type { Agent, AgentHost, Assignment } from '../../../src/contract/agent/index.ts';
import type { ToolSpec } from '../client/client.ts';
import type { Doing, Inquiry, Journal } from '../journal.ts';
import type { InvestigationStep } from '../../../src/contract/storage/index.ts';
import { fence } from '../plain.ts';

/** Not zod's own, whose pattern would be sent with each tool in each request. */
const time = z
  .string()
  .max(40)
  .refine((text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)), 'must be RFC 3339');

export const timeRange = { start: time.describe('RFC 3339, inclusive'), end: time.describe('RFC 3339, exclusive') };

const longestDays = 31;

/** The stretch, or what is wrong with it in words for the model. */
export function readRange(
  { start, end }: { readonly start: string; readonly end: string },
  { assignment }: Desk,
): { readonly start: Date; readonly end: Date } | string {
  const range = { start: new Date(start), end: new Date(end) };
  if (range.start >= range.end) return 'start must be before end.';
  if (range.end.getTime() - range.start.getTime() > longestDays * 86_400_000) {
    return `The stretch is longer than ${longestDays} days: narrow it.`;
  }
  if (range.start > assignment.askedAt) return `start is in the future: it is ${assignment.askedAt.toISOString()}.`;
  return range;
}

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

/** Asks the telemetry, and shows the step to the model. */
export async function* asked({ journal, signal }: Desk, inquiry: Inquiry): Doing<ToolOutcome> {
  return shown(yield* journal.ask(inquiry, signal));
}

/** What tools work with. The organization is the assignment's: no tool takes one. */
export interface Desk {
  readonly assignment: Assignment;
  readonly host: AgentHost;
  readonly baseline: Agent;
  readonly journal: Journal;
  /** Aborted when the investigation ends or its time is over. */
  readonly signal: AbortSignal;
}

export interface ToolOutcome {
  /** The text for the model; untrusted text in it is fenced. */
  readonly text: string;
  readonly failed?: boolean;
}

export interface Tool {
  readonly spec: ToolSpec;
  call(input: unknown, desk: Desk): Doing<ToolOutcome>;
}

/** A read-only tool. The model gets the errors of its input schema. */
export function lookingTool<Input extends z.ZodObject>(tool: {
  readonly name: string;
  readonly description: string;
  /** Strict. */
  readonly input: Input;
  run(input: z.output<Input>, desk: Desk): Doing<ToolOutcome>;
}): Tool {
  return {
    spec: specOf(tool.name, tool.description, tool.input),
    async *call(input, desk) {
      const read = readInput(tool.input, input);
      return 'problem' in read ? { text: read.problem, failed: true } : yield* tool.run(read.input, desk);
    },
  };
}

export function specOf(name: string, description: string, input: z.ZodType): ToolSpec {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', target: 'draft-7' });
  return { name, description, schema };
}

export function readInput<Input extends z.ZodType>(
  schema: Input,
  input: unknown,
): { readonly input: z.output<Input> } | { readonly problem: string } {
  const read = schema.safeParse(input, issueWords);
  if (read.success) return { input: read.data };
  const problems = read.error.issues.slice(0, 5).map((issue) => issueText(issue));
  return { problem: `The input is not valid: ${problems.join('; ').slice(0, 600)}` };
}

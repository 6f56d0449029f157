import { z } from 'zod';
import type { Agent, AgentHost, Assignment } from '../../../src/contract/agent/index.ts';
import type { ToolSpec } from '../client/client.ts';
import type { Doing, Journal } from '../journal.ts';

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
  /** What the model is told; strangers' words in it are fenced. */
  readonly text: string;
  readonly failed?: boolean;
}

export interface Tool {
  readonly spec: ToolSpec;
  call(input: unknown, desk: Desk): Doing<ToolOutcome>;
}

/** A tool that looks, and changes nothing. Input that its schema refuses is told to the model. */
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
  const read = schema.safeParse(input);
  if (read.success) return { input: read.data };
  const problems = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? 'input' : path.join('.')}: ${message}`);
  return { problem: `The input is not valid: ${problems.join('; ').slice(0, 600)}` };
}

import type { Agent, AgentEvent, Assignment } from '../../src/contract/agent/index.ts';
import type { ChatMessage } from '../../src/contract/storage/index.ts';
import type { Doing, Journal } from './journal.ts';

export type BaselineEnd = Extract<AgentEvent, { type: 'conclusion' | 'question' | 'answer' }>;

/**
 * Runs the agent that needs no model. Its steps go into the journal under the same ids; those recorded before are not
 * taken again. Undefined when the journal is full before it ends.
 */
export async function* runBaseline(
  baseline: Agent,
  assignment: Assignment,
  journal: Journal,
  signal: AbortSignal,
): Doing<BaselineEnd | undefined> {
  const given = { ...assignment, steps: [...journal.steps] };
  for await (const event of baseline.investigate(given, signal)) {
    switch (event.type) {
      case 'progress':
        yield event;
        break;
      case 'step':
        if (journal.full) return undefined;
        yield { type: 'step', step: journal.record(event.step) };
        break;
      default:
        return event;
    }
  }
  return undefined;
}

/** A reply to what the model asked says nothing to the playbook, which goes by the question that began the run. */
export function withoutReplies(assignment: Assignment): Assignment {
  const { messages } = assignment;
  const asks = ({ role, parts }: ChatMessage): boolean =>
    role === 'agent' && parts.some(({ type }) => type === 'question');
  const begun = messages.findLastIndex((message) => message.role !== 'user' && !asks(message)) + 1;
  const asked = messages.findIndex((message, index) => index >= begun && asks(message));
  return asked < 0 ? assignment : { ...assignment, messages: messages.slice(0, asked) };
}

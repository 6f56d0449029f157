import { newId } from '../../contract/core/index.ts';
import type { Agent, Assignment } from '../../contract/agent/index.ts';
import type { Conclusion } from '../../contract/storage/index.ts';
import type { EvalCase, EvalResult } from './case.ts';

const limitMs = 120_000;

/** Puts the question to the agent as a person would, in a new chat. */
export async function runCase(agent: Agent, { onset, ...asked }: EvalCase): Promise<EvalResult> {
  const { name, type, service, organizationId, question, askedAt } = asked;
  const author = { kind: 'operator', id: 'eval', name: 'eval' } as const;
  const assignment: Assignment = {
    organizationId,
    messages: [{ id: newId('msg'), seq: 1, role: 'user', author, time: askedAt, content: question, parts: [] }],
    steps: [],
    askedAt,
  };
  const begun = performance.now();
  let queries = 0;
  let conclusion: Conclusion | undefined;
  let failure: string | undefined;
  try {
    for await (const event of agent.investigate(assignment, AbortSignal.timeout(limitMs))) {
      if (event.type === 'step') {
        queries += 1;
        if (event.step.error !== undefined) failure = `${event.step.question} ${event.step.observation}`;
      }
      if (event.type === 'conclusion') conclusion = event.conclusion;
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const found = conclusion?.onset === undefined ? undefined : new Date(conclusion.onset);
  return {
    name,
    type,
    service,
    named: namedBy(conclusion),
    blames: conclusion !== undefined && conclusion.service !== '',
    seconds: (performance.now() - begun) / 1_000,
    queries,
    onsetErrorSeconds: found && Math.abs(found.getTime() - onset.getTime()) / 1_000,
    ...(failure !== undefined && { failure }),
  };
}

function namedBy(conclusion: Conclusion | undefined): readonly string[] {
  if (conclusion === undefined) return [];
  const { service, suspects = [] } = conclusion;
  return [...new Set([service, ...suspects])].filter((name) => name !== '');
}

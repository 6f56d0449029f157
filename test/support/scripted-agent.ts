import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, AgentEvent, Assignment, NewStep } from '../../src/contract/agent/index.ts';

export interface Script {
  readonly steps: number;
  readonly stepMs: number;
  /** What comes after the steps; a conclusion when left out. */
  readonly end?: (assignment: Assignment) => AgentEvent;
  /** Called as each step is taken, before it is stored. */
  readonly onStep?: (question: string) => void;
  readonly onSignal?: (signal: AbortSignal) => void;
}

export function step(question: string): NewStep {
  return {
    question,
    sql: `SELECT '${question}'`,
    dialect: 'duckdb',
    window: { start: '2026-01-01T00:00:00.000Z', end: '2026-01-01T01:00:00.000Z' },
    columns: ['question'],
    rows: [[question]],
    row_count: 1,
    observation: question,
    verdict: 'supports',
    elapsed_ms: 1,
  };
}

export function conclusion(text: string, more: object = {}): AgentEvent {
  return {
    type: 'conclusion',
    answer: text,
    conclusion: {
      root_cause: text,
      category: 'errors',
      service: 'payment',
      confidence: 'high',
      claims: [{ text: 'claimed', status: 'supported', evidence_ids: ['E1'] }],
    },
    ...more,
  };
}

/** An agent that takes its steps one after another, going on behind those that are recorded. */
export function scriptedAgent({ steps, stepMs, end, onStep, onSignal }: Script): Agent {
  return {
    engine: 'scripted',
    start: async () => {},
    stop: async () => {},
    health: async () => ({ ok: true }),
    async *investigate(assignment, signal) {
      onSignal?.(signal);
      for (let taken = assignment.steps.length + 1; taken <= steps; taken += 1) {
        yield { type: 'progress', message: `At step ${taken}` };
        await sleep(stepMs, undefined, { signal });
        onStep?.(`step ${taken}`);
        yield { type: 'step', step: step(`step ${taken}`) };
      }
      const asked = assignment.messages.findLast(({ role }) => role === 'user');
      yield end?.(assignment) ?? conclusion(`answered: ${asked?.content ?? ''}`);
    },
  };
}

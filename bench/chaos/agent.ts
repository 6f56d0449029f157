import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { conclusion, step } from '../../test/support/scripted-agent.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import type { Agent } from '../../src/contract/agent/index.ts';

/**
 * An agent that signs each step with the run that took it, and says at the end which steps it was given or took: what is
 * stored must be the same, or a conclusion rests on evidence that another run found.
 */
export default definePlugin({
  kind: 'agent',
  name: 'signing',
  apiVersion,
  configSchema: z.strictObject({ steps: z.int(), stepMs: z.int() }),
  create: ({ steps, stepMs }): Agent => ({
    engine: 'signing',
    start: async () => {},
    stop: async () => {},
    health: async () => ({ ok: true }),
    async *investigate(assignment, signal) {
      const run = randomUUID().slice(0, 8);
      const signatures = assignment.steps.map(({ observation }) => observation);
      while (signatures.length < steps) {
        await sleep(stepMs, undefined, { signal });
        signatures.push(run);
        yield { type: 'step', step: { ...step(`step ${signatures.length}`), observation: run } };
      }
      yield conclusion(signatures.join(' '));
    },
  }),
});

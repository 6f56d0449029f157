import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import type { Agent } from '../../src/contract/agent/index.ts';
import { scriptedAgent } from './scripted-agent.ts';

/** An agent whose gateway can be killed while it works: it says each step it takes, and for which question. */
export default definePlugin({
  kind: 'agent',
  name: 'slow',
  apiVersion,
  configSchema: z.strictObject({ steps: z.int(), stepMs: z.int() }),
  create: (script): Agent => ({
    ...scriptedAgent(script),
    investigate(assignment, signal) {
      const asked = assignment.messages.findLast(({ role }) => role === 'user')?.content ?? '';
      const onStep = (question: string): void => void process.stdout.write(`${asked}: ${question}\n`);
      return scriptedAgent({ ...script, onStep }).investigate(assignment, signal);
    },
  }),
});

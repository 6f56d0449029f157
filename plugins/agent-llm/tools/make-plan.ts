import { z } from 'zod';
import { plain } from '../plain.ts';
import { lookingTool } from './tool.ts';

export const makePlan = lookingTool({
  name: 'make_plan',
  description:
    'Say what you will look at, in order, in at most eight short lines. Call it first, and again when the plan changes.',
  input: z.strictObject({ todo: z.array(z.string().min(1).max(200)).min(1).max(8) }),
  async *run({ todo }) {
    yield { type: 'progress', message: `Plan: ${todo.map((line) => plain(line, 200)).join('; ')}` };
    return { text: 'Noted.' };
  },
});

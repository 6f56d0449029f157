import { z } from 'zod';
import type { Assignment } from '../../../src/contract/agent/index.ts';
import { plain } from '../plain.ts';
import { lookingTool, readInput, specOf } from './tool.ts';

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

const input = z.strictObject({ question: z.string().min(5).max(500) });

export const askHuman = {
  spec: specOf(
    'ask_human',
    'Asks the person who asked, and ends this run; their reply starts the next one. Only for what telemetry cannot tell.',
    input,
  ),
  read: (raw: unknown, assignment: Assignment): { readonly question: string } | { readonly problem: string } => {
    const read = readInput(input, raw);
    if ('problem' in read) return read;
    if (assignment.messages.length === 0) return { problem: 'Nobody is there to answer: no chat began this.' };
    const asked = assignment.messages.filter(({ parts }) => parts.some(({ type }) => type === 'question')).length;
    if (asked >= mostQuestions) return { problem: 'Enough has been asked in this chat: conclude.' };
    if (secret.test(read.input.question)) return { problem: 'Never ask for secrets or for data of persons.' };
    return { question: `${plain(read.input.question, 500)}\n\n${warning}` };
  },
};

const mostQuestions = 3;

/** An order planted in telemetry may want a person to hand over what the telemetry does not hold. */
const secret =
  /pass\s?-?(?:word|phrase|code)|secret|credential|token|(?:api|access|private|ssh|license|encryption|signing)[\s_-]*key|one[\s-]*time|\botp\b|\bpin\b|\b2fa\b|\bmfa\b|cookie|seed phrase|credit card|card number|social security|\.env\b|kubeconfig/i;

const warning = '_A model asks this. It needs no passwords, keys or other secrets: do not send any._';

import { z } from 'zod';
import { readInput, specOf, lookingTool } from './tool.ts';
import type { Assignment } from '../../../src/contract/agent/index.ts';
import { plain } from '../plain.ts';

function ending<Input extends z.ZodObject>(name: string, description: string, input: Input) {
  return { spec: specOf(name, description, input), read: (raw: unknown) => readInput(input, raw) };
}

const line = (longest: number) => z.string().max(longest);

const conclusionInput = z.strictObject({
  root_cause: line(2_000).describe('What causes it, in two or three sentences; empty if it was not found'),
  category: z.enum(['errors', 'latency', 'resource', 'behaviour', 'deployment', 'dependency', 'none', 'other']),
  service: line(200).describe('Where the cause is, named as in service_name; empty if none'),
  confidence: z.enum(['high', 'medium', 'low', 'none']),
  suspects: z.array(line(200)).max(20).default([]).describe('Services that may be the cause, likeliest first'),
  claims: z
    .array(z.strictObject({ text: line(1_000).min(1), evidence_ids: z.array(line(20)).max(20) }))
    .max(30)
    .describe('Each with the ids of the evidence that shows it; without, it is shown as a hypothesis'),
  next_steps: z.array(line(500).min(1)).max(12).default([]),
  not_checked: z.array(line(300).min(1)).max(12).default([]),
});

export type Submission = z.output<typeof conclusionInput>;

export const submitConclusion = ending(
  'submit_conclusion',
  'Ends the investigation. Plain sentences: no Markdown, HTML or addresses. Put names in backticks.',
  conclusionInput,
);

const answerInput = z.strictObject({
  paragraphs: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(1_500),
        evidence_ids: z.array(z.string().max(20)).max(20).default([]).describe('Evidence that shows what it says'),
      }),
    )
    .min(1)
    .max(20),
});

export type Reply = z.output<typeof answerInput>;

export const answer = ending(
  'answer',
  'Ends the run with an answer in prose: for a question or a request that asks for no cause, such as a summary or a ' +
    'translation. In the language of the question. Plain sentences: no Markdown, HTML or addresses. Put names in backticks.',
  answerInput,
);

/** Prose that a model wrote in place of a call of `answer`. */
export function readProse(text: string): Reply | undefined {
  const paragraphs = text
    .split(/\n+/)
    .filter((line) => line.trim() !== '')
    .map((line) => ({
      // One blank alone: a regular expression that begins with a run of them takes time with the square of its length.
      text: line.replaceAll(/\s?\[E\d{1,3}(?:,\s*E\d{1,3})*\]/g, ''),
      evidence_ids: line.match(/\bE\d{1,3}\b/g) ?? [],
    }));
  return answerInput.safeParse({ paragraphs }).data;
}

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

const questionInput = z.strictObject({ question: z.string().min(5).max(500) });

export const askHuman = {
  spec: specOf(
    'ask_human',
    'Asks the person who asked, and ends this run; their reply starts the next one. Only for what telemetry cannot tell.',
    questionInput,
  ),
  read: (raw: unknown, assignment: Assignment): { readonly question: string } | { readonly problem: string } => {
    const read = readInput(questionInput, raw);
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

import { z } from 'zod';
import { readInput, specOf } from './tool.ts';

const input = z.strictObject({
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

export type Reply = z.output<typeof input>;

export const answer = {
  spec: specOf(
    'answer',
    'Ends the run with an answer in prose: for a question or a request that asks for no cause, such as a summary or a ' +
      'translation. In the language of the question. Plain sentences: no Markdown, HTML or addresses. Put names in backticks.',
    input,
  ),
  read: (raw: unknown) => readInput(input, raw),
};

/** Prose that a model wrote in place of a call of `answer`. */
export function readProse(text: string): Reply | undefined {
  const paragraphs = text
    .split(/\n+/)
    .filter((line) => line.trim() !== '')
    .map((line) => ({
      text: line.replaceAll(/\s*\[E\d{1,3}(?:,\s*E\d{1,3})*\]/g, ''),
      evidence_ids: line.match(/\bE\d{1,3}\b/g) ?? [],
    }));
  return input.safeParse({ paragraphs }).data;
}

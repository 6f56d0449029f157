import { z } from 'zod';
import { readInput, specOf } from './tool.ts';

const line = (longest: number) => z.string().max(longest);

const input = z.strictObject({
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

export type Submission = z.output<typeof input>;

export const submitConclusion = {
  spec: specOf(
    'submit_conclusion',
    'Ends the investigation. Plain sentences: no Markdown, HTML or addresses. Put names in backticks.',
    input,
  ),
  read: (raw: unknown) => readInput(input, raw),
};

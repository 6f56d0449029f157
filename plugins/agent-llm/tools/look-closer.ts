import { z } from 'zod';
import { newId } from '../../../src/contract/core/index.ts';
import { runBaseline } from '../baseline.ts';
import { fence } from '../plain.ts';
import { readRange, timeRange, lookingTool } from './tool.ts';

const service = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} ._/:@-]{0,99}$/u, 'must be the name of a service');

export const lookCloser = lookingTool({
  name: 'look_closer',
  description:
    'Has the playbook compare a stretch of time with the time before it, for some services or for all: failures, slowness, ' +
    'own time, calls, resources, log lines, when it began. Its steps become evidence.',
  input: z.strictObject({ services: z.array(service).max(5).default([]), ...timeRange }),
  async *run({ services, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { assignment, baseline, journal, signal } = desk;
    const about = services.length === 0 ? '' : ` only with ${services.map((name) => `'${name}'`).join(' and ')}`;
    const content = `What is wrong${about} between ${window.start.toISOString()} and ${window.end.toISOString()}?`;
    const { organizationId, askedAt } = assignment;
    const asked = {
      organizationId,
      askedAt,
      steps: [],
      messages: [
        {
          id: newId('msg', askedAt.getTime()),
          seq: 1,
          role: 'user' as const,
          author: { kind: 'agent' as const, id: 'llm', name: 'llm' },
          time: askedAt,
          content,
          parts: [],
        },
      ],
    };
    const known = journal.steps.length;
    const end = yield* runBaseline(baseline, asked, journal, signal);
    const added = journal.steps.slice(known).map((step) => `${step.evidence_id} ${step.question}`);
    const found =
      end === undefined ? 'It was ended before its conclusion.' : end.type === 'question' ? end.question : end.answer;
    return { text: fence([found, '', 'New evidence:', ...added].join('\n')) };
  },
});

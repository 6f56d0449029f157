import { z } from 'zod';
import { plain } from '../plain.ts';
import { asked, lookingTool, readRange, timeRange } from './tool.ts';

const places = { start: '{start}', end: '{end}' };

export const queryOtel = lookingTool({
  name: 'query_otel',
  description:
    'Runs one read-only SQL SELECT over otel.spans, otel.logs, otel.metrics. Write the bounds of time as {start} and {end}: ' +
    'WHERE time >= {start} AND time < {end}. At most 50 rows come back: aggregate. Say in `expect` what would speak for ' +
    'what you suspect.',
  input: z.strictObject({
    question: z.string().min(3).max(300).describe('What this finds out, in one sentence'),
    sql: z.string().min(8).max(12_000),
    ...timeRange,
    expect: z.enum(['rows', 'no_rows', 'open']).default('open'),
  }),
  async *run({ question, sql, expect, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    if (!sql.includes(places.start) || !sql.includes(places.end)) {
      return { text: 'The SQL must bound its time: time >= {start} AND time < {end}.', failed: true };
    }
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: plain(question, 300),
      sql: sql.replaceAll(places.start, write.literal(window.start)).replaceAll(places.end, write.literal(window.end)),
      window,
      expected: expect === 'open' ? undefined : expect,
    });
  },
});

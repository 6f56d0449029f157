import { z } from 'zod';
import { asked, lookingTool, readRange, timeRange } from './tool.ts';

export const traceTree = lookingTool({
  name: 'trace_tree',
  description: 'One trace, span by span: its first 50 by start, each with its parent.',
  input: z.strictObject({
    trace_id: z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits'),
    ...timeRange,
  }),
  async *run({ trace_id: traceId, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: `What happens in trace \`${traceId}\`?`,
      sql: `SELECT time, service_name, name, kind, status_code, status_message, duration_nano, span_id, parent_span_id
FROM otel.spans
WHERE time >= ${write.literal(window.start)} AND time < ${write.literal(window.end)} AND trace_id = ${write.literal(traceId)}
ORDER BY time, span_id
LIMIT 50`,
      window,
    });
  },
});

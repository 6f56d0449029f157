import { z } from 'zod';
import { asked, lookingTool, readRange, timeRange } from './tool.ts';

export const listServices = lookingTool({
  name: 'list_services',
  description:
    'The services that send spans, with how many, how many of them failed, and the 95th percentile of their time.',
  input: z.strictObject(timeRange),
  async *run(times, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: 'Which services send spans, and how many of them fail?',
      sql: `SELECT service_name, count(*) AS spans, ${write.countIf("status_code = 'ERROR'")} AS failed, ${write.quantile('duration_nano / 1e6', 0.95)} AS p95_ms
FROM otel.spans
WHERE time >= ${write.literal(window.start)} AND time < ${write.literal(window.end)}
GROUP BY service_name
ORDER BY failed DESC, spans DESC, service_name
LIMIT 50`,
      window,
    });
  },
});

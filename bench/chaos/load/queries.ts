import { z } from 'zod';
import { runLine, toolThroughFront, type LoadContext } from './line.ts';

const counted = z.object({ rows: z.tuple([z.tuple([z.string()])]) });
const listed = z.object({ incidents: z.array(z.object({ title: z.string() })) });

/** Counts spans, of which there are never fewer than before; and lists incidents. */
export function queries(context: LoadContext): Promise<void> {
  const { ledger } = context;
  let most = 0;
  return runLine(context, 150, async (turn) => {
    if (turn % 4 === 0) {
      const { structured } = await toolThroughFront(context, 'list_incidents', { limit: 5 });
      if (structured !== undefined) listed.parse(structured);
      return;
    }
    const sql = "SELECT count(*) AS n FROM otel.spans WHERE service_name = 'chaos'";
    const { structured } = await toolThroughFront(context, 'query_otel', { sql });
    if (structured === undefined) return;
    const [[n]] = counted.parse(structured).rows;
    if (Number(n) < most) ledger.broken.push(`query_otel counted ${n} spans, and ${most} before`);
    most = Math.max(most, Number(n));
  });
}

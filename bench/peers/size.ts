import { z } from 'zod';
import type { Contender } from './contender.ts';
import { answerOf, requestOf, type Line, type Speech } from './lines.ts';

const rows = 100;
const columns = 'time, trace_id, span_id, service_name, name, kind, status_code, duration_nano';

const spans: Line = {
  name: `${rows} spans of eight columns`,
  connections: 1,
  era: '2025-11-25',
  sql: ({ spans: table }: Speech) => `SELECT ${columns} FROM ${table} LIMIT ${rows}`,
  check(answer) {
    const found = new Set(answer.match(/[0-9a-f]{32}/g)).size;
    if (found !== rows) throw new Error(`${found} of ${rows} rows are in the answer`);
  },
};

const answered = z.object({
  result: z.object({ structuredContent: z.object({ rows: z.array(z.array(z.unknown())) }) }),
});

/** How many bytes each answers for the same rows, beside what they take as CSV. `own` says what it answers in structured form. */
export async function sizes(contenders: readonly Contender[], own: Contender): Promise<string> {
  const bodies = new Map<Contender, string>();
  for (const contender of contenders) {
    const { url, speech, token } = contender;
    bodies.set(contender, await answerOf(url, requestOf(spans, speech, token), spans, speech));
  }
  const { structuredContent } = answered.parse(JSON.parse(bodies.get(own) ?? '')).result;
  const lines = structuredContent.rows.map((row) => row.map(String).join(','));
  const csv = Buffer.byteLength([columns.replaceAll(' ', ''), ...lines, ''].join('\n'));
  const times = (text: string) => (Buffer.byteLength(text) / csv).toFixed(2);
  return [
    `${spans.name}: ${csv} bytes of CSV`,
    ...[...bodies].map(([{ name }, body]) => `  ${name}: ${times(body)} times that`),
    `  ${own.name}, the structured form alone: ${times(JSON.stringify(structuredContent))} times that`,
  ].join('\n');
}

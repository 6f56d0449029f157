import { z } from 'zod';
import { html, type Html } from '../../../src/web/html.ts';
import { callTool } from '../call.ts';

const incidents = z.object({
  incidents: z.array(z.object({ key: z.string(), severity: z.string(), status: z.string(), title: z.string() })),
});
const incident = z.object({
  investigation: z.object({
    conclusion: z.object({ root_cause: z.string(), confidence: z.string() }),
    claims: z.array(z.object({ text: z.string(), evidence_ids: z.array(z.string()) })),
  }),
});
const answer = z.object({ columns: z.array(z.object({ name: z.string() })), rows: z.array(z.array(z.string())) });

const chat = z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) });

const sql = `SELECT service_version AS version,
  count(*) AS charges,
  count(*) FILTER (WHERE status_code = 'ERROR') AS failed
FROM otel.spans
WHERE service_name = 'payment' AND name = 'PaymentService/Charge'
GROUP BY 1 ORDER BY 1`;

const question = 'who is affected?';

/** What a client shows of three calls: the incidents, the cause of one, and a query that confirms it. */
export async function session(url: string, token: string): Promise<Html> {
  const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> =>
    (await callTool(url, token, name, args)).structured;
  const { incidents: open } = incidents.parse(await call('list_incidents', { status: 'open' }));
  const { investigation } = incident.parse(await call('read_incident', { incident_id: 'INC-1' }));
  const { columns, rows } = answer.parse(await call('query_otel', { sql }));
  const { chat_id: id } = z
    .object({ chat_id: z.string() })
    .parse(await call('start_chat', { message: question, incident_id: 'INC-1' }));
  const { messages } = chat.parse(await call('read_chat', { chat_id: id, wait_seconds: 25 }));
  const reply = messages.findLast(({ role }) => role === 'agent')?.content.split('\n\n')[0] ?? '';
  const told = investigation.claims.filter(({ text }) => /2\.4\.0/.test(text)).slice(0, 3);
  const width = Math.max(...[columns.map(({ name }) => name), ...rows].flat().map((cell) => cell.length)) + 2;
  const line = (cells: readonly string[]): string => cells.map((cell) => cell.padEnd(width)).join('');
  return html`
    ${asked('list_incidents', 'status: open')}
    <pre>${open.map(({ key, severity, status, title }) => `${key}  ${severity}, ${status}\n${title}`).join('\n')}</pre>
    ${asked('read_incident', 'incident_id: INC-1')}
    <p>${plain(investigation.conclusion.root_cause)} <b>${investigation.conclusion.confidence} confidence</b></p>
    <ul>
      ${told.map(({ text, evidence_ids: ids }) => html`<li>${plain(text)} <i>${ids.join(', ')}</i></li>`)}
    </ul>
    ${asked('query_otel', 'sql:')}
    <pre class="sql">${sql}</pre>
    <pre>${[line(columns.map(({ name }) => name)), ...rows.map(line)].join('\n')}</pre>
    ${asked('start_chat', `message: ${question}`)}
    <p>${plain(reply)}</p>
  `;
}

function asked(tool: string, args: string): Html {
  return html`<h2><span>❯</span> sightline · ${tool} <small>${args}</small></h2>`;
}

function plain(text: string): string {
  return text.replaceAll('`', '');
}

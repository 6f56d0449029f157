import type { EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import type { InvestigationStep } from '../../../src/contract/storage/index.ts';
import { readRows } from '../notebook.ts';
import type { Asks } from '../question/asks.ts';
import { code, fenced } from '../sql.ts';
import { describe, readExemplar } from '../steps/exemplars.ts';
import { bullets, claimLine, evidenceBlock } from './answer.ts';
import { stretch } from './findings.ts';

/** What can be asked, for what was not understood. */
export const help = [
  'I did not read a question in that. You can ask on, for example:',
  bullets([
    '`only checkout` narrows to a service; `all services` widens again',
    '`what about yesterday`, `the hour before`, `since 14:00` or `now` moves the time',
    '`compare with yesterday` or `compare with 13:00 to 13:30` says what is usual',
    '`show me the traces`, `the logs` or `the SQL` shows examples of what was found, and `E3` one piece of evidence',
    '`why?` tells what the conclusion rests on',
    '`cancel` stops an investigation',
    'any other question about your services is investigated',
  ]),
].join('\n\n');

const mostTraces = 8;
const mostLines = 12;
const mostQueries = 10;

/**
 * The answer to what can be answered from what was found before, without a new look at the telemetry; undefined where it
 * cannot. `today` is when it is asked.
 */
export function recall(asks: Asks, earlier: readonly EarlierInvestigation[], today: Date): string | undefined {
  const [last] = earlier;
  if (last === undefined) return undefined;
  switch (asks.kind) {
    case 'traces':
      return earlier.map((one) => traces(one, today)).find((shown) => shown !== undefined);
    case 'logs':
      return earlier.map((one) => logs(one, today)).find((shown) => shown !== undefined);
    case 'queries':
      return queries(last, today);
    case 'reasons':
      return reasons(last, today);
    case 'evidence':
      return evidence(asks.ids, earlier);
    default:
      return undefined;
  }
}

function about({ conclusion: { window, service } }: EarlierInvestigation, today: Date): string {
  const where = service === '' ? '' : ` about ${code(service, 60)}`;
  const range = window && { start: new Date(window.start), end: new Date(window.end) };
  return `From what was found${where}${range ? `, ${stretch(range, today)}` : ''}:`;
}

function traces(one: EarlierInvestigation, today: Date): string | undefined {
  const lines = one.steps
    .filter(({ columns }) => columns.includes('trace_id') && columns.includes('duration_nano'))
    .flatMap(({ columns, rows, evidence_id: id }) =>
      readRows(columns, rows).map((row) => `${describe(readExemplar(row))} [${id}]`),
    );
  if (lines.length === 0) return undefined;
  const next = 'Ask query_otel for all spans of a trace by its trace_id.';
  return [about(one, today), bullets([...new Set(lines)].slice(0, mostTraces)), next].join('\n\n');
}

/** Lines that the log steps found; the named service's first. */
function logs(one: EarlierInvestigation, today: Date): string | undefined {
  const found = one.steps.filter(({ sql }) => /\botel\.logs\b/i.test(sql)).flatMap(logLines);
  if (found.length === 0) return undefined;
  const { service } = one.conclusion;
  const ordered = [
    ...found.filter((line) => line.service === service),
    ...found.filter((line) => line.service !== service),
  ];
  return [about(one, today), bullets([...new Set(ordered.map(({ text }) => text))].slice(0, mostLines))].join('\n\n');
}

function logLines(step: InvestigationStep): readonly { readonly service: string; readonly text: string }[] {
  const shown = ['example', 'line', 'body'].find((name) => step.columns.includes(name));
  if (shown === undefined) return [];
  return readRows(step.columns, step.rows).map((row) => {
    const service = row.text('service_name');
    const times = step.columns.includes('records') ? `, ${row.number('records')} times` : '';
    return { service, text: `${code(service, 60)}: ${code(row.text(shown), 240)}${times} [${step.evidence_id}]` };
  });
}

function queries(one: EarlierInvestigation, today: Date): string {
  const cited = new Set(one.conclusion.claims.flatMap(({ evidence_ids: ids }) => ids));
  const steps = one.steps.filter(({ evidence_id: id }) => cited.has(id));
  const shown = (steps.length > 0 ? steps : one.steps).slice(0, mostQueries);
  const blocks = shown.map(({ evidence_id: id, question, sql }) => `**${id}** ${question}\n\n${fenced(sql, 'sql')}`);
  const rest = one.steps.length - shown.length;
  const more =
    rest > 0 ? [`${rest} more stand behind it; name one, such as \`${one.steps.at(-1)?.evidence_id}\`.`] : [];
  return [about(one, today), ...blocks, ...more].join('\n\n');
}

/** The conclusion, and for each of its claims what the telemetry said. */
function reasons(one: EarlierInvestigation, today: Date): string {
  const { conclusion, steps } = one;
  const { root_cause: cause, confidence, claims, not_checked: unchecked = [] } = conclusion;
  const said = new Map(steps.map((step) => [step.evidence_id, step]));
  const because = claims.map((claim) => {
    const observed = claim.evidence_ids.flatMap((id) => {
      const step = said.get(id);
      return step === undefined ? [] : [`  - ${id}, ${step.question} ${step.observation}`];
    });
    return [claimLine(claim), ...observed].join('\n');
  });
  const against = steps.filter(({ verdict }) => verdict === 'refutes');
  return [
    about(one, today),
    cause === '' ? 'No cause was found.' : `${cause} (confidence: ${confidence})`,
    because.join('\n'),
    against.length === 0
      ? ''
      : `What speaks against something:\n${bullets(against.map(({ evidence_id: id, observation }) => `${observation} [${id}]`))}`,
    unchecked.length === 0 ? '' : `Not checked: ${unchecked.join('; ')}.`,
    'Each of these is a query: `show me the SQL`.',
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

function evidence(ids: readonly string[], earlier: readonly EarlierInvestigation[]): string {
  const all = earlier.flatMap(({ steps }) => steps);
  const blocks = [...new Set(ids)].slice(0, mostQueries).map((id) => {
    const step = all.find(({ evidence_id: name }) => name === id);
    return step === undefined ? `There is no ${id} among what was found.` : evidenceBlock(step);
  });
  return blocks.join('\n\n');
}

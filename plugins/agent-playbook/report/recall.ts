import type { EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import type { InvestigationStep } from '../../../src/contract/storage/index.ts';
import { readRows, type Noted, type Windows } from '../notebook.ts';
import type { Asks } from '../question/asks.ts';
import type { TimeRange } from '../question/time-range.ts';
import { endOf, isOver } from '../question/windows.ts';
import { readChange as readErrors, type ErrorChange } from '../steps/error-shift.ts';
import { readChange as readLatency, type LatencyChange } from '../steps/latency-shift.ts';
import type { Coverage } from '../steps/coverage.ts';
import type { Desk } from '../steps/tally.ts';
import { between, cited, code, fenced, milliseconds, moment, percent } from '../sql.ts';
import { rate } from '../statistics.ts';
import { describe, readExemplar } from '../steps/exemplars.ts';
import { bullets, causeLine, claimLine, evidenceBlock, furtherClaims } from './answer.ts';
import { stretch } from './findings.ts';

const examples = bullets([
  '`when did it start?`, `which version?`, `who is affected?`, `is it the database?`, `what changed?`',
  '`is it fixed?`, `what should I do?`, `summary`, `slowest service?`, `which query is slow?`, `most errors?`, `how many orders in the last hour?`',
  '`only checkout` narrows to a service or to what has an attribute; `what about yesterday`, `since 14:00` or `now` moves the time',
  '`compare with yesterday` or `compare with 13:00 to 13:30` says what is usual',
  '`show me the traces`, `the logs` or `the SQL`, and `E3` for one piece of evidence; `why?` for what a conclusion rests on',
  'what fails or is slow, in your words: it is investigated',
]);

/** What is said without a look at anything; undefined where a look is due. */
export function smallTalk({ kind }: Asks, [last]: readonly EarlierInvestigation[]): Reply | undefined {
  switch (kind) {
    case 'greeting':
      return {
        answer: `Hello. Ask what is wrong with your services, for example \`why do checkouts fail?\`, or:\n\n${examples}`,
      };
    case 'thanks':
      return { answer: 'You are welcome. `is it fixed?` counts again whenever you like.' };
    case 'people':
      return { answer: whoever(last), unanswered: true };
    case 'help':
      return { answer: `You can ask, for example:\n\n${examples}`, unanswered: true };
    case 'unknown':
      return {
        answer: `I cannot answer that from the telemetry. You can ask, for example:\n\n${examples}`,
        unanswered: true,
      };
    default:
      return undefined;
  }
}

export interface Reply {
  readonly answer: string;
  /** It offers help alone. */
  readonly unanswered?: true;
}

function whoever(last: EarlierInvestigation | undefined): string {
  const cannot = 'I cannot know that: who is on call, owns or released something is not in the telemetry.';
  return last === undefined || last.conclusion.service === ''
    ? `${cannot} I can say which service is in trouble: ask \`what is wrong?\``
    : `${cannot} What I can say is that it is about ${code(last.conclusion.service, 60)}, so its owners are the ones to ask.`;
}

const mostTraces = 8;
const mostLines = 12;
const mostQueries = 10;

/** What was found before, shown again without a query; undefined where there is none of it. */
export function recall(asks: Asks, earlier: readonly EarlierInvestigation[], today: Date): string | undefined {
  const [last] = earlier;
  if (last === undefined) return undefined;
  switch (asks.kind) {
    case 'traces':
      return earlier.map((one) => traces(one, asks, today)).find((shown) => shown !== undefined);
    case 'logs':
      return earlier.map((one) => logs(one, asks.of, today)).find((shown) => shown !== undefined);
    case 'evidence':
      return evidence(asks.ids, earlier);
    default:
      return recount(asks, last, today);
  }
}

/** The same of one investigation. */
export function recount({ kind }: Asks, found: Found, today: Date): string | undefined {
  switch (kind) {
    case 'queries':
      return queries(found, today);
    case 'reasons':
      return reasons(found, today);
    case 'certainty':
      return certainty(found, today);
    case 'unchecked':
      return unchecked(found);
    default:
      return undefined;
  }
}

function unchecked({ conclusion: { not_checked: left = [] } }: Found): string {
  return left.length === 0
    ? 'No question of mine was left open. What is not sent as telemetry I cannot see: configuration, and the inside of what sends nothing.'
    : `Not checked:\n${bullets(left)}`;
}

function about({ conclusion: { window, service } }: Found, today: Date): string {
  const where = service === '' ? '' : ` about ${code(service, 60)}`;
  const range = window && { start: new Date(window.start), end: new Date(window.end) };
  return `From what was found${where}${range ? `, ${stretch(range, today)}` : ''}:`;
}

type Traces = Extract<Asks, { readonly kind: 'traces' }>;

/** The slowest are looked for: an investigation shows those of its cause. */
function traces(one: EarlierInvestigation, asked: Traces, today: Date): string | undefined {
  if (asked.by === 'slowness') return undefined;
  const lines = one.steps
    .filter(({ columns }) => columns.includes('trace_id') && columns.includes('duration_nano'))
    .flatMap(({ columns, rows, evidence_id: id }) =>
      readRows(columns, rows)
        .map(readExemplar)
        .filter(({ failed }) => failed || asked.by === undefined)
        .map((trace) => `${describe(trace)} [${id}]`),
    );
  if (lines.length === 0) return undefined;
  const next = 'Ask query_otel for all spans of a trace by its trace_id.';
  return [about(one, today), bullets([...new Set(lines)].slice(0, asked.one ? 1 : mostTraces)), next].join('\n\n');
}

/** Lines that the log steps found: of the service that is asked about, else those of the cause first. */
function logs(one: EarlierInvestigation, of: string | undefined, today: Date): string | undefined {
  const all = one.steps.filter(({ sql }) => /\botel\.logs\b/i.test(sql)).flatMap(logLines);
  const own = all.filter((line) => line.service.toLowerCase() === of);
  if (of !== undefined && own.length === 0 && one.conclusion.service.toLowerCase() !== of) return undefined;
  const found = own.length > 0 ? own : all;
  if (found.length === 0) return undefined;
  const { service } = one.conclusion;
  const ordered = [
    ...found.filter((line) => line.service === service),
    ...found.filter((line) => line.service !== service),
  ];
  // Two steps may have found one line, and counted it over other stretches: the later one counts what the answer is about.
  const lines = new Map(ordered.map(({ line, counted }) => [line, `${line}${counted}`]));
  return [about(one, today), bullets([...lines.values()].slice(0, mostLines))].join('\n\n');
}

interface LogLine {
  readonly service: string;
  readonly line: string;
  /** How often, and by which evidence. */
  readonly counted: string;
}

function logLines(step: InvestigationStep): readonly LogLine[] {
  const shown = ['example', 'line', 'body'].find((name) => step.columns.includes(name));
  if (shown === undefined) return [];
  return readRows(step.columns, step.rows).map((row) => {
    const service = row.text('service_name');
    const times = step.columns.includes('records')
      ? `, ${row.number('records') === 1 ? 'once' : `${row.number('records')} times`}`
      : '';
    const line = `${code(service, 60)}: ${code(row.text(shown), 240)}`;
    return { service, line, counted: `${times} [${step.evidence_id}]` };
  });
}

function queries(one: Found, today: Date): string {
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
function reasons(one: Found, today: Date): string {
  const { conclusion, steps } = one;
  const { root_cause: cause, confidence, claims, not_checked: left = [] } = conclusion;
  const said = new Map(steps.map((step) => [step.evidence_id, step]));
  const because = claims.map((claim) => {
    const observed = claim.evidence_ids.flatMap((id) => {
      const step = said.get(id);
      if (step === undefined) return [];
      const repeats = step.observation.includes(claim.text.replace(/\.$/, ''));
      return [`  - ${id}, ${step.question}${repeats ? '' : ` ${step.observation}`}`];
    });
    return [claimLine(claim), ...observed].join('\n');
  });
  const own = ownSteps(steps);
  const found = new Set(own.filter(({ verdict }) => verdict === 'supports').map(({ question }) => question));
  const against = own.filter(({ verdict, question }) => verdict === 'refutes' && !found.has(question)).map(notFound);
  return [
    about(one, today),
    cause === '' ? 'No cause was found.' : `${cause} (confidence: ${confidence})`,
    because.join('\n'),
    against.length === 0 ? '' : `Looked for, and not found:\n${bullets(against)}`,
    left.length === 0 ? '' : `Not checked: ${left.join('; ')}.`,
    'Each of these is a query: `show me the SQL`.',
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** How sure, with what speaks for and against it, in a few lines; `why?` tells the rest. */
function certainty(one: Found, today: Date): string {
  const { conclusion } = one;
  const { root_cause: cause, confidence, service, suspicions = [], not_checked: left = [] } = conclusion;
  if (confidence === 'none' || cause === '') return reasons(one, today);
  const against = suspicions.find(({ service: name }) => name === service)?.why_not;
  return [
    `I am of ${confidence} confidence: ${causeLine(conclusion)}`,
    furtherClaims(conclusion).slice(0, 3).map(claimLine).join('\n'),
    against === undefined ? '' : `Against it: ${against}`,
    left.length === 0 ? '' : `Not checked: ${left.join('; ')}.`,
    '`why?` shows all that this rests on, and what was looked for and not found.',
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** Without those of answers since, over other stretches: these stand first, though their evidence counts on. */
function ownSteps(steps: readonly Noted[]): readonly Noted[] {
  const numbers = steps.map(({ evidence_id: id }) => Number(id.slice(1)));
  return steps.slice(numbers.indexOf(Math.min(...numbers)));
}

/** An observation such as `None do.` says nothing without its question. */
function notFound({ evidence_id: id, question, observation }: Noted): string {
  return `${question} ${/^None\b/.test(observation) ? 'None' : observation.replace(/\.$/, '')}. [${id}]`;
}

function evidence(ids: readonly string[], earlier: readonly EarlierInvestigation[]): string {
  const all = earlier.flatMap(({ steps }) => steps);
  const blocks = [...new Set(ids)].slice(0, mostQueries).map((id) => {
    const step = all.find(({ evidence_id: name }) => name === id);
    return step === undefined ? `There is no ${id} among what was found.` : evidenceBlock(step);
  });
  return blocks.join('\n\n');
}

/** What an investigation found: an earlier one's, or that of this very question. */
export interface Found extends Pick<EarlierInvestigation, 'conclusion'> {
  readonly steps: readonly Noted[];
}

/** The operations that an investigation found to be worse than before. */
export interface Worse {
  readonly failing: readonly ErrorChange[];
  readonly slow: readonly LatencyChange[];
  /** What was compared with before. */
  readonly compared: TimeRange | undefined;
  /** The same, from the onset on where that is earlier: a release that came with it is new. */
  readonly range: TimeRange | undefined;
  readonly evidenceIds: readonly string[];
}

export function worseOf({ steps, conclusion: { onset } }: Found): Worse {
  const errors = steps.findLast(({ columns }) => columns.includes('excess_errors'));
  const latency = steps.findLast(({ columns }) => columns.includes('slow_spans'));
  const failing = errors ? readRows(errors.columns, errors.rows).map(readErrors) : [];
  const slow = latency ? readRows(latency.columns, latency.rows).map(readLatency) : [];
  const worse = { failing: failing.filter((one) => one.worse), slow: slow.filter((one) => one.worse) };
  const window = (errors ?? latency)?.window;
  const compared = window && { start: new Date(window.start), end: new Date(window.end) };
  const began = compared && new Date(onset ?? window.start);
  return {
    ...worse,
    compared,
    range: began && began < compared.start ? { ...compared, start: began } : compared,
    evidenceIds: [
      ...(errors && worse.failing.length > 0 ? [errors.evidence_id] : []),
      ...(latency && worse.slow.length > 0 ? [latency.evidence_id] : []),
    ],
  };
}

/** The newest step that answers such a question. */
export function stepOn({ steps }: Found, question: RegExp): Noted | undefined {
  return steps.findLast((step) => question.test(step.question));
}

/** The claim that says when it began. */
export function beginningOf({ conclusion: { onset, claims } }: Found): string | undefined {
  if (onset === undefined) return undefined;
  const said = claims.find(({ text }) => /\bbegan\b/i.test(text));
  const at = new Date(onset);
  return said === undefined
    ? `It began at about ${moment(at)}`
    : `${said.text.replace(/\.$/, '')}${cited(...said.evidence_ids)}`;
}

/** What was found, in one sentence. */
export function gist({ conclusion: { service, root_cause: cause } }: Found): string {
  if (cause !== '') return cause;
  return service === '' ? 'No cause was found.' : `${code(service, 60)} is what was found.`;
}

/** What a direct answer is given from: what was found, and where to look for the rest. */
export interface Look {
  readonly desk: Desk;
  readonly found: Found | undefined;
  readonly windows: Windows;
  readonly sent: Coverage;
  /** Services that send telemetry. */
  readonly known: readonly string[];
  /** The newest telemetry that there is. */
  readonly last: Date;
  readonly today: Date;
  readonly text: string;
}

export function sinceThen({ sent, last, today, windows }: Look): string {
  const isOld = isOver(last, today) && windows.now.end.getTime() >= last.getTime();
  return isOld ? ` ${endOf(sent.table, last)}` : '';
}

/** What did not happen, so that no operation shows it. */
const isMissing = /^(?:Far fewer requests come in|`[^`]+` has sent nothing since)/;

/** Nothing began, and mere warnings are no trouble: to say so of what did is wrong, though nobody is to blame for it. */
export function isQuiet({ conclusion: { claims, onset } }: Found): boolean {
  return onset === undefined && !claims.some(({ text }) => isMissing.test(text));
}

/** That nothing could be told, as there was no telemetry to read or it could not be read; undefined where there was. */
export function unknown({ conclusion: { service, category, claims }, steps }: Found): string | undefined {
  if (service !== '') return undefined;
  const [why] = claims;
  if (category === 'no_telemetry' && why !== undefined)
    return `${why.text} So nothing is known; \`look again\` tries anew.`;
  const isUnread = steps.some(({ error }) => error !== undefined) && claims.every(({ text }) => isNone.test(text));
  return isUnread && claims.length < 2
    ? 'Not all of the telemetry could be read, so whether anything is wrong is not known; `look again` tries anew.'
    : undefined;
}

const isNone = /^No operation (?:fails|is slower)/;

/** Why there is nothing to say about the trouble; undefined where there is some. */
export function nothing(found: Found): string | undefined {
  const { root_cause: cause, service, window, claims } = found.conclusion;
  if (service !== '') return undefined;
  const when = window ? ` ${between({ start: new Date(window.start), end: new Date(window.end) })}` : '';
  if (cause !== '') return `No cause was found${when}. ${cause}`;
  const left = unknown(found);
  if (left !== undefined) return left;
  const isWell = claims.filter(({ text }) => isNone.test(text)).length === 2;
  if (!isWell) return `Nothing was found that is the cause of anything${when}.`;
  const missing = claims.filter(({ text }) => isMissing.test(text)).map(({ text }) => text);
  if (missing.length > 0) return `No operation fails more or is slower than before${when}, but: ${missing.join(' ')}`;
  const few = claims.find(({ text }) => text.startsWith('Nothing that hits fewer'));
  return few === undefined
    ? `Nothing was found to be wrong${when}: no operation fails more or is slower than before.`
    : `Nothing stands out${when}: no operation fails more or is slower than before. ${few.text}`;
}

/** What the guilty service waits for or fails at, outside of it. */
export function outside({ conclusion: { root_cause: cause } }: Found): string | undefined {
  return /(?:in its calls to|waiting for) (`[^`]+`)/.exec(cause)?.[1];
}

/** Of spans `s`: those of the operations that are worse by what was found, and what makes one of them bad. */
export function badSpans(
  { write }: Desk,
  { failing, slow }: Worse,
): { readonly which: string; readonly bad: string } | undefined {
  const one = (operation: Pick<ErrorChange, 'service' | 'operation'>): string =>
    `s.service_name = ${write.literal(operation.service)} AND s.name = ${write.literal(operation.operation)}`;
  const [failed, slowed] = [failing.slice(0, 3), slow.slice(0, 5)];
  if (failed.length + slowed.length === 0) return undefined;
  const bad = [
    ...(failed.length === 0 ? [] : ["s.status_code = 'ERROR'"]),
    ...slowed.map((each) => `(${one(each)} AND s.duration_nano > ${Math.round(each.p95Before)})`),
  ];
  const which = new Set([...failed, ...slowed].map((each) => `(${one(each)})`));
  return { which: `(${[...which].join(' OR ')})`, bad: `(${bad.join(' OR ')})` };
}

/** What `badSpans` counts. */
export function howBad({ failing, slow }: Worse): string {
  const slower = 'took longer than 95 % did before';
  return slow.length === 0 ? 'failed' : failing.length === 0 ? slower : `failed or ${slower}`;
}

/** The operations at which it is felt. */
export function feltBy({ failing, slow }: Pick<Worse, 'failing' | 'slow'>): readonly string[] {
  const where = (one: Pick<ErrorChange, 'service' | 'operation'>): string =>
    `${code(one.service, 60)} ${code(one.operation, 80)}`;
  return [
    ...failing.map(
      (one) => `${where(one)}: ${one.now.hits} of ${one.now.total} failed (${percent(rate(one.before))} before)`,
    ),
    ...slow.map(
      (one) =>
        `${where(one)}: ${milliseconds(one.median)} at the median (${milliseconds(one.medianBefore)} before), ${percent(one.slowShare)} slower than 95 % were`,
    ),
  ];
}

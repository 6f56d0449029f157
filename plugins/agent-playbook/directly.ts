import type { AgentHost, Assignment } from '../../src/contract/agent/index.ts';
import type { TableName } from '../../src/contract/telemetry/index.ts';
import type { Notebook } from './notebook.ts';
import { goesOn, narrowed, subjectOf, type Question } from './question/asks.ts';
import { candidateNames, names as isNamed, partOf, unknownOnly } from './question/question.ts';
import { readTimeRange, type TimeRange } from './question/time-range.ts';
import { type Asked, askedRange, compare, lookedAt, placeWindows } from './question/windows.ts';
import { bullets } from './report/answer.ts';
import { isKind } from './report/blame.ts';
import { nothingSent } from './report/conclude.ts';
import { health, placeIn, withValue } from './report/counts.ts';
import { worseOf, type Found, type Look } from './report/recall.ts';
import { reply } from './report/reply.ts';
import type { Step } from './scene.ts';
import { between, cited, moment } from './sql.ts';
import { coverage, type Coverage } from './steps/coverage.ts';

/** Answers by a query or two of its own, and by what was found; undefined where that cannot be. */
export async function* directly(
  host: AgentHost,
  notebook: Notebook,
  question: Question,
  assignment: Assignment,
  found: Found | undefined,
): Step<string | undefined> {
  const { asks, text, references } = question;
  const desk = { notebook, write: host.dialect.write };
  const compares = asks.kind === 'investigation' && references.length === 1;
  const only = asks.kind === 'investigation' && found !== undefined && narrowed(text) !== undefined;
  const of = found === undefined || asks.kind !== 'investigation' ? undefined : asks.of;
  if (asks.kind === 'investigation' && !compares && !only && of === undefined) return undefined;
  const { asked, sent } = yield* lookAround(host, notebook, question, assignment);
  const placed = placeWindows(asked, sent, { references: [] });
  const { last } = sent;
  if (placed === undefined || last === undefined) {
    if (asks.kind === 'investigation') return undefined;
    const { headline, nextSteps } = nothingSent(asked, sent, notebook);
    return `${headline}. ${nextSteps.join(' ')}`;
  }
  const known = sent.services.map(({ name }) => name);
  const isTimed = asks.kind === 'count' || readTimeRange(text, assignment.askedAt) !== undefined;
  const compared = found && !isTimed ? worseOf(found).range : undefined;
  const windows = compared && sent.first ? compare(compared, sent.first) : placed.windows;
  const look: Look = { desk, found, windows, sent, known, last, today: assignment.askedAt, text };
  const before = notebook.steps.length;
  const said = yield* tell(look, question);
  return said && (unread(notebook, said, before) ?? said);
}

async function* tell(look: Look, question: Question): Step<string | undefined> {
  const { asks, references } = question;
  if (asks.kind !== 'investigation') return yield* reply(asks, look);
  if (asks.of !== undefined && look.found !== undefined) {
    // Of one that sends spans the investigation tells, but not of a part of them.
    const isSeen = look.sent.services.every(({ name, rows }) => rows > 0 || name.toLowerCase() !== asks.of);
    return isSeen && placeIn(look) === undefined ? undefined : yield* health(look, asks.of);
  }
  if (references.length === 1) return yield* nothingThere(look, references, look.sent);
  const value = unknownOnly(question, look.known);
  return value && (yield* withValue(look, value));
}

const tooMuch: ReadonlySet<string | undefined> = new Set(['query_timeout', 'query_memory', 'query_too_costly']);

/** A count that could not be made is no count of nothing; undefined where the answer rests on none. */
function unread({ steps }: Notebook, said: string, before: number): string | undefined {
  const ids = new Set(said.match(/\[E\d[^\]]*\]/g)?.flatMap((group) => group.match(/E\d+/g) ?? []));
  const failed = steps.filter(({ error, evidence_id: id }, index) => {
    return error !== undefined && (ids.size > 0 ? ids.has(id) : index >= before);
  });
  if (failed.length === 0) return undefined;
  const list = failed.map(({ question, observation, evidence_id: id }) => `${question} ${observation}${cited(id)}`);
  const hint = failed.some(({ error }) => tooMuch.has(error))
    ? '\n\nA shorter time may do: ask the same `in the last 10 minutes`.'
    : '';
  return `I cannot tell.\n\n${bullets(list)}${hint}`;
}

/** That there is nothing to compare with is all there is to say. */
async function* nothingThere(
  { desk }: Look,
  [range]: readonly TimeRange[],
  { table, first }: Coverage,
): Step<string | undefined> {
  if (range === undefined) return undefined;
  const { services, failed, evidenceId } = yield* coverage({ ...desk, table, range, recent: range, candidates: [] });
  if (services.length > 0 || failed) return undefined;
  const from = first ? ` The ${table} begin at ${moment(first)}.` : '';
  return `There is no telemetry ${between(range)}, so nothing can be compared with it: no ${table}.${cited(evidenceId)}${from} \`compare with 13:00 to 13:30\` takes a time that there is telemetry of.`;
}

/** Sampled spans begin near what is wrong; logs and gauges tell how long there has been telemetry. */
function reachingBack(sent: Coverage, others: readonly Coverage[]): Coverage {
  const times = (which: 'first' | 'last'): readonly number[] =>
    [sent, ...others].map((one) => one[which]?.getTime()).filter((time) => time !== undefined);
  const [first, last] = [Math.min(...times('first')), Math.max(...times('last'))];
  return Number.isFinite(first) ? { ...sent, first: new Date(first), last: new Date(last) } : sent;
}

/** With the services that send anything else, of which there is no span to count. */
function withOthers(spans: Coverage, others: readonly Coverage[]): Coverage {
  const known = new Set(spans.services.map(({ name }) => name));
  const more = new Set(others.flatMap(({ services }) => services.map(({ name }) => name)));
  const silent = [...more].filter((name) => !known.has(name)).map((name) => ({ name, rows: 0, recent: 0 }));
  return { ...spans, services: [...spans.services, ...silent] };
}

/** Whether the question is about what may be a service, but sends no spans. */
function isElsewhere(question: Question, known: readonly string[]): boolean {
  const what = subjectOf(question);
  return (
    what !== undefined &&
    /^[\w./-]+$/.test(what) &&
    !isKind(what) &&
    partOf(what, known) === undefined &&
    !known.some((name) => isNamed(what, name) || name.toLowerCase() === what)
  );
}

/** The stretch that is asked about, and the services that send. One without telemetry that an earlier message named is meant no more. */
export async function* lookAround(
  host: AgentHost,
  notebook: Notebook,
  question: Question,
  assignment: Assignment,
): Step<{ readonly asked: Asked; readonly sent: Coverage }> {
  const asked = askedRange(question, assignment);
  const sent = yield* whatIsThere(host, notebook, question, assignment, asked);
  const isSaid = readTimeRange(question.text, assignment.askedAt) !== undefined || goesOn(question.text);
  if (isSaid || asked.source !== 'named' || sent.failed || sent.services.some(({ recent }) => recent > 0)) {
    return { asked, sent };
  }
  const unnamed = askedRange({}, assignment);
  return { asked: unnamed, sent: yield* whatIsThere(host, notebook, question, assignment, unnamed) };
}

/** Spans first; logs and metrics where there are hardly any at that time; a month back where the last day is empty. */
async function* whatIsThere(
  { dialect: { write } }: AgentHost,
  notebook: Notebook,
  question: Question,
  assignment: Assignment,
  asked: Asked,
): Step<Coverage> {
  const candidates = candidateNames(question, assignment.incident);
  const look = (table: TableName, days: number) =>
    coverage({
      notebook,
      write,
      table,
      range: lookedAt(asked, assignment.askedAt, days),
      recent: asked.range,
      candidates,
    });
  // A time that was not named is moved to where the spans are.
  const fits = ({ services }: Coverage): boolean =>
    asked.source === 'default' ? services.length > 0 : services.some(({ recent }) => recent > 0);
  const spans = yield* look('spans', 1);
  if ((fits(spans) && spans.traced) || spans.failed) {
    const names = spans.services.map(({ name }) => name);
    if (unknownOnly(question, names) === undefined && !isElsewhere(question, names)) return spans;
    return withOthers(spans, [yield* look('logs', 1), yield* look('metrics', 1)]);
  }
  const others = [yield* look('logs', 1), yield* look('metrics', 1)].filter(fits);
  if (fits(spans)) return reachingBack(spans, others);
  const [other, ...more] = others;
  if (other !== undefined) return reachingBack(other, more);
  return asked.source === 'default' ? yield* look('spans', 30) : spans;
}

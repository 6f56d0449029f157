import type { AgentHost, Assignment } from '../../src/contract/agent/index.ts';
import type { Notebook } from './notebook.ts';
import { narrowed, type Question } from './question/asks.ts';
import { unknownOnly } from './question/question.ts';
import { readTimeRange, type TimeRange } from './question/time-range.ts';
import { askedRange, compare, placeWindows } from './question/windows.ts';
import { nothingSent } from './report/conclude.ts';
import { withValue } from './report/counts.ts';
import { worseOf, type Found, type Look } from './report/recall.ts';
import { reply } from './report/reply.ts';
import type { Step } from './scene.ts';
import { between, cited, moment } from './sql.ts';
import { coverage, type Coverage } from './steps/coverage.ts';
import { whatIsThere } from './what-is-there.ts';

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
  if (asks.kind === 'investigation' && !compares && !only) return undefined;
  const asked = askedRange(question, assignment);
  const sent = yield* whatIsThere(host, notebook, question, assignment, asked);
  const placed = placeWindows(asked, sent, { references: [] });
  const { last } = sent;
  if (placed === undefined || last === undefined) {
    return asks.kind === 'investigation' ? undefined : `${nothingSent(asked, sent, notebook).headline}.`;
  }
  const known = sent.services.map(({ name }) => name);
  const isTimed = asks.kind === 'count' || readTimeRange(text, assignment.askedAt) !== undefined;
  const compared = found && !isTimed ? worseOf(found).range : undefined;
  const windows = compared && sent.first ? compare(compared, sent.first) : placed.windows;
  const look: Look = { desk, found, windows, known, last, today: assignment.askedAt, text };
  if (compares) return yield* nothingThere(look, references, sent);
  if (only) {
    const value = unknownOnly(question, known);
    return value && (yield* withValue(look, value));
  }
  return yield* reply(asks, look);
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

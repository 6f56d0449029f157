import type { AgentHost, Assignment } from '../../src/contract/agent/index.ts';
import type { TableName } from '../../src/contract/telemetry/index.ts';
import type { Notebook } from './notebook.ts';
import { lookedAt, type Asked } from './question/windows.ts';
import type { Question } from './question/asks.ts';
import { candidateNames } from './question/question.ts';
import type { Step } from './scene.ts';
import { coverage, type Coverage } from './steps/coverage.ts';

/** Sampled spans begin near what is wrong; logs and gauges tell how long there has been telemetry. */
function reachingBack(sent: Coverage, others: readonly Coverage[]): Coverage {
  const times = (which: 'first' | 'last'): readonly number[] =>
    [sent, ...others].map((one) => one[which]?.getTime()).filter((time) => time !== undefined);
  const [first, last] = [Math.min(...times('first')), Math.max(...times('last'))];
  return Number.isFinite(first) ? { ...sent, first: new Date(first), last: new Date(last) } : sent;
}

/** Spans first; logs and metrics where there are hardly any at that time; a month back where the last day is empty. */
export async function* whatIsThere(
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
  if ((fits(spans) && spans.traced) || spans.failed) return spans;
  const others = [yield* look('logs', 1), yield* look('metrics', 1)].filter(fits);
  if (fits(spans)) return reachingBack(spans, others);
  const [other, ...more] = others;
  if (other !== undefined) return reachingBack(other, more);
  return asked.source === 'default' ? yield* look('spans', 30) : spans;
}

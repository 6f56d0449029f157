import { within, type Question } from './questions.ts';
import { mustBeSame } from './same.ts';
import type { Window } from './spans.ts';
import type { Stage } from './stage.ts';

/** What a query may take through the tool: times the engine's own time, and milliseconds more. */
export const bar = { times: 1.1, plusMs: 2 };

/** Medians, in milliseconds. */
export interface Measured {
  readonly question: Question;
  readonly rows: number;
  readonly own: number;
  /** A statement that was asked before. */
  readonly tool: number;
  /** One that is asked for the first time, so that it is read and checked as well. */
  readonly unheard: number;
}

/** At least so many turns, and so long. */
const warmUp = { turns: 3, ms: 3_000 };
/** Both processes' compilers have to see a path a thousand times and more, which slow questions do not come to. */
const heatingCalls = 2_000;
/** What is answered in a moment is asked for so long, and more often than was said. */
const leastMs = 3_000;

/** Before the first question, both ways the same. */
export async function heat({ own, tool }: Stage, window: Window): Promise<void> {
  for (let call = 0; call < heatingCalls; call += 1) {
    await own.ask('SELECT 1 AS one');
    await tool.ask('SELECT 1 AS one', window);
  }
}

/** All ways in turns, A B C A B C …, once both gave the same answer. */
export async function measure(stage: Stage, question: Question, rounds: number): Promise<Measured> {
  const { own, tool, write } = stage;
  const { window } = question;
  const ownSql = question.sql(own.spans, [...own.conditions, ...within(write, window)]);
  const toolSql = question.sql('otel.spans', []);
  const rows = await own.ask(ownSql);
  mustBeSame(rows, await tool.ask(toolSql, window), question.name);
  const ways = [
    () => own.ask(ownSql),
    () => tool.ask(toolSql, window),
    (turn: number) => tool.ask(`${toolSql} -- ${turn}`, window),
  ];
  const times = ways.map((): number[] => []);
  let turns = 0;
  const run = async (
    least: { readonly turns: number; readonly ms: number },
    note: (at: number, ms: number) => void,
  ) => {
    const begun = performance.now();
    for (let turn = 0; turn < least.turns || performance.now() - begun < least.ms; turn += 1) {
      turns += 1;
      for (const [at, way] of ways.entries()) {
        const started = performance.now();
        const answer = await way(turns);
        const elapsed = performance.now() - started;
        if (answer.length !== rows.length) throw new Error(`${question.name}: ${answer.length} rows of ${rows.length}`);
        note(at, elapsed);
      }
    }
  };
  await run(warmUp, () => {});
  await run({ turns: rounds, ms: leastMs }, (at, ms) => times[at]?.push(ms));
  const [ownMs = Number.NaN, toolMs = Number.NaN, unheard = Number.NaN] = times.map(median);
  return { question, rows: rows.length, own: ownMs, tool: toolMs, unheard };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** As it is shown. */
export function rowOf({ question, rows, own, tool, unheard }: Measured): Readonly<Record<string, string | number>> {
  const most = own * bar.times + bar.plusMs;
  const shown = (ms: number) => Number(ms.toFixed(ms < 100 ? 2 : 0));
  return {
    query: question.name,
    rows,
    'own ms': shown(own),
    'tool ms': shown(tool),
    'tool, first time ms': shown(unheard),
    ratio: Number((tool / own).toFixed(2)),
    'may take ms': shown(most),
    holds: tool <= most && unheard <= most ? 'yes' : tool <= most ? 'not the first time' : 'NO',
  };
}

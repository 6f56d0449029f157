import { statement } from '../course.ts';
import type { Said, Told } from './models/format.ts';
import type { Saw } from './kinds/kind.ts';

/** What every client is asked to do. */
export const question = 'Why do payments fail? Look at the spans, then ask the agent.';
const steps = ['query_otel', 'start_chat', 'read_chat'] as const;
type Step = (typeof steps)[number];

const chatId = /chat_[a-z0-9]{20,}/;

/** The model's part: query, start a chat, wait for its answer; and an end where a client offers nothing to call. */
export function nextOf({ tools, calls, results }: Told): Said {
  const done = calls.filter((called) => !isSearch(called));
  const step = steps[done.length];
  if (step === undefined) return { text: 'Payment is failing.' };
  const input = inputOf(step, results);
  const tool = tools.find(({ name }) => isTool(name, step));
  if (tool !== undefined) return { call: { tool, input } };
  // Qwen Code calls what a search found by a tool of its own.
  const through = tools.find(({ name }) => name === 'tool_call');
  const found = new RegExp(`\\w+_${step}\\b`).exec(results.join('\n'))?.[0];
  if (through !== undefined && found !== undefined) {
    return { call: { tool: through, input: { name: found, arguments: input } } };
  }
  const search = tools.find(({ name }) => isSearch(name));
  const tried = calls.length - done.length;
  if (search === undefined || tried > done.length) return { text: 'There is nothing to call.' };
  return { call: { tool: search, input: { query: step } } };
}

function isSearch(name: string): boolean {
  return /^tool_?search$/i.test(name);
}

function inputOf(step: Step, results: readonly string[]): Readonly<Record<string, unknown>> {
  if (step === 'query_otel') return { sql: statement };
  if (step === 'start_chat') return { message: 'Which service makes checkout fail?' };
  return { chat_id: chatId.exec(results.join('\n'))?.[0] ?? '', wait_seconds: 20 };
}

/** Clients put the server's name before a tool's. */
function isTool(name: string, tool: string): boolean {
  return name === tool || name.endsWith(`_${tool}`) || name.endsWith(`-${tool}`) || name.endsWith(`.${tool}`);
}

/** What the gateway itself lists and answers, to compare with. */
export interface Reference {
  /** Description of the argument `sql`. */
  readonly manual: string;
  /** Span ids in the order of the statement's rows, more than are ever returned at once. */
  readonly spans: readonly string[];
}

/** What of it a model saw. */
export interface Seen {
  readonly manual: boolean;
  /** Of how many rows that the head of the result names. */
  readonly rows: { readonly whole: number; readonly of: number };
  readonly truncated: boolean;
  readonly resultId: boolean;
  readonly warnings: boolean;
  /** The course was done to its end. */
  readonly finished: boolean;
  readonly answer: boolean;
}

export function seenOf({ texts, results }: Saw, { manual, spans }: Reference): Seen {
  const result = results.toSorted((a, b) => b.length - a.length)[0] ?? '';
  const of = Number(/"row_count":\s*(\d+)/.exec(result)?.[1] ?? /(\d+) rows, window/.exec(result)?.[1] ?? 0);
  return {
    manual: texts.some((text) => bare(text).includes(bare(manual))),
    rows: { whole: spans.slice(0, of).filter((span) => result.includes(span)).length, of },
    truncated: /"truncated":\s*true|Cut \(bytes\)/.test(result),
    resultId: /res_[a-z0-9]{20,}/.test(result),
    warnings: /Rows before [^ ]+ were not read/.test(result),
    finished: results.some((text) => chatId.test(text) && /completed/.test(text)),
    answer: results.some((text) => /completed/.test(text) && /payment.{0,80}(high|medium) confidence/is.test(text)),
  };
}

/** Letters and digits alone, so that a text is the same in JSON, and in JSON in JSON. */
function bare(text: string): string {
  return text.replaceAll(/\\+(u[0-9a-f]{4}|[nrt])|[^a-z0-9]/gi, '');
}

/** Whether the model saw all that there is to see. */
export function isWhole(seen: Seen): boolean {
  const { rows, ...flags } = seen;
  return rows.of > 0 && rows.whole === rows.of && Object.values(flags).every((each) => each);
}

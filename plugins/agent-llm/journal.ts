import { code, SightlineError } from '../../src/contract/core/index.ts';
import type { AgentEvent, AgentHost, Assignment, NewStep, Agent } from '../../src/contract/agent/index.ts';
import type { InvestigationStep, ChatMessage } from '../../src/contract/storage/index.ts';
import { plain } from './plain.ts';

/** One question put to the telemetry. */
export interface Inquiry {
  readonly question: string;
  /** With absolute times, so that it means the same whenever it is run. */
  readonly sql: string;
  readonly window: { readonly start: Date; readonly end: Date };
  /** The expectation, stated before the answer is seen. */
  readonly expected?: 'rows' | 'no_rows' | undefined;
}

/** What an agent does on its way: yields events, returns what it found. */
export type Doing<Found> = AsyncGenerator<AgentEvent, Found>;

/** All steps of the investigation, recorded ones included: the evidence that claims may cite. */
export interface Journal {
  readonly steps: readonly InvestigationStep[];
  /** No further step may be taken. */
  readonly full: boolean;
  /** Asks the telemetry; what was asked before, word for word, is answered from the record and not recorded again. */
  ask(inquiry: Inquiry, signal: AbortSignal): Doing<InvestigationStep>;
  /** Writes down a step that was taken elsewhere; who records it yields it. */
  record(step: NewStep): InvestigationStep;
}

/** The core ends an investigation of more than 60 as a failure. */
const mostSteps = 56;
const limits = { maxRows: 50, maxBytes: 64_000, maxCellBytes: 1_000, timeoutMs: 20_000 };

export function createJournal(
  host: AgentHost,
  { organizationId, steps: recorded, earlier = [], evidenceAfter = 0 }: Assignment,
): Journal {
  const steps = [...recorded];
  const before = earlier.flatMap((one) => one.steps);

  function note(step: NewStep): InvestigationStep {
    // What was found earlier keeps its ids, since an answer may cite it.
    const ids = new Set([...before, ...steps].map(({ evidence_id: id }) => id));
    let number = evidenceAfter + steps.length + 1;
    while (ids.has(`E${number}`)) number += 1;
    const taken = {
      evidence_id: `E${number}`,
      ...step,
      seq: (steps.at(-1)?.seq ?? 0) + 1,
      recorded_at: host.now().toISOString(),
    };
    steps.push(taken);
    return taken;
  }

  async function answer(inquiry: Inquiry, signal: AbortSignal): Promise<NewStep> {
    const begun = performance.now();
    const about = {
      question: inquiry.question,
      sql: inquiry.sql,
      dialect: host.dialect.name,
      window: { start: inquiry.window.start.toISOString(), end: inquiry.window.end.toISOString() },
    };
    try {
      const result = await host.query(organizationId, inquiry.sql, { signal, limits });
      const columns = result.columns.map(({ name }) => name);
      const rows = result.rows.slice(0, limits.maxRows);
      return {
        ...about,
        columns,
        rows,
        row_count: rows.length,
        observation: observe(columns, rows, result.truncated),
        verdict: judge(inquiry.expected, rows.length),
        elapsed_ms: Math.round(result.elapsedMs),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SightlineError)) throw error;
      return {
        ...about,
        columns: [],
        rows: [],
        row_count: 0,
        observation: `This could not be checked: ${plain([error.message, error.hint ?? ''].join(' ').trim(), 1_000)}`,
        verdict: 'neutral',
        elapsed_ms: Math.round(performance.now() - begun),
        error: error.code,
      };
    }
  }

  return {
    steps,
    get full() {
      return steps.length >= mostSteps;
    },
    async *ask(inquiry, signal) {
      const before = steps.find(({ sql }) => sql === inquiry.sql);
      if (before) return before;
      yield { type: 'progress', message: inquiry.question };
      const step = note(await answer(inquiry, signal));
      yield { type: 'step', step };
      return step;
    },
    record: note,
  };
}

function judge(expected: Inquiry['expected'], rows: number): NewStep['verdict'] {
  if (expected === undefined) return 'neutral';
  return (expected === 'rows') === rows > 0 ? 'supports' : 'refutes';
}

const columnsShown = 6;

function observe(columns: readonly string[], rows: readonly (readonly unknown[])[], truncated: boolean): string {
  const [first] = rows;
  if (first === undefined) return 'No rows.';
  const cells = columns
    .slice(0, columnsShown)
    .map((column, index) => `${code(column, 40)} ${code(textOf(first[index]), 60)}`);
  const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}${truncated ? ', and there are more' : ''}`;
  return `${count}; ${rows.length === 1 ? 'it has' : 'the first has'} ${cells.join(', ')}.`;
}

function textOf(cell: unknown): string {
  return typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
}

export type BaselineEnd = Extract<AgentEvent, { type: 'conclusion' | 'question' | 'answer' }>;

/**
 * Runs the agent that needs no model. Its steps go into the journal under the same ids; those recorded before are not
 * taken again. Undefined when the journal is full before it ends.
 */
export async function* runBaseline(
  baseline: Agent,
  assignment: Assignment,
  journal: Journal,
  signal: AbortSignal,
): Doing<BaselineEnd | undefined> {
  const given = { ...assignment, steps: [...journal.steps] };
  for await (const event of baseline.investigate(given, signal)) {
    switch (event.type) {
      case 'progress':
        yield event;
        break;
      case 'step':
        if (journal.full) return undefined;
        yield { type: 'step', step: journal.record(event.step) };
        break;
      default:
        return event;
    }
  }
  return undefined;
}

/** A reply to what the model asked says nothing to the playbook, which goes by the question that began the run. */
export function withoutReplies(assignment: Assignment): Assignment {
  const { messages } = assignment;
  const asks = ({ role, parts }: ChatMessage): boolean =>
    role === 'agent' && parts.some(({ type }) => type === 'question');
  const begun = messages.findLastIndex((message) => message.role !== 'user' && !asks(message)) + 1;
  const asked = messages.findIndex((message, index) => index >= begun && asks(message));
  return asked < 0 ? assignment : { ...assignment, messages: messages.slice(0, asked) };
}

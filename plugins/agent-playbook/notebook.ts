import { setTimeout as sleep } from 'node:timers/promises';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { AgentEvent, AgentHost, AgentRows, Assignment, NewStep } from '../../src/contract/agent/index.ts';
import type { InvestigationStep } from '../../src/contract/storage/index.ts';
import type { TimeRange } from './question/time-range.ts';

/** The two stretches that are compared. */
export interface Windows {
  readonly now: TimeRange;
  /** Undefined when there is no telemetry from before. */
  readonly before: TimeRange | undefined;
  /** Stretches that a person named as usual; part of what is compared with. */
  readonly references: readonly TimeRange[];
}

/** Everything that the present stretch is compared with. */
export function usual({ before, references }: Windows): readonly TimeRange[] {
  return before === undefined ? references : [before, ...references];
}

/** How many rows of before the same rate would have made now: windows of different length are compared by their time. */
export function scaleOf(windows: Windows): number {
  const length = usual(windows).reduce((sum, range) => sum + lengthOf(range), 0);
  return length === 0 ? 0 : lengthOf(windows.now) / length;
}

const hour = 3_600_000;

/** What measures are usual is looked for in the hour before, which ends where what is compared with does. */
export function hourBefore({ now, before }: Pick<Windows, 'now' | 'before'>): TimeRange {
  const end = before?.end ?? now.start;
  return { start: new Date(end.getTime() - hour), end };
}

export function lengthOf({ start, end }: TimeRange): number {
  return end.getTime() - start.getTime();
}

/** One question put to the telemetry. */
export interface Inquiry {
  readonly question: string;
  /** With absolute times, so that it means the same whenever it is run. */
  readonly sql: string;
  readonly window: TimeRange;
  /** What was observed: a text alone says nothing either way. */
  judge(rows: readonly Row[]): Judgement | string;
}

type Judgement = Pick<NewStep, 'observation' | 'verdict'>;

/** What was read from the answer to one inquiry. */
export interface Finding {
  /** Under which it is cited. */
  readonly evidenceId: string;
  /** The engine could not answer: nothing follows from it, neither way. */
  readonly failed: boolean;
}

/** The first few lines speak for what was asked; that there are none speaks against it. */
export function listed(lines: readonly string[], none: string, verdict: NewStep['verdict'] = 'refutes'): Judgement {
  return lines.length === 0
    ? { observation: none, verdict }
    : { observation: `${lines.join('; ')}.`, verdict: 'supports' };
}

export interface Row {
  text(column: string): string;
  /** 64-bit integers come as strings; NULL counts as 0. */
  number(column: string): number;
  /** Undefined for NULL. */
  time(column: string): Date | undefined;
}

export interface Notebook {
  ask(inquiry: Inquiry): AsyncGenerator<AgentEvent, Finding & { readonly rows: readonly Row[] }>;
  /** Questions that the engine could not answer. */
  readonly unanswered: readonly string[];
  /** All steps so far, recorded ones included. */
  readonly steps: readonly Noted[];
}

export type Noted = Pick<
  InvestigationStep,
  'evidence_id' | 'question' | 'sql' | 'observation' | 'verdict' | 'window' | 'columns' | 'rows' | 'error'
>;

type Recorded = NewStep & Pick<InvestigationStep, 'evidence_id'>;

const limits = { maxRows: 50, maxBytes: 256_000, maxCellBytes: 2_000, timeoutMs: 20_000 };
const cellLength = 500;
const retryAfterMs = [300, 1_000, 3_000];

/**
 * Asks the telemetry and writes down what it said. A question whose SQL is among the steps so far is not asked again: the
 * recorded rows answer it, so that an investigation resumed after a crash comes to the same end.
 */
export function createNotebook(host: AgentHost, assignment: Assignment, signal: AbortSignal): Notebook {
  const recorded = new Map<string, Recorded>(assignment.steps.map((step) => [step.sql, step]));
  const unanswered: string[] = [];
  const steps: Noted[] = [];
  // Ids may begin above E1, so a count of the steps could give one twice.
  let taken = Math.max(
    assignment.evidenceAfter ?? 0,
    ...assignment.steps.map(({ evidence_id: id }) => Number(id.slice(1)) || 0),
  );

  async function run(sql: string): Promise<AgentRows> {
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await host.query(assignment.organizationId, sql, { signal, limits });
      } catch (error) {
        const wait = retryAfterMs[attempt];
        // The engine is starting again, or another query has just taken it down.
        const passing = error instanceof SightlineError && error.code === 'telemetry_unavailable';
        if (!passing || wait === undefined) throw error;
        await sleep(wait, undefined, { signal });
      }
    }
  }

  return {
    unanswered,
    steps,
    async *ask(inquiry) {
      let step = recorded.get(inquiry.sql);
      if (step === undefined) {
        yield { type: 'progress', message: inquiry.question };
        taken += 1;
        step = { ...(await answer(inquiry)), evidence_id: `E${taken}` };
        yield { type: 'step', step };
        recorded.set(step.sql, step);
      }
      const failed = step.error !== undefined;
      if (!steps.includes(step)) {
        steps.push(step);
        if (failed) unanswered.push(inquiry.question);
      }
      return { evidenceId: step.evidence_id, failed, rows: readRows(step.columns, step.rows) };
    },
  };

  async function answer(inquiry: Inquiry): Promise<NewStep> {
    const begun = performance.now();
    const about = {
      question: inquiry.question,
      sql: inquiry.sql,
      dialect: host.dialect.name,
      window: { start: inquiry.window.start.toISOString(), end: inquiry.window.end.toISOString() },
    };
    try {
      const result = await run(inquiry.sql);
      const columns = result.columns.map(({ name }) => name);
      const rows = result.rows.slice(0, limits.maxRows).map((row) => row.map(shortCell));
      const judged = inquiry.judge(readRows(columns, rows));
      return {
        ...about,
        ...(typeof judged === 'string' ? { observation: judged, verdict: 'neutral' } : judged),
        columns,
        rows,
        row_count: rows.length,
        elapsed_ms: Math.round(result.elapsedMs),
      };
    } catch (error) {
      if (!(error instanceof SightlineError) || ends.has(error.code) || signal.aborted) throw error;
      return {
        ...about,
        columns: [],
        rows: [],
        row_count: 0,
        observation: `This could not be checked: ${error.message}`,
        verdict: 'neutral',
        elapsed_ms: Math.round(performance.now() - begun),
        error: error.code,
      };
    }
  }
}

/** After these there is no use in asking on. */
const ends: ReadonlySet<string> = new Set(['telemetry_unavailable', 'query_cancelled', 'not_found', 'internal']);

function shortCell(cell: unknown): unknown {
  if (cell === null || (typeof cell !== 'string' && typeof cell !== 'object')) return cell;
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  return text.length > cellLength ? `${text.slice(0, cellLength).toWellFormed()}…` : cell;
}

export function readRows(columns: readonly string[], rows: readonly (readonly unknown[])[]): readonly Row[] {
  return rows.map((row) => {
    const cell = (column: string): unknown => row[columns.indexOf(column)];
    return {
      text: (column) => {
        const value = cell(column);
        return typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
      },
      number: (column) => {
        const value = Number(cell(column) ?? 0);
        return Number.isFinite(value) ? value : 0;
      },
      time: (column) => {
        const value = cell(column);
        const time = typeof value === 'string' || typeof value === 'number' ? new Date(value) : undefined;
        return time === undefined || Number.isNaN(time.getTime()) ? undefined : time;
      },
    };
  });
}

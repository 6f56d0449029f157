import { code, exceptionText, masked, milliseconds, inList, names, ownWork, statusText, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import type { TimeRange } from '../question/time-range.ts';
import type { Step, Scene } from '../scene.ts';

export interface Exemplar {
  readonly traceId: string;
  readonly service: string;
  readonly operation: string;
  readonly failed: boolean;
  readonly durationNano: number;
  readonly message: string;
  readonly time: Date | undefined;
}

export interface Exemplars extends Finding {
  readonly traces: readonly Exemplar[];
}

/** Where examples are looked for. */
export interface Suspect {
  readonly services: readonly string[];
  readonly operation?: string;
  readonly by: 'failures' | 'slowness';
  /** What the blamed failures say, masked; traces that say so come first. */
  readonly message?: string;
  /** SQL of what a failed span says; its status message unless told. */
  readonly failureText?: string | undefined;
}

/** The worst traces: those that failed, else the slowest. */
export async function* exemplars(scene: Scene, suspect: Suspect): Step<Exemplars> {
  const { failureText } = suspect;
  const plain = yield* worst(scene, suspect, failureText ?? statusText);
  if (failureText !== undefined || plain.traces.every(({ failed, message }) => !failed || message !== '')) return plain;
  const told = yield* worst(scene, suspect, exceptionText(scene.write));
  return told.failed ? plain : told;
}

async function* worst({ notebook, write, windows }: Scene, suspect: Suspect, failureText: string): Step<Exemplars> {
  const services = suspect.services.length === 0 ? '' : ` AND ${inList(write, 'service_name', suspect.services)}`;
  const operation =
    suspect.operation === undefined ? ` AND ${ownWork()}` : ` AND name = ${write.literal(suspect.operation)}`;
  const failures = suspect.by === 'failures' ? " AND status_code = 'ERROR'" : '';
  // The slowest failure is often an old kind, a time-out.
  const { message = '' } = suspect;
  const alike =
    message === ''
      ? ''
      : `CASE WHEN ${masked(write, failureText, 160)} = ${write.literal(message)} THEN 0 ELSE 1 END, `;
  const sql = `SELECT trace_id, span_id, time, service_name, name, status_code, ${failureText} AS message, duration_nano
FROM otel.spans
WHERE ${within(write, 'time', windows.now).slice(1, -1)}${services}${operation}${failures}
ORDER BY ${alike}duration_nano DESC, trace_id, span_id
LIMIT 5`;
  const whose = suspect.services.length === 0 ? 'all services' : names(suspect.services.slice(0, 3));
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `Which traces show the ${suspect.by} of ${whose} best?`,
    sql,
    window: windows.now,
    judge: (rows) => listed(rows.slice(0, 3).map(readExemplar).map(describe), 'There is no such trace.', 'neutral'),
  });
  return { ...finding, traces: answer.map(readExemplar) };
}

/** One trace, span by span: its first fifty by start. */
export async function* traceTree(scene: Scene, { traceId, time }: Exemplar): Step<string | undefined> {
  if (time === undefined) return undefined;
  const { evidenceId, failed } = yield* spansOf(scene, traceId, around(time));
  return failed ? undefined : evidenceId;
}

export const mostSpans = 50;

/** The first spans of a trace by start. */
export async function* spansOf(scene: Pick<Scene, 'notebook' | 'write'>, traceId: string, window: TimeRange) {
  const plain = yield* readSpans(scene, traceId, window, statusText);
  if (deepestFailure(plain.rows)?.text('message') !== '') return plain;
  const told = yield* readSpans(scene, traceId, window, exceptionText(scene.write));
  return told.failed ? plain : told;
}

function readSpans(
  { notebook, write }: Pick<Scene, 'notebook' | 'write'>,
  traceId: string,
  window: TimeRange,
  failureText: string,
) {
  const sql = `SELECT time, service_name, name, kind, status_code, ${failureText} AS message, duration_nano, span_id, parent_span_id
FROM otel.spans
WHERE ${within(write, 'time', window).slice(1, -1)} AND trace_id = ${write.literal(traceId)}
ORDER BY time, span_id
LIMIT ${mostSpans}`;
  return notebook.ask({
    question: `What happens in trace ${code(traceId, 40)}?`,
    sql,
    window,
    judge(rows) {
      const deepest = deepestFailure(rows);
      const services = new Set(rows.map((row) => row.text('service_name'))).size;
      const summary = `${rows.length} spans of ${services} services`;
      if (!deepest) return `${summary}; none failed.`;
      const message = deepest.text('message');
      return {
        observation: `${summary}; the deepest failure is ${code(deepest.text('name'), 80)} in ${code(deepest.text('service_name'), 60)}${message === '' ? '' : `, saying ${code(message)}`}.`,
        verdict: 'supports',
      };
    },
  });
}

/** The stretch to either side of a span within which its trace is looked for. */
export function around(time: Date): TimeRange {
  return { start: new Date(time.getTime() - 15 * 60_000), end: new Date(time.getTime() + 15 * 60_000) };
}

function deepestFailure(rows: readonly Row[]): Row | undefined {
  const parents = new Map(rows.map((row) => [row.text('span_id'), row.text('parent_span_id')]));
  const depth = (id: string): number => {
    let steps = 0;
    // A trace may claim that a span is its own ancestor.
    for (let at = parents.get(id); at !== undefined && steps <= rows.length; at = parents.get(at)) steps += 1;
    return steps;
  };
  let best: { readonly row: Row; readonly depth: number } | undefined;
  for (const row of rows.filter((candidate) => candidate.text('status_code') === 'ERROR')) {
    const found = depth(row.text('span_id'));
    if (best === undefined || found > best.depth) best = { row, depth: found };
  }
  return best?.row;
}

export function readExemplar(row: Row): Exemplar {
  return {
    traceId: row.text('trace_id'),
    service: row.text('service_name'),
    operation: row.text('name'),
    failed: row.text('status_code') === 'ERROR',
    durationNano: row.number('duration_nano'),
    // Steps recorded by 0.1.0 have it under its column's name.
    message: row.text('message') || row.text('status_message'),
    time: row.time('time'),
  };
}

export function describe(exemplar: Exemplar): string {
  return `${code(exemplar.traceId, 40)}: ${describeSpan(exemplar)}`;
}

export function describeSpan({ service, operation, failed, durationNano, message }: Exemplar): string {
  const end = failed ? `failed after ${milliseconds(durationNano)}` : `took ${milliseconds(durationNano)}`;
  return `${code(service, 60)} ${code(operation, 80)} ${end}${message === '' ? '' : `, saying ${code(message)}`}`;
}

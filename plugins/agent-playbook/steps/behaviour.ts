import { code, percent, chunk, eitherWindow, isBefore, logTemplate, onlyFocus, within } from '../sql.ts';
import { listed, type Row } from '../notebook.ts';
import { gStatistic, overdispersion, thresholds } from '../statistics.ts';
import type { Step, Scene } from '../scene.ts';
import { joined } from '../sample.ts';

/** Something that a service does while it serves one operation, and does more or less often than before. */
export interface Behaviour {
  readonly kind: 'line' | 'call';
  readonly service: string;
  /** Empty where lines cannot be told apart by what is served. */
  readonly operation: string;
  /** A kind of log line, or the called service and its operation. */
  readonly what: string;
  /** So many times within one span; 0 stands for any number of times, 4 for four and more. */
  readonly times: number;
  readonly hits: number;
  readonly spans: number;
  readonly hitsBefore: number;
  readonly spansBefore: number;
  /** How little it looks like chance, as chance is in that series; chi-squared with one degree of freedom. */
  readonly g: number;
  readonly evidenceId: string;
}

export interface Behaviours {
  readonly failed: boolean;
  /** Greatest G first. */
  readonly changes: readonly Behaviour[];
}

/** From here on it is no accident, even among the thousands of lines and calls that a system has. */
export const clearlyChanged = 16;

/** Of one who says that something is wrong less is asked. */
export function leastChanged({ said }: Pick<Scene, 'said'>): number {
  return said ? thresholds.changedIfSaid : clearlyChanged;
}

/** So many rows tell of one service: those after them are most often the same lines again. */
const rowsOfService = 3;
/** Without a reported problem, rewordings are recognized by their counterparts, so these must be among the rows. */
const rowsWithPartners = 16;

/** Of an operation's spans: what touches fewer is an odd request now or then, however sure it is that they were more or fewer. */
const leastDifference = 0.1;

/**
 * What services log while they serve, per operation and span: lines that come or stay away, or come another number of
 * times. Counted per span, so neither more traffic nor another mix of requests looks like a change. Lines that the
 * source wrote twice count once.
 */
export async function* logBehaviour(scene: Scene): Step<Behaviours> {
  const { write, windows, focus, templates } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const items = `SELECT s.service_name AS service_name, s.name AS operation, s.trace_id AS trace_id, s.span_id AS span_id, l.pattern AS pattern, count(DISTINCT l.time) AS times, min(${chunk(write, 's.time', windows)}) AS chunk, ${sides(scene, 's.time')}
  FROM otel.spans s JOIN (
    SELECT trace_id, span_id, time, ${logTemplate(write, 'body', templates)} AS pattern
    FROM otel.logs
    WHERE ${scope('time')} AND span_id <> ''${joined(scene)}${onlyFocus(write, focus)}
  ) l ON l.trace_id = s.trace_id AND l.span_id = s.span_id
  WHERE ${scope('s.time')}${joined(scene, 's.trace_id')}
  GROUP BY s.service_name, s.name, s.trace_id, s.span_id, l.pattern`;
  // Spans of traces that logged nothing at all are left out: there logs were lost, or are not collected.
  const only = ` AND trace_id IN (SELECT trace_id FROM otel.logs WHERE ${scope('time')} AND trace_id <> ''${joined(scene)})`;
  const question = 'Which log lines come more or less often within one operation than before?';
  return yield* compareBehaviour(scene, { kind: 'line', question, items, units: spansOf(scene, only) });
}

/** Which calls and inner steps an operation makes, and how often: what is missing or done again. */
export async function* callBehaviour(scene: Scene): Step<Behaviours> {
  const { write, windows, focus } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const items = `SELECT p.service_name AS service_name, p.name AS operation, p.trace_id AS trace_id, p.span_id AS span_id, concat(s.service_name, ' ', s.name) AS pattern, count(*) AS times, min(${chunk(write, 'p.time', windows)}) AS chunk, ${sides(scene, 'p.time')}
  FROM otel.spans p JOIN otel.spans s ON s.trace_id = p.trace_id AND s.parent_span_id = p.span_id
  WHERE ${scope('p.time')} AND ${scope('s.time')}${joined(scene, 'p.trace_id')}${joined(scene, 's.trace_id')}${onlyFocus(write, focus, 'p.service_name')}
  GROUP BY p.service_name, p.name, p.trace_id, p.span_id, concat(s.service_name, ' ', s.name)`;
  const question = 'Which calls does an operation make more or less often than before?';
  return yield* compareBehaviour(scene, { kind: 'call', question, items, units: spansOf(scene, '') });
}

/** On which side a span stands: between the two windows there may be time that belongs to neither. */
function sides({ write, windows }: Scene, column: string): string {
  const flag = (condition: string, name: string) => `max(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS ${name}`;
  return `${flag(within(write, column, windows.now), 'is_now')}, ${flag(isBefore(write, column, windows), 'is_before')}`;
}

/** What is counted, and in how many of what. */
interface Comparison {
  readonly kind: Behaviour['kind'];
  readonly question: string;
  /** A row for each unit and pattern: service_name, operation, pattern, times, chunk, is_now, is_before. */
  readonly items: string;
  /** A row for each service, operation and chunk: service_name, operation, chunk, spans, spans_before. */
  readonly units: string;
}

function spansOf(scene: Scene, only: string): string {
  const { write, windows, focus } = scene;
  const width = chunk(write, 'time', windows);
  return `SELECT service_name, name AS operation, ${width} AS chunk, ${write.countIf(within(write, 'time', windows.now))} AS spans, ${write.countIf(isBefore(write, 'time', windows))} AS spans_before
  FROM otel.spans
  WHERE ${eitherWindow(write, 'time', windows)}${joined(scene)}${onlyFocus(write, focus)}${only}
  GROUP BY service_name, name, ${width}`;
}

/** The patterns whose share of the units has changed most, of each service. */
export async function* compareBehaviour(
  { notebook, write, windows, said }: Scene,
  { kind, question, items, units }: Comparison,
): Step<Behaviours> {
  const g = gStatistic(write, { k: 'x.hits', n: 'x.spans', k0: 'x.hits_before', n0: 'x.spans_before' });
  const scatter = overdispersion(write, {
    k: 'x.hits_before',
    n: 'x.spans_before',
    squares: 'x.squares',
    chunks: 'x.chunks',
  });
  const sql = `WITH i AS (
  ${items}
), t AS (
  SELECT i.service_name AS service_name, i.operation AS operation, i.pattern AS pattern, CASE WHEN i.times > 4 THEN 4 ELSE i.times END AS capped, i.chunk AS chunk, sum(i.is_now) AS seen, sum(i.is_before) AS seen_before
  FROM i
  GROUP BY i.service_name, i.operation, i.pattern, CASE WHEN i.times > 4 THEN 4 ELSE i.times END, i.chunk
), k AS (
  SELECT t.service_name AS service_name, t.operation AS operation, t.pattern AS pattern, t.capped AS times, t.chunk AS chunk, t.seen AS hits, t.seen_before AS hits_before FROM t
  UNION ALL
  SELECT t.service_name AS service_name, t.operation AS operation, t.pattern AS pattern, 0 AS times, t.chunk AS chunk, sum(t.seen) AS hits, sum(t.seen_before) AS hits_before FROM t GROUP BY t.service_name, t.operation, t.pattern, t.chunk
), c AS (
  ${units}
), n AS (
  SELECT c.service_name AS service_name, c.operation AS operation, sum(c.spans) AS spans, sum(c.spans_before) AS spans_before, ${write.countIf('c.spans_before > 0')} AS chunks
  FROM c
  GROUP BY c.service_name, c.operation
), h AS (
  SELECT k.service_name AS service_name, k.operation AS operation, k.pattern AS pattern, k.times AS times, sum(k.hits) AS hits, sum(k.hits_before) AS hits_before, sum(floor(${write.ratio('1000 * k.hits_before * k.hits_before', 'c.spans_before')})) AS squares
  FROM k LEFT JOIN c ON c.service_name = k.service_name AND c.operation = k.operation AND c.chunk = k.chunk
  GROUP BY k.service_name, k.operation, k.pattern, k.times
), x AS (
  SELECT h.service_name AS service_name, h.operation AS operation, h.pattern AS pattern, h.times AS times, h.hits AS hits, n.spans AS spans, h.hits_before AS hits_before, n.spans_before AS spans_before, h.squares AS squares, n.chunks AS chunks
  FROM h JOIN n ON n.service_name = h.service_name AND n.operation = h.operation
  WHERE n.spans > 0 AND n.spans_before > 0
), y AS (
  SELECT x.service_name AS service_name, x.operation AS operation, x.pattern AS pattern, x.times AS times, x.hits AS hits, x.spans AS spans, x.hits_before AS hits_before, x.spans_before AS spans_before, ${write.ratio(g, scatter)} AS g
  FROM x
  WHERE abs(${write.ratio('x.hits', 'x.spans')} - ${write.ratio('x.hits_before', 'x.spans_before')}) >= ${leastDifference}
), z AS (
  SELECT y.service_name AS service_name, y.operation AS operation, y.pattern AS pattern, y.times AS times, y.hits AS hits, y.spans AS spans, y.hits_before AS hits_before, y.spans_before AS spans_before, y.g AS g,
    row_number() OVER (PARTITION BY y.service_name ORDER BY y.g DESC, y.operation, y.pattern, y.times) AS place
  FROM y
)
SELECT service_name, operation, pattern, times, hits, spans, hits_before, spans_before, g
FROM z
WHERE place <= ${said ? rowsOfService : rowsWithPartners}
ORDER BY g DESC, service_name, operation, pattern, times
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question,
    sql,
    window: windows.now,
    judge(rows) {
      const changes = rows.map((row) => read(row, kind, '')).filter((change) => change.g >= leastChanged({ said }));
      return listed(distinct(changes).slice(0, 4).map(describe), 'None does, beyond chance.');
    },
  });
  return { failed: finding.failed, changes: answer.map((row) => read(row, kind, finding.evidenceId)) };
}

/** A line is counted in any number and in each number: the one that says most stands for it. */
export function distinct(changes: readonly Behaviour[]): readonly Behaviour[] {
  const seen = new Set<string>();
  return changes.filter(({ service, operation, what }) => {
    const key = JSON.stringify([service, operation, what]);
    return !seen.has(key) && seen.add(key);
  });
}

/** How much larger the share of the operation's spans became. */
export function gain({ hits, spans, hitsBefore, spansBefore }: Behaviour): number {
  return hits / spans - hitsBefore / spansBefore;
}

function read(row: Row, kind: Behaviour['kind'], evidenceId: string): Behaviour {
  return {
    kind,
    evidenceId,
    service: row.text('service_name'),
    operation: row.text('operation'),
    what: row.text('pattern'),
    times: row.number('times'),
    hits: row.number('hits'),
    spans: row.number('spans'),
    hitsBefore: row.number('hits_before'),
    spansBefore: row.number('spans_before'),
    g: row.number('g'),
  };
}

export function describe({ service, operation, what, times, hits, spans, hitsBefore, spansBefore }: Behaviour): string {
  const often = times === 0 ? '' : times >= 4 ? ' four times or more' : times === 1 ? ' once' : ` ${times} times`;
  const where = operation === '' ? '' : ` at ${code(operation, 80)}`;
  return `${code(service, 60)}${where} has ${code(what)}${often} in ${percent(hits / Math.max(1, spans))} of ${spans} (${percent(hitsBefore / Math.max(1, spansBefore))} of ${spansBefore} before)`;
}

/** Of the words of two lines, so many must be the same. */
const sameWords = 0.5;
/** Of all that went and came among lines alike, so much may be left over: rare ones of them are not among the changes. */
const leftOver = 0.5;

/**
 * Changes without mere rewordings: a release that rewords a line makes one kind of line disappear and similar ones appear, in
 * the same operation and equally often in total.
 */
export function withoutRewordings(changes: readonly Behaviour[]): readonly Behaviour[] {
  const lines = distinct(changes);
  const reworded = (change: Behaviour): boolean => {
    const gains = lines
      .filter(({ service, operation }) => service === change.service && operation === change.operation)
      .filter(({ what }) => likeness(what, change.what) >= sameWords)
      .map(gain);
    const own = gain(change);
    // Of many lines alike the rare ones are not among the changes, so one that went for one that came is enough.
    return isEven(gains) || gains.some((other) => isEven([own, other]));
  };
  return lines.filter((change) => !reworded(change));
}

function isEven(gains: readonly number[]): boolean {
  const moved = gains.reduce((sum, one) => sum + Math.abs(one), 0);
  return Math.abs(gains.reduce((sum, one) => sum + one, 0)) <= leftOver * moved;
}

function likeness(a: string, b: string): number {
  const [ours, theirs] = [new Set(a.split(/\s+/)), new Set(b.split(/\s+/))];
  const shared = [...ours].filter((word) => theirs.has(word)).length;
  return shared / (ours.size + theirs.size - shared);
}

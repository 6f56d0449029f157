import { code, milliseconds, percent } from '../quote.ts';
import type { Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import { eitherWindow, inList, isBefore, onlyFocus, within } from '../sql.ts';

export interface SelfTimeChange {
  readonly service: string;
  readonly operation: string;
  readonly kind: string;
  readonly spans: number;
  /** Nanoseconds of the span's own, children taken off: mean of now and of before. */
  readonly mean: number;
  readonly meanBefore: number;
  /** Nanoseconds added over all spans. */
  readonly added: number;
}

export interface SelfTime {
  readonly evidenceId: string;
  readonly failed: boolean;
  /** Most added time first; only what was added. */
  readonly changes: readonly SelfTimeChange[];
  readonly added: number;
}

/** Where the added time is spent: a span's duration without that of its children, now against before. */
export async function* selfTime(scene: Scene): Step<SelfTime> {
  const { notebook, write, windows, focus } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const now = within(write, 'o.time', windows.now);
  const before = isBefore(write, 'o.time', windows);
  const mean = (when: string) =>
    `COALESCE(${write.ratio(`sum(CASE WHEN ${when} THEN o.own_nano ELSE 0 END)`, write.countIf(when))}, 0)`;
  const throughFocus =
    focus.services.length > 0 && !focus.only
      ? ` AND s.trace_id IN (SELECT trace_id FROM otel.spans WHERE ${scope('time')} AND ${inList(write, 'service_name', focus.services)})`
      : '';
  const sql = `SELECT o.service_name AS service_name, o.name AS name, o.kind AS kind, ${write.countIf(now)} AS spans, ${write.countIf(before)} AS spans_before,
  ${mean(now)} AS own_nano, ${mean(before)} AS own_before_nano, ${write.countIf(now)} * (${mean(now)} - ${mean(before)}) AS added_nano
FROM (
  SELECT s.service_name AS service_name, s.name AS name, s.kind AS kind, s.time AS time,
    CASE WHEN s.duration_nano > COALESCE(c.child_nano, 0) THEN s.duration_nano - COALESCE(c.child_nano, 0) ELSE 0 END AS own_nano
  FROM otel.spans s LEFT JOIN (
    SELECT trace_id, parent_span_id, sum(duration_nano) AS child_nano
    FROM otel.spans
    WHERE ${scope('time')} AND parent_span_id <> ''
    GROUP BY trace_id, parent_span_id
  ) c ON c.trace_id = s.trace_id AND c.parent_span_id = s.span_id
  WHERE ${scope('s.time')}${onlyFocus(write, focus, 's.service_name')}${throughFocus}
) o
GROUP BY o.service_name, o.name, o.kind
HAVING ${write.countIf(now)} >= 10 AND ${write.countIf(before)} >= 10
ORDER BY added_nano DESC, o.service_name, o.name
LIMIT 50`;
  const evidence = yield* notebook.ask({
    question: 'In which service is the added time spent?',
    sql,
    window: windows.now,
    judge(rows) {
      const changes = readAdded(rows);
      const [first] = changes;
      if (!first) return { observation: 'No operation spends more time of its own than before.', verdict: 'refutes' };
      const share = first.added / changes.reduce((sum, change) => sum + change.added, 0);
      return {
        observation: `${percent(share)} of the added time is spent in ${code(first.service, 60)} at ${code(first.operation, 80)}: ${milliseconds(first.mean)} of its own on average, ${milliseconds(first.meanBefore)} before.`,
        verdict: 'supports',
      };
    },
  });
  const changes = readAdded(evidence.rows);
  return {
    evidenceId: evidence.id,
    failed: evidence.failed,
    changes,
    added: changes.reduce((sum, change) => sum + change.added, 0),
  };
}

function readAdded(rows: readonly Row[]): readonly SelfTimeChange[] {
  return rows
    .map((row) => ({
      service: row.text('service_name'),
      operation: row.text('name'),
      kind: row.text('kind'),
      spans: row.number('spans'),
      mean: row.number('own_nano'),
      meanBefore: row.number('own_before_nano'),
      added: row.number('added_nano'),
    }))
    .filter(({ added }) => added > 0);
}

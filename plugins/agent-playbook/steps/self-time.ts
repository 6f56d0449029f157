import { code, milliseconds, percent, eitherWindow, inList, isBefore, onlyFocus, within } from '../sql.ts';
import type { Finding, Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { joined } from '../sample.ts';
import { isFar, readShift, type Shift } from './latency-shift.ts';

export interface SelfTimeChange extends Shift {
  readonly service: string;
  readonly operation: string;
  readonly kind: string;
  /** Nanoseconds of the span's own, children taken off: mean of now and of before. */
  readonly mean: number;
  readonly meanBefore: number;
  /** Nanoseconds added over all spans. */
  readonly added: number;
}

export interface SelfTime extends Finding {
  /** Most added time first; only what was added. */
  readonly changes: readonly SelfTimeChange[];
  /** Total duration of all requests in nanoseconds, as their callers saw it, without background jobs. */
  readonly waited: number;
  /** Of the requests in which a service has a part. */
  readonly waitedFor: ReadonlyMap<string, number>;
}

/** Fewer spans than these say nothing about a 95th percentile. */
const fewest = 10;

/**
 * Where the added time is spent: self time of spans, now against before. Spans that wait for another service are left out:
 * what they add beyond the answer's time is a gap between the two services, which another step reads.
 */
export async function* selfTime(scene: Scene): Step<SelfTime> {
  const { notebook, write, windows, focus } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const now = within(write, 'o.time', windows.now);
  const throughFocus =
    focus.services.length > 0 && !focus.only
      ? ` AND s.trace_id IN (SELECT trace_id FROM otel.spans WHERE ${scope('time')}${joined(scene)} AND ${inList(write, 'service_name', focus.services)})`
      : '';
  const added = `count(*) * (avg(o.own_nano) - min(b.mean_before))`;
  const sql = `WITH o AS (
  SELECT s.service_name AS service_name, s.name AS name, s.kind AS kind, s.time AS time, s.trace_id AS trace_id,
    CASE WHEN s.duration_nano > COALESCE(c.child_nano, 0) THEN s.duration_nano - COALESCE(c.child_nano, 0) ELSE 0 END AS own_nano
  FROM otel.spans s LEFT JOIN (
    SELECT trace_id, parent_span_id, sum(duration_nano) AS child_nano, min(service_name) AS first_service, max(service_name) AS last_service
    FROM otel.spans
    WHERE ${scope('time')} AND parent_span_id <> ''${joined(scene)}
    GROUP BY trace_id, parent_span_id
  ) c ON c.trace_id = s.trace_id AND c.parent_span_id = s.span_id
  WHERE ${scope('s.time')}${joined(scene, 's.trace_id')}${onlyFocus(write, focus, 's.service_name')}${throughFocus}
    AND (c.parent_span_id IS NULL OR c.parent_span_id = '' OR (c.first_service = s.service_name AND c.last_service = s.service_name))
), b AS (
  SELECT o.service_name AS service_name, o.name AS name, o.kind AS kind, count(*) AS count_before, avg(o.own_nano) AS mean_before,
    ${write.quantile('o.own_nano', 0.5)} AS median_before, ${write.quantile('o.own_nano', 0.75)} AS p75_before, ${write.quantile('o.own_nano', 0.95)} AS p95_before, max(o.own_nano) AS longest_before
  FROM o
  WHERE ${isBefore(write, 'o.time', windows)}
  GROUP BY o.service_name, o.name, o.kind
), r AS (
  SELECT trace_id, duration_nano
  FROM otel.spans
  WHERE ${within(write, 'time', windows.now).slice(1, -1)} AND parent_span_id = '' AND kind <> 'INTERNAL'${joined(scene)}
), w AS (
  SELECT t.service_name AS service_name, sum(r.duration_nano) AS waited_nano
  FROM (SELECT DISTINCT o.service_name AS service_name, o.trace_id AS trace_id FROM o WHERE ${now}) t JOIN r ON r.trace_id = t.trace_id
  GROUP BY t.service_name
)
SELECT o.service_name AS service_name, o.name AS name, o.kind AS kind, count(*) AS count, ${write.countIf('o.own_nano > b.p95_before')} AS slow, ${write.countIf('o.own_nano > b.p75_before')} AS slower, ${write.countIf(isFar('o.own_nano', 'b.longest_before'))} AS far,
  avg(o.own_nano) AS own_nano, min(b.mean_before) AS own_before_nano, ${write.quantile('o.own_nano', 0.5)} AS median_nano, ${write.quantile('o.own_nano', 0.95)} AS p95_nano,
  min(b.count_before) AS count_before, min(b.median_before) AS median_before_nano, min(b.p95_before) AS p95_before_nano, ${added} AS added_nano, (SELECT sum(duration_nano) FROM r) AS waited_nano, min(w.waited_nano) AS waited_for_nano
FROM o JOIN b ON b.service_name = o.service_name AND b.name = o.name AND b.kind = o.kind LEFT JOIN w ON w.service_name = o.service_name
WHERE ${now}
GROUP BY o.service_name, o.name, o.kind
HAVING count(*) >= ${fewest} AND min(b.count_before) >= ${fewest}
ORDER BY ${added} DESC, o.service_name, o.name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
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
        verdict: first.worse ? 'supports' : 'neutral',
      };
    },
  });
  return {
    ...finding,
    changes: readAdded(answer),
    waited: answer[0]?.number('waited_nano') ?? 0,
    waitedFor: new Map(answer.map((row) => [row.text('service_name'), row.number('waited_for_nano')])),
  };
}

function readAdded(rows: readonly Row[]): readonly SelfTimeChange[] {
  return rows
    .map((row) => ({
      ...readShift(row),
      service: row.text('service_name'),
      operation: row.text('name'),
      kind: row.text('kind'),
      mean: row.number('own_nano'),
      meanBefore: row.number('own_before_nano'),
      added: row.number('added_nano'),
    }))
    .filter(({ added }) => added > 0);
}

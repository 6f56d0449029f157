import { code, moment, logTemplate, within } from '../sql.ts';
import type { TimeRange } from '../question/time-range.ts';
import type { Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { thresholds } from '../statistics.ts';
import type { Behaviour } from './behaviour.ts';
import type { CallGap } from './call-gaps.ts';
import { bucketWidth, riseOf, type Onset } from './onset.ts';
import { lines, reports, type Counted, type Source } from './request-counts.ts';
import { farFromUsual, type ResourceChange } from './resources.ts';

/** What a suspect shows, and so what is followed through time. */
export type Signal =
  | { readonly kind: 'behaviour'; readonly behaviour: Behaviour }
  | { readonly kind: 'gap'; readonly gap: CallGap }
  | { readonly kind: 'gauge'; readonly resource: ResourceChange }
  | { readonly kind: 'counted'; readonly counted: Counted; readonly source: Source };

/** When a signal began within the range: the point from which most of what is counted shows it, and before which least does. */
export async function* signalOnset(scene: Scene, signal: Signal, range: TimeRange): Step<Onset> {
  const { notebook, write, templates } = scene;
  const bucket = (column: string) => write.bucket(column, bucketWidth(range));
  const inOrder = (column: string) => `GROUP BY ${bucket(column)}\nORDER BY ${bucket(column)}\nLIMIT 50`;
  const scope = (column: string) => within(write, column, range).slice(1, -1);
  const [name, sql] = ((): readonly [string, string] => {
    switch (signal.kind) {
      case 'behaviour': {
        const { kind, service, operation, what, times, hits, spans, hitsBefore, spansBefore } = signal.behaviour;
        const has = `COALESCE(l.times, 0) ${times === 0 ? '> 0' : times >= 4 ? '>= 4' : `= ${times}`}`;
        const more = hits / spans > hitsBefore / spansBefore;
        const bad = write.countIf(more ? has : `NOT (${has})`);
        const name = `The change of ${code(what)} in ${code(service, 60)}`;
        if (operation === '') {
          const line = `${logTemplate(write, 'body', templates)} = ${write.literal(what)}`;
          return [
            name,
            `SELECT ${bucket('time')} AS bucket, count(*) AS total, ${write.countIf(more ? line : `NOT (${line})`)} AS bad
FROM otel.logs
WHERE ${scope('time')} AND service_name = ${write.literal(service)}
${inOrder('time')}`,
          ];
        }
        const [items, only] =
          kind === 'line'
            ? [
                `SELECT trace_id, span_id, count(DISTINCT time) AS times
  FROM otel.logs
  WHERE ${scope('time')} AND ${logTemplate(write, 'body', templates)} = ${write.literal(what)}
  GROUP BY trace_id, span_id`,
                ` AND s.trace_id IN (SELECT trace_id FROM otel.logs WHERE ${scope('time')} AND trace_id <> '')`,
              ]
            : [
                `SELECT trace_id, parent_span_id AS span_id, count(*) AS times
  FROM otel.spans
  WHERE ${scope('time')} AND concat(service_name, ' ', name) = ${write.literal(what)}
  GROUP BY trace_id, parent_span_id`,
                '',
              ];
        return [
          name,
          `SELECT ${bucket('s.time')} AS bucket, count(*) AS total, ${bad} AS bad
FROM otel.spans s LEFT JOIN (
  ${items}
) l ON l.trace_id = s.trace_id AND l.span_id = s.span_id
WHERE ${scope('s.time')} AND s.service_name = ${write.literal(service)} AND s.name = ${write.literal(operation)}${only}
${inOrder('s.time')}`,
        ];
      }
      case 'gap': {
        const { caller, callee, p95Before } = signal.gap;
        return [
          `The delay of calls from ${code(caller, 60)} to ${code(callee, 60)}`,
          `SELECT ${bucket('s.time')} AS bucket, count(*) AS total, ${write.countIf(`p.duration_nano - s.duration_nano > ${Math.round(p95Before)}`)} AS bad
FROM otel.spans s JOIN otel.spans p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
WHERE ${scope('s.time')} AND ${scope('p.time')} AND s.service_name = ${write.literal(callee)} AND p.service_name = ${write.literal(caller)}
${inOrder('s.time')}`,
        ];
      }
      case 'counted': {
        const { service, metric, peer, operation, mean, meanBefore, worse } = signal.counted;
        const d = signal.source === 'logs' ? lines(scene, range) : reports(scene, range, []);
        const late = `CASE WHEN sum(s) > ${(mean + meanBefore) / 2} * sum(n * counts) THEN sum(n * counts) ELSE 0 END`;
        return [
          `The ${worse ? 'failures' : 'slowness'} of ${code(service, 60)}`,
          `WITH ${d}
SELECT ${bucket('time')} AS bucket, sum(n * counts) AS total, ${worse ? 'sum(n * failed)' : late} AS bad
FROM d
WHERE service_name = ${write.literal(service)} AND metric = ${write.literal(metric)} AND peer = ${write.literal(peer)} AND operation = ${write.literal(operation)}
${inOrder('time')}`,
        ];
      }
      case 'gauge': {
        const { service, metric, value, valueBefore, z } = signal.resource;
        const sign = value < valueBefore ? -1 : 1;
        const after = (share: number): string => write.literal(sign * (valueBefore + share * (value - valueBefore)));
        const [half, left] = [after(0.5), after(Math.min(0.5, farFromUsual / z))];
        return [
          `The ${value < valueBefore ? 'fall' : 'rise'} of ${code(metric, 80)} of ${code(service, 60)}`,
          // It has changed where it is halfway to what it is; what grows began when it last left the usual before that.
          `WITH g AS (
  SELECT time, ${sign < 0 ? '-value' : 'value'} AS amount
  FROM otel.metrics
  WHERE ${scope('time')} AND service_name = ${write.literal(service)} AND name = ${write.literal(metric)}
), h AS (
  SELECT min(time) AS since FROM g WHERE amount > ${half}
), l AS (
  SELECT max(g.time) AS since FROM g CROSS JOIN h WHERE g.time < h.since AND g.amount <= ${left}
)
SELECT g.time AS bucket, 1 AS total, CASE WHEN g.amount > ${half} THEN 1 ELSE 0 END AS bad
FROM g CROSS JOIN h CROSS JOIN l
WHERE g.amount > ${left} AND (g.time >= h.since OR g.time > l.since)
ORDER BY g.time
LIMIT 50`,
        ];
      }
    }
  })();
  const options = { least: 2, span: Math.ceil(thresholds.aftermath / bucketWidth(range)) };
  const find = (rows: readonly Row[]): Pick<Onset, 'at' | 'z'> => {
    if (signal.kind === 'gauge') return { at: rows[0]?.time('bucket'), z: rows.length };
    return riseOf(rows, 'total', options);
  };
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `When did this begin? ${name}.`,
    sql,
    window: range,
    judge(rows) {
      const { at } = find(rows);
      if (!at) return `${name} does not begin at any one point.`;
      return { observation: `${name} begins at about ${moment(at)}.`, verdict: 'supports' };
    },
  });
  return { ...finding, ...find(answer) };
}

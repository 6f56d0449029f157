import type { DialectWriter } from '../../src/contract/telemetry/index.ts';
import type { Data, Window } from './spans.ts';

/** A statement over spans, which stand in it as `FROM <spans>`, with its condition on time or without one. */
export interface Question {
  readonly name: string;
  readonly window: Window;
  /** @param conditions beside the question's own. */
  sql(spans: string, conditions: readonly string[]): string;
}

const hourMs = 3_600_000;

/** What people ask first of traces. Each has one order, so that answers can be compared. */
export function questionsOf(write: DialectWriter, data: Data, traceId: string): readonly Question[] {
  const { start, end } = data;
  const failed = `status_code = ${write.literal('ERROR')}`;
  const where = (conditions: readonly string[]) => (conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`);
  return [
    {
      name: 'error rate by service, last hour',
      window: { start: new Date(end.getTime() - hourMs), end },
      sql: (spans, conditions) =>
        `SELECT service_name, count(*) AS requests, ${write.ratio(write.countIf(failed), 'count(*)')} AS error_rate
         FROM ${spans} ${where(conditions)} GROUP BY service_name ORDER BY error_rate DESC, service_name`,
    },
    {
      name: 'p95 by service and operation, ten slowest',
      window: { start, end },
      sql: (spans, conditions) =>
        `SELECT service_name, name, count(*) AS spans, ${write.quantile('duration_nano', 0.95)} / 1e6 AS p95_ms
         FROM ${spans} ${where(conditions)} GROUP BY service_name, name ORDER BY p95_ms DESC, service_name, name LIMIT 10`,
    },
    {
      name: 'one trace',
      window: { start, end },
      sql: (spans, conditions) =>
        `SELECT time, span_id, parent_span_id, service_name, name, duration_nano, status_code
         FROM ${spans} ${where([...conditions, `trace_id = ${write.literal(traceId)}`])} ORDER BY time, span_id`,
    },
    {
      name: 'requests a minute of one service',
      window: { start, end },
      sql: (spans, conditions) =>
        `SELECT ${write.bucket('time', 60)} AS minute, count(*) AS requests
         FROM ${spans} ${where([...conditions, `service_name = ${write.literal('service-7')}`])}
         GROUP BY 1 ORDER BY 1`,
    },
    {
      name: 'top routes of failing spans',
      window: { start, end },
      sql: (spans, conditions) =>
        `SELECT ${write.attribute('attributes', 'http.route')} AS route, count(*) AS failures
         FROM ${spans} ${where([...conditions, failed])} GROUP BY 1 ORDER BY failures DESC, route LIMIT 10`,
    },
  ];
}

/** As a person writes the condition who asks the engine itself. */
export function within(write: DialectWriter, { start, end }: Window): readonly string[] {
  return [`time >= ${write.literal(start)}`, `time < ${write.literal(end)}`];
}

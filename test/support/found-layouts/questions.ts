import {
  logs,
  spans,
  type SampleLog,
  type SampleSpan,
} from '../../../plugins/telemetry-clickhouse/support/layouts/telemetry.ts';

/** Asked of every layout as one of its two tenants, with figures computed beside the engine. */
export interface FoundQuestion {
  readonly asks: string;
  readonly clickhouse: string;
  readonly postgres: string;
  /** The columns without which no answer can be right. */
  readonly needs: readonly string[];
  readonly answer: readonly (readonly (string | number)[])[];
}

const tenant = 'acme';
const ours: readonly SampleSpan[] = spans.filter((span) => span.tenant === tenant);
const lines: readonly SampleLog[] = logs.filter((log) => log.tenant === tenant);
const services = [...new Set(ours.map(({ service }) => service))].toSorted();
const traced = ours[41];
const hour = (time: string) => Math.floor(Date.parse(`${time.replace(' ', 'T')}Z`) / 3_600_000) * 3600;

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = 0.95 * (sorted.length - 1);
  const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

function counted(keys: readonly (string | number)[]): readonly (readonly (string | number)[])[] {
  return [...Map.groupBy(keys, (key) => key)].map(([key, all]) => [key, all.length]);
}

const failed = ours.filter(({ status }) => status === 'ERROR');
const traceId = traced?.traceId ?? '';

export const foundQuestions: readonly FoundQuestion[] = [
  {
    asks: 'spans of each service',
    clickhouse: 'SELECT service_name, count() FROM otel.spans GROUP BY service_name',
    postgres: 'SELECT service_name, count(*) FROM otel.spans GROUP BY service_name',
    needs: ['spans.service_name'],
    answer: counted(ours.map(({ service }) => service)),
  },
  {
    asks: 'failed server spans of each service',
    clickhouse:
      "SELECT service_name, countIf(status_code = 'ERROR'), count() FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name",
    postgres:
      "SELECT service_name, count(*) FILTER (WHERE status_code = 'ERROR'), count(*) FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name",
    needs: ['spans.service_name', 'spans.status_code', 'spans.kind'],
    answer: services.flatMap((service) => {
      const server = ours.filter((span) => span.service === service && span.kind === 'SERVER');
      return server.length === 0
        ? []
        : [[service, server.filter(({ status }) => status === 'ERROR').length, server.length]];
    }),
  },
  {
    asks: 'the 95th percentile of each operation in milliseconds',
    clickhouse: 'SELECT name, quantileExactInclusive(0.95)(duration_nano) / 1e6 FROM otel.spans GROUP BY name',
    postgres:
      'SELECT name, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_nano) / 1e6 FROM otel.spans GROUP BY name',
    needs: ['spans.name', 'spans.duration_nano'],
    answer: [...Map.groupBy(ours, ({ name }) => name)].map(([name, all]) => [
      name,
      p95(all.map(({ durationNano }) => durationNano)) / 1e6,
    ]),
  },
  {
    asks: 'failures of each hour',
    clickhouse:
      "SELECT toUnixTimestamp(toStartOfHour(time)), count() FROM otel.spans WHERE status_code = 'ERROR' GROUP BY 1",
    postgres:
      "SELECT extract(epoch FROM date_trunc('hour', time)), count(*) FROM otel.spans WHERE status_code = 'ERROR' GROUP BY 1",
    needs: ['spans.status_code', 'spans.time'],
    answer: counted(failed.map(({ time }) => hour(time))),
  },
  {
    asks: 'root spans, and children that find their parent',
    clickhouse:
      "SELECT (SELECT count() FROM otel.spans WHERE parent_span_id = ''), (SELECT count() FROM otel.spans AS c JOIN otel.spans AS p ON c.parent_span_id = p.span_id)",
    postgres:
      "SELECT (SELECT count(*) FROM otel.spans WHERE parent_span_id = ''), (SELECT count(*) FROM otel.spans AS c JOIN otel.spans AS p ON c.parent_span_id = p.span_id)",
    needs: ['spans.parent_span_id', 'spans.span_id'],
    answer: [
      [
        ours.filter(({ parentSpanId }) => parentSpanId === '').length,
        ours.filter(({ parentSpanId }) => parentSpanId !== '').length,
      ],
    ],
  },
  {
    asks: 'a trace by its id',
    clickhouse: `SELECT name, duration_nano, toUnixTimestamp(time) FROM otel.spans WHERE trace_id = '${traceId}'`,
    postgres: `SELECT name, duration_nano, extract(epoch FROM time) FROM otel.spans WHERE trace_id = '${traceId}'`,
    needs: ['spans.trace_id', 'spans.name', 'spans.duration_nano'],
    answer:
      traced === undefined
        ? []
        : [[traced.name, traced.durationNano, Date.parse(`${traced.time.replace(' ', 'T')}Z`) / 1000]],
  },
  {
    asks: 'milliseconds from beginnings to ends',
    clickhouse: "SELECT sum(dateDiff('millisecond', time, end_time)) FROM otel.spans",
    postgres: 'SELECT sum(extract(epoch FROM end_time - time)) * 1000 FROM otel.spans',
    needs: ['spans.end_time'],
    answer: [[ours.reduce((sum, { durationNano }) => sum + durationNano / 1e6, 0)]],
  },
  {
    asks: 'spans of each route',
    clickhouse: "SELECT attributes['http.route'], count() FROM otel.spans GROUP BY 1",
    postgres: "SELECT attributes ->> 'http.route', count(*) FROM otel.spans GROUP BY 1",
    needs: ['spans.attributes'],
    answer: counted(ours.map(({ attributes }) => attributes['http.route'] ?? '')),
  },
  {
    asks: 'error lines of each service',
    clickhouse: 'SELECT service_name, count() FROM otel.logs WHERE severity_number >= 17 GROUP BY service_name',
    postgres: 'SELECT service_name, count(*) FROM otel.logs WHERE severity_number >= 17 GROUP BY service_name',
    needs: ['logs.service_name', 'logs.severity_number'],
    answer: counted(lines.filter(({ severity }) => severity >= 17).map(({ service }) => service)),
  },
  {
    asks: 'the lines of a trace',
    clickhouse: `SELECT body FROM otel.logs WHERE trace_id = '${traceId}'`,
    postgres: `SELECT body FROM otel.logs WHERE trace_id = '${traceId}'`,
    needs: ['logs.trace_id', 'logs.body'],
    answer: lines.filter((log) => log.traceId === traceId).map(({ body }) => [body]),
  },
  {
    asks: 'lines of each hour',
    clickhouse: 'SELECT toUnixTimestamp(toStartOfHour(time)), count() FROM otel.logs GROUP BY 1',
    postgres: "SELECT extract(epoch FROM date_trunc('hour', time)), count(*) FROM otel.logs GROUP BY 1",
    needs: ['logs.time'],
    answer: counted(lines.map(({ time }) => hour(time))),
  },
  {
    asks: 'error lines beside failed spans',
    clickhouse:
      "SELECT count() FROM otel.logs AS l JOIN otel.spans AS s ON s.trace_id = l.trace_id AND s.span_id = l.span_id WHERE l.severity_number >= 17 AND s.status_code = 'ERROR'",
    postgres:
      "SELECT count(*) FROM otel.logs AS l JOIN otel.spans AS s ON s.trace_id = l.trace_id AND s.span_id = l.span_id WHERE l.severity_number >= 17 AND s.status_code = 'ERROR'",
    needs: [
      'logs.severity_number',
      'logs.trace_id',
      'logs.span_id',
      'spans.status_code',
      'spans.trace_id',
      'spans.span_id',
    ],
    answer: [[failed.length]],
  },
];

/** Rows in any order, numbers to nine digits. */
export function plainRows(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return rows
    .map((row) =>
      row.map((cell) => (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(String(cell)) ? Number(cell).toPrecision(9) : cell)),
    )
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

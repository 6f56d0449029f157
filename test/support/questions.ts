/** Engines whose answers are compared, where they are at hand. */
export type Engine = 'duckdb' | 'postgres' | 'clickhouse' | 'bigquery';

export interface Question {
  readonly asks: string;
  /** One text where all dialects agree. */
  readonly sql: string | Readonly<Record<Engine, string>>;
}

/** What an engineer asks first of a service that misbehaves, in each dialect's own words. */
export const questions: readonly Question[] = [
  {
    asks: 'How many spans did each service send?',
    sql: 'SELECT service_name, count(*) AS spans FROM otel.spans GROUP BY service_name',
  },
  {
    asks: "Which share of each service's server spans failed, in percent?",
    sql: {
      duckdb: `SELECT service_name, 100.0 * count(*) FILTER (WHERE status_code = 'ERROR') / count(*) AS failed
        FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name`,
      postgres: `SELECT service_name, 100.0 * count(*) FILTER (WHERE status_code = 'ERROR') / count(*) AS failed
        FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name`,
      clickhouse: `SELECT service_name, 100 * countIf(status_code = 'ERROR') / count() AS failed
        FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name`,
      bigquery: `SELECT service_name, 100 * COUNTIF(status_code = 'ERROR') / COUNT(*) AS failed
        FROM otel.spans WHERE kind = 'SERVER' GROUP BY service_name`,
    },
  },
  {
    asks: 'What is the 95th percentile of each operation, in milliseconds?',
    sql: {
      duckdb: `SELECT service_name, name, quantile_cont(duration_nano, 0.95) / 1e6 AS p95
        FROM otel.spans GROUP BY service_name, name`,
      postgres: `SELECT service_name, name, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_nano) / 1e6 AS p95
        FROM otel.spans GROUP BY service_name, name`,
      clickhouse: `SELECT service_name, name, quantileExactInclusive(0.95)(duration_nano) / 1e6 AS p95
        FROM otel.spans GROUP BY service_name, name`,
      bigquery: `SELECT DISTINCT service_name, name,
        PERCENTILE_CONT(duration_nano, 0.95) OVER (PARTITION BY service_name, name) / 1e6 AS p95 FROM otel.spans`,
    },
  },
  {
    asks: 'How did the failures go, in steps of five minutes?',
    sql: {
      duckdb: `SELECT time_bucket(INTERVAL 5 MINUTE, time) AS step, count(*) AS failed
        FROM otel.spans WHERE status_code = 'ERROR' GROUP BY step`,
      postgres: `SELECT date_bin('5 minutes', time, timestamptz '2000-01-01 00:00:00Z') AS step, count(*) AS failed
        FROM otel.spans WHERE status_code = 'ERROR' GROUP BY step`,
      clickhouse: `SELECT toStartOfInterval(time, INTERVAL 5 MINUTE) AS step, count() AS failed
        FROM otel.spans WHERE status_code = 'ERROR' GROUP BY step`,
      bigquery: `SELECT TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(time), 300) * 300) AS step, COUNT(*) AS failed
        FROM otel.spans WHERE status_code = 'ERROR' GROUP BY step`,
    },
  },
  {
    asks: 'Which operation is the busiest of each service?',
    sql: `SELECT service_name, name, n FROM (
        SELECT service_name, name, n, row_number() OVER (PARTITION BY service_name ORDER BY n DESC, name) AS place
        FROM (SELECT service_name, name, count(*) AS n FROM otel.spans GROUP BY service_name, name) AS counted
      ) AS ranked WHERE place = 1`,
  },
  {
    asks: 'What happened in the slowest trace that failed?',
    sql: `SELECT service_name, name, kind, status_code, duration_nano, time FROM otel.spans
      WHERE trace_id = (SELECT trace_id FROM otel.spans WHERE status_code = 'ERROR' AND parent_span_id = ''
        ORDER BY duration_nano DESC, trace_id LIMIT 1)`,
  },
  {
    asks: "Which services' error logs belong to failed spans, and to how many traces?",
    sql: `SELECT l.service_name, count(*) AS lines, count(DISTINCT s.trace_id) AS traces
      FROM otel.logs AS l JOIN otel.spans AS s ON s.trace_id = l.trace_id AND s.span_id = l.span_id
      WHERE l.severity_number >= 17 AND s.status_code = 'ERROR' GROUP BY l.service_name`,
  },
  {
    asks: 'Which kinds of error lines are there, numbers aside?',
    sql: {
      duckdb: `SELECT regexp_replace(body, '[0-9]+', '#', 'g') AS line, count(*) AS n
        FROM otel.logs WHERE severity_number >= 17 GROUP BY line`,
      postgres: `SELECT regexp_replace(body, '[0-9]+', '#', 'g') AS line, count(*) AS n
        FROM otel.logs WHERE severity_number >= 17 GROUP BY line`,
      clickhouse: `SELECT replaceRegexpAll(body, '[0-9]+', '#') AS line, count() AS n
        FROM otel.logs WHERE severity_number >= 17 GROUP BY line`,
      bigquery: `SELECT REGEXP_REPLACE(body, '[0-9]+', '#') AS line, COUNT(*) AS n
        FROM otel.logs WHERE severity_number >= 17 GROUP BY line`,
    },
  },
  {
    asks: 'Which answers did each route give?',
    sql: {
      duckdb: `SELECT attributes['http.route'] AS route, attributes['http.response.status_code'] AS status, count(*) AS n
        FROM otel.spans WHERE kind = 'SERVER' AND attributes['http.route'] <> '' GROUP BY route, status`,
      postgres: `SELECT attributes->>'http.route' AS route, attributes->>'http.response.status_code' AS status,
        count(*) AS n FROM otel.spans WHERE kind = 'SERVER' AND attributes->>'http.route' <> '' GROUP BY route, status`,
      clickhouse: `SELECT attributes['http.route'] AS route, attributes['http.response.status_code'] AS status,
        count() AS n FROM otel.spans WHERE kind = 'SERVER' AND attributes['http.route'] <> '' GROUP BY route, status`,
      bigquery: `SELECT JSON_VALUE(attributes, '$."http.route"') AS route,
        JSON_VALUE(attributes, '$."http.response.status_code"') AS status, COUNT(*) AS n
        FROM otel.spans WHERE kind = 'SERVER' AND JSON_VALUE(attributes, '$."http.route"') <> '' GROUP BY route, status`,
    },
  },
  {
    asks: 'How high did each gauge go?',
    sql: "SELECT service_name, name, max(value) AS highest FROM otel.metrics WHERE type = 'gauge' GROUP BY service_name, name",
  },
  {
    asks: "What is the mean of each service's requests by its histograms?",
    sql: `SELECT service_name, sum(sum) / sum(count) AS mean FROM otel.metrics
      WHERE name = 'http.server.request.duration' GROUP BY service_name`,
  },
  {
    asks: 'Which exceptions do the spans carry?',
    sql: {
      duckdb: `SELECT e.attributes['exception.type'] AS exception, count(*) AS n
        FROM (SELECT unnest(events) AS e FROM otel.spans) AS u WHERE e.name = 'exception' GROUP BY exception`,
      postgres: `SELECT e->'attributes'->>'exception.type' AS exception, count(*) AS n
        FROM otel.spans AS s CROSS JOIN LATERAL jsonb_array_elements(s.events) AS e
        WHERE e->>'name' = 'exception' GROUP BY exception`,
      clickhouse: `SELECT e.attributes['exception.type'] AS exception, count() AS n
        FROM otel.spans ARRAY JOIN events AS e WHERE e.name = 'exception' GROUP BY exception`,
      bigquery: `SELECT JSON_VALUE(e.attributes, '$."exception.type"') AS exception, COUNT(*) AS n
        FROM otel.spans AS s CROSS JOIN UNNEST(s.events) AS e WHERE e.name = 'exception' GROUP BY exception`,
    },
  },
];

/** A trace as a tree from its root down: the commonest use of WITH RECURSIVE. */
const traceTree = `WITH RECURSIVE tree AS (
    SELECT span_id, service_name, name, 0 AS depth FROM otel.spans WHERE parent_span_id = ''
      AND trace_id = (SELECT max(trace_id) FROM otel.spans WHERE status_code = 'ERROR')
    UNION ALL
    SELECT s.span_id, s.service_name, s.name, t.depth + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.span_id
  ) SELECT depth, service_name, name, count(*) AS n FROM tree GROUP BY depth, service_name, name`;

/** With names for the columns of the recursive query. */
const namedTree = traceTree
  .replace('tree AS', 'tree (span_id, service, operation, level) AS')
  .replace('t.depth + 1', 't.level + 1')
  .replace(
    /SELECT depth, .*$/,
    'SELECT level, service, operation, count(*) AS n FROM tree GROUP BY level, service, operation',
  );

/** The minute of a row. */
const minutes: Readonly<Record<Engine, string>> = {
  duckdb: "date_trunc('minute', time)",
  postgres: "date_trunc('minute', time)",
  clickhouse: 'toStartOfMinute(time)',
  bigquery: 'TIMESTAMP_TRUNC(time, MINUTE)',
};

function inEach(sql: (minute: string) => string): Readonly<Record<Engine, string>> {
  const { duckdb, postgres, clickhouse, bigquery } = minutes;
  return { duckdb: sql(duckdb), postgres: sql(postgres), clickhouse: sql(clickhouse), bigquery: sql(bigquery) };
}

/** What models write alike in every dialect: moments as the service prints them, trees of spans. */
export function sharedQuestions(end: Date): readonly Question[] {
  const at = (minute: number, fraction = '.000Z') =>
    new Date(end.getTime() + minute * 60_000).toISOString().replace('.000Z', fraction);
  const spans = (condition: string) =>
    `SELECT service_name, count(*) AS n FROM otel.spans AS s WHERE ${condition} GROUP BY service_name`;
  return [
    { asks: 'Since a moment in UTC?', sql: spans(`time >= '${at(-10, 'Z')}'`) },
    { asks: 'Since a moment with milliseconds?', sql: spans(`'${at(-10, '.467Z')}' < time`) },
    { asks: 'Between +00:00 and an end?', sql: spans(`time >= '${at(-10, '+00:00')}' AND end_time < '${at(-5)}'`) },
    { asks: 'Between two moments?', sql: spans(`s.time BETWEEN '${at(-10, 'Z')}' AND '${at(-5)}'`) },
    { asks: 'Not between two moments?', sql: spans(`s.time NOT BETWEEN '${at(-10, 'Z')}' AND '${at(-5)}'`) },
    { asks: 'In one of two minutes?', sql: inEach((minute) => spans(`${minute} IN ('${at(-10, 'Z')}', '${at(-9)}')`)) },
    {
      asks: 'In minutes under a name?',
      sql: inEach(
        (minute) =>
          `SELECT since, n FROM (SELECT ${minute} AS since, count(*) AS n FROM otel.spans GROUP BY 1) AS counted WHERE since >= '${at(-10, 'Z')}'`,
      ),
    },
    { asks: 'A text that looks like a moment?', sql: spans(`name <> '${at(-10, 'Z')}'`) },
    { asks: 'What called what in a trace?', sql: traceTree },
    { asks: 'What called what, by other names?', sql: namedTree },
    {
      asks: 'How many of each, by other names?',
      sql: 'WITH counted(what, n) AS (SELECT kind, count(*) FROM otel.spans GROUP BY kind) SELECT what, n FROM counted',
    },
  ];
}

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dialectOf as bigqueryDialect } from '../plugins/telemetry-bigquery/dialect.ts';
import { legitimate as bigqueryLegitimate } from '../plugins/telemetry-bigquery/support/legitimate.ts';
import { legitimate as clickhouseLegitimate } from '../plugins/telemetry-clickhouse/support/legitimate.ts';
import { dialect, ownTables } from '../plugins/telemetry-duckdb/dialect.ts';
import { legitimate as duckdbLegitimate } from '../plugins/telemetry-duckdb/support/legitimate.ts';
import { PostgresDialect } from '../plugins/telemetry-postgres/dialect.ts';
import { functionNames } from '../plugins/telemetry-postgres/gate/functions.ts';
import { legitimate as postgresLegitimate } from '../plugins/telemetry-postgres/support/legitimate.ts';
import { servedTables } from '../src/contract/telemetry/index.ts';
import { describeTable } from '../src/telemetry/query/catalog.ts';
import { cautionsOf, heed } from '../src/telemetry/query/cautions.ts';
import { cureHabits } from '../src/telemetry/query/habits/index.ts';
import { sqlManual } from '../src/tools/query-otel/render.ts';
import { mistakes } from './support/mistakes.ts';

const columns = new Map(dialect.tables.map((table) => [table.name, table.columns.map(({ name }) => name)] as const));
const cured = (sql: string) => cureHabits({ sql, dialect, columns, error: { code: 'sql_failed', message: '' } });
const cautions = (sql: string) => cautionsOf(sql, ['spans', 'logs', 'metrics'], dialect);

describe('cautions', () => {
  it.each([
    "SELECT count(*) FROM otel.spans WHERE status_code = 'ERROR' AND kind IN ('SERVER', 'CLIENT')",
    "SELECT count(*) FROM otel.spans WHERE lower(status_code) = 'error'",
    "SELECT attributes['kind'] AS kind, count(*) FROM otel.spans GROUP BY 1 HAVING kind = 'cat'",
    "SELECT attributes['kind'] kind, count(*) FROM otel.spans GROUP BY 1 HAVING kind = 'cat'",
    'SELECT service_name, count(*) FROM otel.spans GROUP BY ROLLUP (service_name) HAVING service_name IS NULL',
    "SELECT count(*) FROM otel.metrics WHERE aggregation_temporality = ''",
    'SELECT a.trace_id FROM otel.spans a LEFT JOIN otel.spans b ON b.parent_span_id = a.span_id WHERE b.span_id IS NULL',
    'SELECT count(*) FROM otel.metrics WHERE value IS NULL',
    "SELECT count(*) FROM otel.logs WHERE body = 'status_code = 2' -- kind = 2",
    "SELECT count(*) FROM otel.logs WHERE severity_text = 'ERROR'",
    // A status code's class, and what is a list here too.
    "SELECT attributes['http.response.status_code'][1] || 'xx' AS class, count(*) FROM otel.spans GROUP BY 1",
    "SELECT count(*) FROM otel.spans WHERE attributes['http.response.status_code'][1] IN ('4', '5')",
    "SELECT map_extract(attributes, 'http.route')[1] FROM otel.spans",
    "SELECT attributes['http.route'][1:5], events[1].name FROM otel.spans",
    "SELECT count(*) FROM otel.spans WHERE upper(trace_id) = '4BF92F3577B34DA6A3CE929D0E0E4736'",
    "SELECT time AT TIME ZONE 'UTC', time AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo' FROM otel.logs WHERE time > date_trunc('day', now() AT TIME ZONE 'Asia/Tokyo')",
    "SELECT count(*) FROM otel.logs WHERE severity_number = '17'",
    "SELECT count(*) FROM otel.spans WHERE name ~ '^(GET|POST)$' OR name ~ '.*cart.*' OR name ~ '^/api/.*' OR name ~ kind",
    "SELECT count(*) FROM otel.logs WHERE severity_text = 'WARNING'",
  ])('has nothing to say of %s', (sql) => {
    expect(cautions(sql)).toEqual([]);
  });

  it.each([
    ['duckdb', dialect, duckdbLegitimate],
    ['postgres', new PostgresDialect(functionNames), postgresLegitimate],
    ['clickhouse', { ...dialect, name: 'clickhouse' }, clickhouseLegitimate],
    ['bigquery', bigqueryDialect(dialect.tables, 'flat'), bigqueryLegitimate],
  ] as const)('have nothing to say of what is right in %s', (_name, of, statements) => {
    const said = statements.flatMap(({ sql }) =>
      cautionsOf(sql, ['spans', 'logs', 'metrics'], of).map(({ text }) => `${sql}: ${text}`),
    );
    expect(said).toEqual([]);
  });

  it.each([
    ["SELECT 1 FROM otel.spans WHERE 'error' = status_code", "SELECT 1 FROM otel.spans WHERE 'ERROR' = status_code"],
    [
      "SELECT 1 FROM otel.spans AS s WHERE s.kind NOT IN ('SPAN_KIND_SERVER', 3)",
      "SELECT 1 FROM otel.spans AS s WHERE s.kind NOT IN ('SERVER', 'CLIENT')",
    ],
    [
      'SELECT 1 FROM otel.spans WHERE parent_span_id IS NOT NULL',
      "SELECT 1 FROM otel.spans WHERE parent_span_id <> ''",
    ],
    [
      "SELECT 1 FROM otel.spans s WHERE s.name ~ '^GET ' AND name ~ 'cart$' AND s.attributes['http.route'] ~ 'cart'",
      "SELECT 1 FROM otel.spans s WHERE regexp_matches(s.name, '^GET ') AND regexp_matches(name, 'cart$') AND regexp_matches(s.attributes['http.route'], 'cart')",
    ],
    [
      "SELECT 1 FROM otel.logs WHERE lower(body) ~ 'a.*b' AND (body || '') !~ 'c|d'",
      "SELECT 1 FROM otel.logs WHERE regexp_matches(lower(body), 'a.*b') AND NOT regexp_matches((body || ''), 'c|d')",
    ],
    [
      "SELECT date_trunc('day', s.time AT TIME ZONE 'Asia/Tokyo'), max(end_time) AT TIME ZONE 'America/New_York' FROM otel.spans s",
      "SELECT date_trunc('day', s.time AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'), max(end_time) AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York' FROM otel.spans s",
    ],
    ["SELECT attributes['a.b'][1] FROM otel.spans", "SELECT attributes['a.b'] FROM otel.spans"],
    [
      "SELECT (s.resource_attributes['a'])[1] FROM otel.spans s",
      "SELECT (s.resource_attributes['a']) FROM otel.spans s",
    ],
    ["SELECT events[1].attributes['a'][-1] FROM otel.spans", "SELECT events[1].attributes['a'] FROM otel.spans"],
    [
      "SELECT 1 FROM otel.spans WHERE trace_id IN ('4BF92F35-77B3-4DA6-A3CE-929D0E0E4736') OR span_id = '0x00F067AA0BA902B7'",
      "SELECT 1 FROM otel.spans WHERE trace_id IN ('4bf92f3577b34da6a3ce929d0e0e4736') OR span_id = '00f067aa0ba902b7'",
    ],
    ["SELECT 1 FROM otel.logs WHERE severity_number = 'ERROR'", 'SELECT 1 FROM otel.logs WHERE severity_number >= 17'],
    [
      "SELECT 1 FROM otel.logs WHERE severity_number > 'info' AND severity_number <> 'Warning'",
      'SELECT 1 FROM otel.logs WHERE severity_number > 12 AND severity_number NOT BETWEEN 13 AND 16',
    ],
    [
      "SELECT 1 FROM otel.logs WHERE severity_number NOT IN ('DEBUG', 9)",
      'SELECT 1 FROM otel.logs WHERE severity_number NOT IN (5, 6, 7, 8, 9)',
    ],
  ])('mends %s', (sql, mended) => {
    expect(heed(sql, cautions(sql))).toBe(mended);
  });
});

describe('a share in PostgreSQL', () => {
  const of = new PostgresDialect(functionNames);
  const heeded = (share: string) => {
    const sql = `SELECT ${share} FROM otel.spans`;
    return heed(sql, cautionsOf(sql, ['spans'], of)).replace(/^SELECT (.*) FROM otel.spans$/, '$1');
  };
  const ones = (condition: string) => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
  const failed = "status_code = 'ERROR'";

  it.each([
    [`count(*) FILTER (WHERE ${failed}) / count(*)`, `(count(*) FILTER (WHERE ${failed}))::float8 / count(*)`],
    [`${ones(failed)} / count(*)`, `(${ones(failed)})::float8 / count(*)`],
    [
      `CASE WHEN ${ones(failed)} / count(*) > 0.05 THEN 1 END`,
      `CASE WHEN (${ones(failed)})::float8 / count(*) > 0.05 THEN 1 END`,
    ],
    [`0.05 < ${ones(failed)} / count(*)`, `0.05 < (${ones(failed)})::float8 / count(*)`],
    [
      `100 * SUM(CASE WHEN ${failed} THEN 1 END) / NULLIF(COUNT(*), 0)`,
      `(100 * SUM(CASE WHEN ${failed} THEN 1 END))::float8 / NULLIF(COUNT(*), 0)`,
    ],
    [`sum((${failed})::int) / count(*)`, `(sum((${failed})::int))::float8 / count(*)`],
  ])('of whole numbers is warned of: %s', (share, mended) => {
    expect(heeded(share)).toBe(mended);
  });

  it.each([
    'sum(duration_nano) / count(*)',
    `sum(CASE WHEN ${failed} THEN duration_nano ELSE 0 END) / count(*)`,
    `sum(CASE WHEN ${failed} THEN 1 * duration_nano END) / count(*)`,
    `100.0 * ${ones(failed)} / count(*)`,
    `${ones(failed)}::numeric / count(*)`,
    `${ones(failed)} / count(*)::float`,
  ])('that is a fraction is not: %s', (share) => {
    expect(heeded(share)).toBe(share);
  });
});

describe('a pattern', () => {
  it.each(['%'.repeat(39), '%_'.repeat(19), '%a'.repeat(19), '_'.repeat(39)])(
    'made to take long is judged at once: %s',
    (pattern) => {
      for (const column of ['status_code', 'type']) {
        cautions(`SELECT 1 FROM otel.spans WHERE ${column} LIKE '${pattern}x'`);
        cured(`SELECT 1 FROM otel.spans WHERE ${column} LIKE '${pattern}x'`);
      }
    },
  );

  it('of the wrong case is told, and one that matches is not', () => {
    const said = (pattern: string) => cautions(`SELECT 1 FROM otel.spans WHERE kind LIKE '${pattern}'`);
    expect(said('Serv%').map(({ text }) => text)).toEqual([expect.stringContaining("Write 'SERV%' in its place.")]);
    expect([said('%RVE%'), said('SERVE_'), said('%')]).toEqual([[], [], []]);
  });
});

describe('a column that a warehouse has nothing for', () => {
  const mapping = {
    preset: undefined,
    tables: ownTables.tables,
    empties: [{ table: 'spans', column: 'status_code' }],
  } as const;
  const of = { ...dialect, tables: servedTables(mapping) };

  it('is warned of where a statement names it, described so, and marked in the manual', () => {
    const sql = "SELECT count(*) FROM otel.spans WHERE status_code = 'ERROR' AND kind = 'SERVER'";
    expect(cautionsOf(sql, ['spans'], of).map(({ text }) => text)).toEqual([
      'status_code is empty in every row of this warehouse. Write the statement without it.',
    ]);
    const { rows } = describeTable(of, 'spans', 'status_code', undefined);
    expect(rows).toEqual([
      ['status_code', 'VARCHAR', false, false, expect.stringMatching(/; empty in this warehouse$/)],
    ]);
    expect(sqlManual(of)).toContain('status_code (empty in this warehouse)');
  });
});

describe('what is said of a value', () => {
  it('leaves the condition as it is: followed to the letter, a negation stays one', () => {
    for (const condition of ["kind <> 'server'", "kind NOT IN ('server')", "kind = 'server'"]) {
      const [caution] = cautions(`SELECT count(*) FROM otel.spans WHERE ${condition}`);
      expect(caution?.text).toContain("Write 'SERVER' in its place.");
    }
  });
});

describe('advice', () => {
  it.each([
    'SELECT approx_count_distinct(service_name) FROM otel.spans',
    'SELECT quantiles(0.5, 0.9)(duration_nano) FROM otel.spans',
    'SELECT system, nonsense FROM otel.spans',
    'SELECT 1 FROM otel.spans a JOIN otel.spans b ON a.trace_id = "b"."trace_id"',
    'SELECT 1 FROM otel.spans WHERE span_id = "trace_id"',
  ])('is not given of %s', (sql) => {
    expect(cured(sql)).toBeUndefined();
  });

  it.each([
    ['duckdb', dialect, duckdbLegitimate],
    ['postgres', new PostgresDialect(functionNames), postgresLegitimate],
  ] as const)('leaves what is right in %s as it is, whatever else is wrong', (_name, of, statements) => {
    const all = [...statements, ...of.examples].map(({ sql }) => sql);
    // Keys of a map are listed by a command, and what UNPIVOT names is not told from a column.
    const right = all.filter((sql) => !/map_keys|object_keys|UNPIVOT/.test(sql));
    expect(right.length).toBeGreaterThan(50);
    for (const code of ['sql_failed', 'unknown_column'] as const) {
      const said = right.flatMap((sql) => {
        const cure = cureHabits({ sql, dialect: of, columns, error: { code, message: '' } });
        return cure === undefined ? [] : `${sql}: ${cure.advice}`;
      });
      expect(said).toEqual([]);
    }
  });

  it.each([
    ['duckdb', dialect],
    ['postgres', new PostgresDialect(functionNames)],
  ])('says nothing of an interval that is right in %s', (_name, of) => {
    const sql = "SELECT name FROM otel.spans WHERE time > NOW() - INTERVAL '30 minutes' AND name + 1 > 2";
    expect(cureHabits({ sql, dialect: of, columns, error: { code: 'sql_failed', message: '' } })).toBeUndefined();
  });

  it.each([
    // A position, not whether there is one; an array with what is double; a table that only sounds like one.
    "SELECT strpos2(body, 'a') FROM otel.logs",
    "SELECT positionCaseInsensitive(body, 'a') FROM otel.logs",
    'SELECT topK(name) FROM otel.spans',
    'SELECT 1 FROM product_catalog',
    // Places in the list of SELECT, and rows that DISTINCT has merged.
    'SELECT name, kind FROM otel.spans ORDER BY 1 LIMIT 1 BY kind',
    'SELECT DISTINCT name, kind FROM otel.spans ORDER BY name LIMIT 1 BY kind',
    'SELECT rate(value) FROM otel.metrics',
    "SELECT attributes['format'] AS format, 1 FROM otel.spans ORDER BY 2, format DESC",
    'SELECT 1 FROM otel.spans WHERE end_time - start_time > 1000000000',
    // Another time zone, several fractions, and a weight.
    "SELECT toStartOfDay(time, 'Asia/Tokyo') FROM otel.spans",
    'SELECT percentile_approx(duration_nano, array(0.5, 0.95)) FROM otel.spans',
    'SELECT quantileExactWeighted(0.95)(duration_nano, flags) FROM otel.spans',
  ])('does not change what is meant: %s', (sql) => {
    expect(cured(sql)?.sql).toBeUndefined();
  });

  it.each([
    [
      "SELECT name, count(*) FROM otel.spans WHERE name = 'salt and pepper' AND count(*) > 1 GROUP BY name",
      "SELECT name, count(*) FROM otel.spans WHERE name = 'salt and pepper' GROUP BY name HAVING count(*) > 1",
    ],
    [
      "SELECT 1 FROM otel.logs WHERE positionCaseInsensitive(body, 'Time-Out') > 0",
      "SELECT 1 FROM otel.logs WHERE lower(body) LIKE '%time-out%'",
    ],
    [
      "SELECT l.timestamp, max(date) FROM traces l WHERE timestamp > TIMESTAMP '2026-01-01' AND time::date > '2026-01-01'",
      "SELECT l.time, max(time) FROM otel.spans l WHERE time > TIMESTAMP '2026-01-01' AND time::date > '2026-01-01'",
    ],
    ['Here it is:\n```sql\nSELECT 1 FROM logs\n```\nas you wished', 'SELECT 1 FROM otel.logs'],
    ['SELECT 1 FROM "otel.logs" l', 'SELECT 1 FROM otel.logs l'],
    ["SELECT 1 FROM 'otel.spans'", 'SELECT 1 FROM otel.spans'],
    [
      'SELECT s.name, e.name FROM otel.spans AS s LEFT ARRAY JOIN s.events AS e LIMIT 1',
      'SELECT s.name, e.name FROM otel.spans AS s LEFT JOIN UNNEST(s.events) AS t(e) ON true LIMIT 1',
    ],
    ['SELECT e.name FROM otel.spans ARRAY JOIN events AS e', 'SELECT e.name FROM otel.spans, UNNEST(events) AS t(e)'],
    [
      "SELECT t.name, event.timestamp, event['a.b'], event.c.d FROM otel.spans t CROSS JOIN UNNEST(t.events) AS event",
      "SELECT t.name, event.time, event.attributes['a.b'], event.attributes['c.d'] FROM otel.spans t CROSS JOIN UNNEST(t.events) AS items(event)",
    ],
    [
      'SELECT l.unnest.trace_id, unnest.span_id FROM otel.spans, UNNEST(links) l',
      'SELECT l.trace_id, l.span_id FROM otel.spans, UNNEST(links) t(l)',
    ],
    [
      'SELECT q.quantile, q.val FROM otel.metrics CROSS JOIN UNNEST(quantile_values) q',
      'SELECT q.quantile, q.value FROM otel.metrics CROSS JOIN UNNEST(quantile_values) t(q)',
    ],
    ["SELECT unnest(events)['a.b'] FROM otel.spans", "SELECT unnest(events).attributes['a.b'] FROM otel.spans"],
    [
      "SELECT multiIf(kind = 'SERVER', 1, kind = 'CLIENT', 2, 3) FROM otel.spans",
      "SELECT CASE WHEN kind = 'SERVER' THEN 1 WHEN kind = 'CLIENT' THEN 2 ELSE 3 END FROM otel.spans",
    ],
    [
      'SELECT groupArray(name), topK(3)(name) FROM otel.spans',
      'SELECT list(name), approx_top_k(name, 3) FROM otel.spans',
    ],
    [
      "SELECT 1 FROM otel.logs WHERE coalesce(attributes['a'], '') ~* 'x' AND attributes['b'] !~* 'y'",
      "SELECT 1 FROM otel.logs WHERE regexp_matches(coalesce(attributes['a'], ''), '(?i)x') AND NOT regexp_matches(attributes['b'], '(?i)y')",
    ],
    ["SELECT 1 FROM otel.logs WHERE has(body, 'a_b')", "SELECT 1 FROM otel.logs WHERE contains(body, 'a_b')"],
    [
      "SELECT 1 FROM otel.spans PREWHERE kind = 'SERVER' OR kind = 'CLIENT' WHERE name = 'a' GROUP BY name FORMAT JSON",
      "SELECT 1 FROM otel.spans WHERE (kind = 'SERVER' OR kind = 'CLIENT') AND (name = 'a') GROUP BY name",
    ],
    [
      'SELECT name, count(*) AS n FROM otel.spans GROUP BY name, kind ORDER BY n DESC LIMIT 2 BY kind LIMIT 9 SETTINGS max_threads = 1',
      'SELECT name, count(*) AS n FROM otel.spans GROUP BY name, kind QUALIFY row_number() OVER (PARTITION BY kind ORDER BY n DESC) <= 2 ORDER BY n DESC LIMIT 9',
    ],
    [
      'SELECT 1 FROM otel.spans WHERE duration_nano > 500ms AND duration_nano < 1.5 seconds',
      'SELECT 1 FROM otel.spans WHERE duration_nano > 500000000 AND duration_nano < 1500000000',
    ],
    [
      'SELECT s.duration_ms FROM spans s WHERE latency_ms > 500 AND duration_us > 7 AND 1 < s.duration_seconds',
      'SELECT (s.duration_nano / 1e6) FROM otel.spans s WHERE (duration_nano / 1e6) > 500 AND (duration_nano / 1e3) > 7 AND 1 < (s.duration_nano / 1e9)',
    ],
    [
      'SELECT max(duration), max(duration_ns) FROM spans',
      'SELECT max(duration_nano), max(duration_nano) FROM otel.spans',
    ],
    // A condition in brackets belongs to what is counted.
    [
      "SELECT name, count(*) FILTER (WHERE status_code = 'ERROR') / count(*) AS rate FROM spans WHERE kind = 'SERVER' GROUP BY name ORDER BY rate",
      "SELECT name, count(*) FILTER (WHERE status_code = 'ERROR') / count(*) AS rate FROM otel.spans WHERE kind = 'SERVER' GROUP BY name ORDER BY rate",
    ],
    [
      "SELECT name, count(*) FILTER (WHERE kind = 'SERVER') AS n FROM otel.spans WHERE name <> 'a' AND count(*) > 1 GROUP BY name",
      "SELECT name, count(*) FILTER (WHERE kind = 'SERVER') AS n FROM otel.spans WHERE name <> 'a' GROUP BY name HAVING count(*) > 1",
    ],
    [
      "SELECT 1 FROM otel.logs WHERE regexp_like(body, 'Time-?Out', 'i') AND match(body, 'a')",
      "SELECT 1 FROM otel.logs WHERE regexp_matches(body, '(?i)Time-?Out') AND regexp_matches(body, 'a')",
    ],
    [
      "SELECT quantileIf(0.95)(duration_nano, kind = 'SERVER') FROM otel.spans WHERE kind = ANY(ARRAY['SERVER'])",
      "SELECT quantile_cont(CASE WHEN kind = 'SERVER' THEN duration_nano END, 0.95) FROM otel.spans WHERE kind = ANY(ARRAY['SERVER'])",
    ],
    [
      "SELECT 1 FROM otel.spans s WHERE NOT mapContains(attributes, 'a.b') AND NOT (s.attributes ? 'c') AND has(attributes, 'd')",
      "SELECT 1 FROM otel.spans s WHERE NOT coalesce(attributes['a.b'], '') <> '' AND NOT (coalesce(s.attributes['c'], '') <> '') AND attributes['d'] <> ''",
    ],
    // Of a time that is right nothing is said, and nothing of it is lost.
    [
      "SELECT 1 FROM spans WHERE time > NOW() - INTERVAL '1 hour 30 minutes' OR time > now() - interval '1.5 days'",
      "SELECT 1 FROM otel.spans WHERE time > NOW() - INTERVAL '1 hour 30 minutes' OR time > now() - interval '1.5 days'",
    ],
    [
      "SELECT 1 FROM spans WHERE time > current_date - 7 AND time > now() - '2 days'::interval",
      "SELECT 1 FROM otel.spans WHERE time > current_date - 7 AND time > now() - '2 days'::interval",
    ],
    ["SELECT 1 FROM spans WHERE time > now() - '1h 30m'", "SELECT 1 FROM otel.spans WHERE time > now() - '1h 30m'"],
    [
      "SELECT 1 FROM spans WHERE time > now() - 30 * INTERVAL '1 minute'",
      "SELECT 1 FROM otel.spans WHERE time > now() - 30 * INTERVAL '1 minute'",
    ],
  ])('mends %s', (sql, mended) => {
    expect(cured(sql)?.sql).toBe(mended);
  });

  it.each([
    // Types, names of moments and of clauses are no columns.
    [
      "SELECT service, (attributes->>'a')::int, name COLLATE NOCASE FROM otel.spans WHERE (attributes->>'b')::float8 > 1",
      "SELECT service_name, (attributes->>'a')::int, name COLLATE NOCASE FROM otel.spans WHERE (attributes->>'b')::float8 > 1",
    ],
    [
      'SELECT level, body::text FROM otel.logs WHERE time::date = current_date WINDOW w AS (ORDER BY time)',
      'SELECT severity_text, body::text FROM otel.logs WHERE time::date = current_date WINDOW w AS (ORDER BY time)',
    ],
    // Neither are names that the statement gives.
    [
      'WITH traces AS (SELECT operation FROM otel.spans), points AS MATERIALIZED (SELECT 1) SELECT * FROM traces, points',
      'WITH traces AS (SELECT name FROM otel.spans), points AS MATERIALIZED (SELECT 1) SELECT * FROM traces, points',
    ],
    [
      'WITH RECURSIVE tree(id, level) AS (SELECT span_name, 0 FROM otel.spans) SELECT t.id, level FROM tree AS t',
      'WITH RECURSIVE tree(id, level) AS (SELECT name, 0 FROM otel.spans) SELECT t.id, level FROM tree AS t',
    ],
    [
      'SELECT metric, u.bound FROM otel.metrics m, unnest(m.bucket_counts, m.explicit_bounds) AS u(bucket, bound)',
      'SELECT name, u.bound FROM otel.metrics m, unnest(m.bucket_counts, m.explicit_bounds) AS u(bucket, bound)',
    ],
    [
      "SELECT operation, duration_nano/1e6 duration_ms, status_code = 'ERROR' AS is_error, CASE WHEN true THEN 1 END error FROM otel.spans ORDER BY duration_ms, is_error, error",
      "SELECT name, duration_nano/1e6 duration_ms, status_code = 'ERROR' AS is_error, CASE WHEN true THEN 1 END error FROM otel.spans ORDER BY duration_ms, is_error, error",
    ],
  ])('mends the wrong name alone in %s', (sql, mended) => {
    for (const engine of [dialect, new PostgresDialect(functionNames)]) {
      const cure = cureHabits({ sql, dialect: engine, columns, error: { code: 'unknown_column', message: '' } });
      expect(cure?.sql).toBe(mended);
    }
  });

  it.each([
    ['duckdb', "to_char(time, 'yyyy-mm-dd hh24:mi')", "strftime(time, '%Y-%m-%d %H:%M')"],
    ['duckdb', `to_char(time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`, "strftime(time, '%Y-%m-%dT%H:%M:%SZ')"],
    ['duckdb', "to_char(time, 'Mon DD HH12:MI AM')", "strftime(time, '%b %d %I:%M %p')"],
    ['duckdb', "date_format(time, 'yyyy-MM-dd HH:mm:ss')", "strftime(time, '%Y-%m-%d %H:%M:%S')"],
    ['postgres', "strftime(time, '%Y-%m-%dT%H:%M:00Z')", `to_char(time, 'YYYY-MM-DD"T"HH24:MI:00"Z"')`],
    ['postgres', "date_format(time, '%b %d at %H:%i')", `to_char(time, 'Mon DD "at" HH24:MI')`],
    // Of thousandths, months in full and other time zones there are no letters that all have.
    ['duckdb', "to_char(time, 'HH24:MI:SS.MS')", undefined],
    ['duckdb', "to_char(time, 'Month DD')", undefined],
    ['duckdb', "date_format(time, 'HH:mm:ss.SSS')", undefined],
    ['postgres', "formatDateTime(time, '%H:%i', 'Asia/Tokyo')", undefined],
    ['postgres', "FORMAT_TIMESTAMP('%H:%M:%E3S', time)", undefined],
  ])('writes in %s of %s the same text of a time', (name, written, mended) => {
    const of = name === 'duckdb' ? dialect : new PostgresDialect(functionNames);
    const error = { code: 'unknown_function', message: '' } as const;
    const cure = cureHabits({ sql: `SELECT ${written} FROM otel.logs`, dialect: of, columns, error });
    expect(cure?.sql).toBe(mended && `SELECT ${mended} FROM otel.logs`);
  });

  it('is given of nothing that is longer than it is worth, and throws at nothing', () => {
    const pieces = [
      'kind',
      ' in (',
      "'",
      '"',
      '`',
      '/*',
      '--\n',
      'unnest(',
      'quantile(',
      '.',
      'attributes',
      '~*',
      '1',
      ')',
    ];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 60 }), (parts) => {
        const sql = parts.join(' ');
        cautions(sql);
        cured(sql);
      }),
    );
    for (const piece of pieces) {
      expect(cured(piece.repeat(20_000))).toBeUndefined();
      expect(cautions(piece.repeat(20_000))).toEqual([]);
    }
  });

  it('comes to an end: what is mended needs no more of it', () => {
    for (const sql of mistakes) {
      const cure = cured(sql);
      if (cure?.sql !== undefined) expect(cured(cure.sql)).toBeUndefined();
      expect(cautions(heed(sql, cautions(sql))).filter(({ edit }) => edit !== undefined)).toEqual([]);
    }
  });
});

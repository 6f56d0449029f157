import { describe, expect, it } from '@jest/globals';
import { sqlGates } from '../../../src/telemetry/gate/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { policy } from './policy.ts';

const hour = 3_600_000;
const day = 24 * hour;
const at = (text: string) => ({ at: new Date(text) });
/** `now()` has whole seconds. */
const second = 1_000;

async function reaches(sql: string) {
  const gate = await sqlGates.open(policy, sqlHelpers);
  return (await gate.admit(sql, new AbortController().signal)).reaches;
}

describe("what ClickHouse's statements leave of a table", () => {
  it.each([
    ['time > now() - INTERVAL 1 HOUR', { start: { fromNowMs: -hour - second } }],
    ['time >= now() - toIntervalDay(2)', { start: { fromNowMs: -2 * day - second } }],
    ['time >= subtractMinutes(now(), 30)', { start: { fromNowMs: -hour / 2 - second } }],
    ['time >= date_sub(HOUR, 3, now())', { start: { fromNowMs: -3 * hour - second } }],
    ["time >= now() - INTERVAL '90 minute'", { start: { fromNowMs: -1.5 * hour - second } }],
    ['time > now64(3) - INTERVAL 1 WEEK', { start: { fromNowMs: -7 * day - second } }],
    ['time >= now() - INTERVAL 1 MONTH', { start: { fromNowMs: -31 * day - second } }],
    ['time >= toStartOfHour(now())', { start: { fromNowMs: -hour - second } }],
    ['time > now() - 3600', { start: { fromNowMs: -hour - second } }],
    ['time > today() - 7', { start: { fromNowMs: -8 * day } }],
    ['time >= today()', { start: { fromNowMs: -day } }],
    ['time >= yesterday() AND time < today()', { start: { fromNowMs: -2 * day }, end: { fromNowMs: 0 } }],
    [
      "time >= '2026-01-02 03:04:05' AND time < '2026-01-03'",
      { start: at('2026-01-02T03:04:05Z'), end: at('2026-01-03T00:00:00Z') },
    ],
    ["time >= toDateTime64('2026-01-02 03:04:05.5', 9, 'UTC')", { start: at('2026-01-02T03:04:05.499Z') }],
    ["time <= parseDateTimeBestEffort('2026-01-02T03:04:05+02:00')", { end: at('2026-01-02T01:04:05.001Z') }],
    [
      "time BETWEEN toDateTime('2026-01-02 00:00:00') AND toDateTime('2026-01-03 00:00:00')",
      { start: at('2026-01-01T23:59:59Z'), end: at('2026-01-03T00:00:00.001Z') },
    ],
    [
      'time >= fromUnixTimestamp(1700000000) AND time < fromUnixTimestamp64Milli(1700000001000)',
      { start: at('2023-11-14T22:13:20Z'), end: at('2023-11-14T22:13:21Z') },
    ],
    ["'2026-01-02 00:00:00' <= time", { start: at('2026-01-02T00:00:00Z') }],
    [
      "time > '2026-01-01 00:00:00' AND time > '2026-01-02 00:00:00' AND name = 'x'",
      { start: at('2026-01-02T00:00:00Z') },
    ],
    ["start_time > '2026-01-01 00:00:00'", { start: at('2026-01-01T00:00:00Z') }],
    ["toDate(time) = '2026-01-01'", { start: at('2026-01-01T00:00:00Z'), end: at('2026-01-02T00:00:00.001Z') }],
    ["toDate(time) >= '2026-01-01 12:00:00'", { start: at('2026-01-01T00:00:00Z') }],
    ["time::Date >= '2026-01-01'", { start: at('2026-01-01T00:00:00Z') }],
    ["toStartOfHour(time) < '2026-01-01 00:00:00'", { end: at('2026-01-01T01:00:00Z') }],
    ["toStartOfInterval(time, INTERVAL 5 MINUTE) > '2026-01-01 00:00:00'", { start: at('2026-01-01T00:00:00Z') }],
    ["date_trunc('day', spans.time) > '2026-01-01 00:00:00'", { start: at('2026-01-01T00:00:00Z') }],
    ['toUnixTimestamp(time) >= 1767225600', { start: at('2026-01-01T00:00:00Z') }],
    ['toUnixTimestamp(time) > toUnixTimestamp(now()) - 3600', { start: { fromNowMs: -hour - 2 * second } }],
    ["spans.time > '2026-01-01 00:00:00'", { start: at('2026-01-01T00:00:00Z') }],
    ["otel.spans.time > '2026-01-01 00:00:00'", { start: at('2026-01-01T00:00:00Z') }],
  ])('WHERE %s', async (predicate, reach) => {
    expect(await reaches(`SELECT count() FROM otel.spans WHERE ${predicate}`)).toEqual([reach]);
    expect(await reaches(`SELECT count() FROM otel.spans PREWHERE ${predicate}`)).toEqual([reach]);
  });

  it.each([
    "time > '2026-01-01 00:00:00' OR name = 'x'",
    "NOT (time > '2026-01-01 00:00:00')",
    "NOT time > '2026-01-01 00:00:00'",
    'time != now()',
    'time > start_time',
    'time > now() - duration_nano',
    "time NOT BETWEEN '2026-01-01' AND '2026-01-02'",
    "time > toDateTime('2026-01-01 00:00:00', 'Asia/Tokyo')",
    "time > now('Asia/Tokyo')",
    "time > 'yesterday'",
    'toHour(time) > 12',
    'toUnixTimestamp(time) > duration_nano',
    "other.time > '2026-01-01 00:00:00'",
    "end_time > '2026-01-01 00:00:00'",
    "if(name = 'x', time > '2026-01-01 00:00:00', 1)",
    'time > (SELECT max(time) FROM otel.logs) - INTERVAL 1 HOUR',
    'time > now() - INTERVAL -1 HOUR',
    'time > now64() - 3600',
    'time > now() - duration_nano / 2',
    'time > now() - INTERVAL 1.5 HOUR',
    'time > (now() AS time) - INTERVAL 1 HOUR',
  ])('claims nothing for %s', async (predicate) => {
    expect((await reaches(`SELECT count() FROM otel.spans WHERE ${predicate}`))[0]).toEqual({});
  });

  it.each([
    `SELECT count() FROM (SELECT * FROM otel.spans) WHERE time > '2026-01-01 00:00:00'`,
    `SELECT count() FROM (SELECT name, time AS t FROM otel.spans) AS s WHERE s.t > '2026-01-01 00:00:00'`,
    `WITH e AS (SELECT * FROM otel.spans) SELECT count() FROM e WHERE start_time > '2026-01-01 00:00:00'`,
    `WITH a AS (SELECT * FROM otel.spans), b AS (SELECT * FROM a WHERE time > '2026-01-01 00:00:00') SELECT 1 FROM b`,
    `WITH h AS (SELECT toStartOfHour(time) AS hour, count() AS n FROM otel.spans GROUP BY hour) SELECT * FROM h WHERE hour > '2026-01-01 00:00:00' AND n > 1`,
    `SELECT * FROM (SELECT DISTINCT time FROM otel.spans ORDER BY time) WHERE time > '2026-01-01 00:00:00'`,
  ])('sees through %s', async (sql) => {
    expect(await reaches(sql)).toEqual([{ start: at('2026-01-01T00:00:00Z') }]);
  });

  it.each([
    "SELECT count() FROM (SELECT *, row_number() OVER () FROM otel.spans) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT *, runningDifference(duration_nano) FROM otel.spans) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT * FROM otel.spans LIMIT 1 BY name) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT DISTINCT ON (name) * FROM otel.spans) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT max(time) AS time FROM otel.spans GROUP BY name) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT time FROM otel.spans GROUP BY time WITH TOTALS) WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT end_time AS time FROM otel.spans) WHERE time > '2026-01-01 00:00:00'",
    "SELECT toDateTime(0) AS time FROM (SELECT * FROM otel.spans) WHERE time > '2026-01-01 00:00:00'",
    "SELECT toDateTime(0) AS t FROM (SELECT time AS t FROM otel.spans) WHERE t > '2026-01-01 00:00:00'",
    "SELECT * FROM (SELECT time FROM otel.spans ORDER BY time WITH FILL) WHERE time > '2026-01-01 00:00:00'",
    "WITH e AS (SELECT * FROM otel.spans) SELECT name IN (SELECT name FROM e) FROM e WHERE time > '2026-01-01 00:00:00'",
    "WITH e AS (SELECT trace_id FROM otel.spans) SELECT trace_id IN e FROM e WHERE time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT * FROM otel.spans) WHERE time > '2026-01-01 00:00:00' OR name = 'x'",
  ])('does not see through %s', async (sql) => {
    expect(await reaches(sql)).toEqual([{}]);
  });

  it.each([
    // a name of an expression hides the column
    "SELECT toDateTime(0) AS time FROM otel.spans WHERE time > '2026-01-01 00:00:00'",
    "WITH toDateTime(0) AS time SELECT count() FROM otel.spans WHERE time > '2026-01-01 00:00:00'",
    "WITH (1, 2) AS spans SELECT count() FROM otel.spans WHERE spans.time > '2026-01-01 00:00:00'",
    "SELECT count() FROM otel.spans ARRAY JOIN [now()] AS time WHERE time > '2026-01-01 00:00:00'",
    // of which table?
    "SELECT count() FROM otel.spans AS a, numbers(3) AS b WHERE time > '2026-01-01 00:00:00'",
    // not of the rows that are read
    "SELECT count() FROM otel.spans GROUP BY time HAVING time > '2026-01-01 00:00:00'",
    "SELECT count() FROM (SELECT * FROM otel.spans LIMIT 10) WHERE time > '2026-01-01 00:00:00'",
  ])('claims nothing in %s', async (sql) => {
    expect(await reaches(sql)).toEqual([{}]);
  });

  const start = { start: at('2026-01-01T00:00:00Z') };
  const of = (alias: string) => `${alias}.time >= '2026-01-01 00:00:00'`;
  it.each([
    ['JOIN', of('b'), '1', {}, start],
    ['JOIN', '1', of('a'), start, {}],
    ['JOIN', '1', of('b'), {}, start],
    ['LEFT JOIN', '1', of('a'), start, {}],
    // Rows that found no partner have empty values, for which a predicate may hold.
    ['LEFT JOIN', '1', of('b'), {}, {}],
    ['LEFT JOIN', of('b'), '1', {}, start],
    ['LEFT JOIN', of('a'), '1', {}, {}],
    ['RIGHT JOIN', '1', of('a'), {}, {}],
    ['RIGHT JOIN', '1', of('b'), {}, start],
    ['RIGHT JOIN', of('a'), '1', start, {}],
    ['RIGHT JOIN', of('b'), '1', {}, {}],
    ['FULL JOIN', of('a'), of('b'), {}, {}],
    ['ANTI LEFT JOIN', '1', of('b'), {}, {}],
    ['SEMI JOIN', '1', of('b'), {}, {}],
    ['ASOF JOIN', of('b'), of('a'), start, {}],
    ['CROSS JOIN', undefined, of('b'), {}, start],
  ])('%s ON %s WHERE %s', async (join, on, where, a, b) => {
    const condition = on === undefined ? '' : `ON ${on}`;
    const sql = `SELECT 1 FROM otel.spans AS a ${join} otel.logs AS b ${condition} WHERE ${where}`;
    expect(await reaches(sql)).toEqual([a, b]);
  });

  it('is told for each place that reads a table', async () => {
    expect(
      await reaches(
        `WITH x AS (SELECT * FROM otel.spans WHERE time > '2026-01-01 00:00:00')
         SELECT * FROM x WHERE trace_id IN (SELECT trace_id FROM otel.logs WHERE time < '2026-01-02 00:00:00')
         UNION ALL SELECT * FROM otel.spans`,
      ),
    ).toEqual([start, { end: at('2026-01-02T00:00:00Z') }, {}]);
  });
});

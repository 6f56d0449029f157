import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TimePoint, TimeReach } from '../../../src/contract/telemetry/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { openGate, type PostgresGate } from './index.ts';
import { legitimate } from '../support/legitimate.ts';
import { relation, TestServer } from './support/server.ts';

const server = await TestServer.open();
const onServer = server === undefined ? describe.skip : describe;

let gate: PostgresGate;
beforeAll(async () => {
  gate = await openGate(sqlHelpers);
});
afterAll(() => server?.close());

const day = 86_400_000;
const at = (text: string) => ({ at: new Date(text) });
const ago = (ms: number) => ({ fromNowMs: -ms });
const reaches = async (sql: string) => gate.check(await gate.parse(sql)).reaches;
const where = (condition: string) => reaches(`SELECT 1 FROM otel.spans s WHERE ${condition}`);

describe('the reach of a statement', () => {
  it.each<[string, TimeReach]>([
    ["time >= '2026-01-02'", { start: at('2026-01-02T00:00:00Z') }],
    ["time > timestamptz '2026-01-02 10:00:00+02'", { start: at('2026-01-02T08:00:00Z') }],
    ["s.time < '2026-01-02 10:00:00.5'::timestamp", { end: at('2026-01-02T10:00:00.500Z') }],
    ["time <= '2026-01-02T10:00Z'", { end: at('2026-01-02T10:00:00.001Z') }],
    ["time < '2026-01-02 10:00:00.0001'", { end: at('2026-01-02T10:00:00.001Z') }],
    ["time > '2026-01-02 10:00:00.0009'", { start: at('2026-01-02T10:00:00.000Z') }],
    ["time = date '2026-01-02'", { start: at('2026-01-02T00:00:00Z'), end: at('2026-01-02T00:00:00.001Z') }],
    ["'2026-01-02' <= time", { start: at('2026-01-02T00:00:00Z') }],
    [
      "time BETWEEN '2026-01-02' AND '2026-01-03'",
      { start: at('2026-01-02T00:00:00Z'), end: at('2026-01-03T00:00:00.001Z') },
    ],
    ["time > '2026-01-02' AND (name = 'x' AND time > '2026-01-05')", { start: at('2026-01-05T00:00:00Z') }],
    ["time OPERATOR(pg_catalog.>) '2026-01-02'", { start: at('2026-01-02T00:00:00Z') }],
    ["time > now() - interval '1 hour'", { start: ago(3_600_000) }],
    ["time > now() - '1 day 2 hours'::interval", { start: ago(day + 7_200_000) }],
    ["time > interval '-1 hour' + CURRENT_TIMESTAMP", { start: ago(3_600_000) }],
    ["time > now() - interval '1 month'", { start: ago(31 * day) }],
    ["time < now() - interval '1 month'", { end: ago(28 * day) }],
    ["time > now() - 3 * interval '5 minutes'", { start: ago(900_000) }],
    ["time > now() - INTERVAL '24' HOUR", { start: ago(day) }],
    ['time > CURRENT_DATE - 7', { start: ago(8 * day) }],
    ["time >= date_trunc('day', now())", { start: ago(25 * 3_600_000) }],
    ["time < date_trunc('hour', now() - interval '1 day')", { end: ago(day) }],
    ['time > to_timestamp(1767312000::bigint)', { start: at('2026-01-02T00:00:00Z') }],
    ['time > to_timestamp(1767312000)', { start: at('2026-01-02T00:00:00Z') }],
    ["time > (now() - interval '1 day')::date", { start: ago(2 * day) }],
    ['time <= now()', { end: { fromNowMs: 1 } }],
    ["time > now() - interval '1 day' AND time < now()", { start: ago(day), end: { fromNowMs: 0 } }],
    ["start_time >= '2026-01-02'", { start: at('2026-01-02T00:00:00Z') }],
    ["time::date = '2026-01-02'", { start: at('2026-01-02T00:00:00Z'), end: at('2026-01-03T01:00:00.001Z') }],
    ['date(s.time) >= CURRENT_DATE - 7', { start: ago(8 * day) }],
    ["date_trunc('hour', time) > '2026-01-02'", { start: at('2026-01-02T00:00:00Z') }],
    [
      "date_bin('5 minutes'::interval, time, 'epoch'::timestamptz) < '2026-01-02'",
      { end: at('2026-01-02T00:05:00.001Z') },
    ],
    ['extract(epoch FROM time) >= 1767312000', { start: at('2026-01-02T00:00:00Z') }],
    ["date_part('epoch', s.start_time) > extract(epoch FROM now()) - 3600", { start: ago(3_600_000) }],
    ["time > '2026-01-02' AND time > now() - interval '1 day'", { start: at('2026-01-02T00:00:00Z') }],
  ])('from %s', async (condition, expected) => {
    expect(await where(condition)).toEqual([expected]);
  });

  it.each([
    "time > '2026-01-02' OR name = 'x'",
    "NOT time > '2026-01-02'",
    "time <> '2026-01-02'",
    "end_time > '2026-01-02'",
    'extract(hour FROM time) > 1767312000',
    'extract(epoch FROM end_time) > 1767312000',
    "to_char(time, 'YYYY') > '2026-01-02'",
    "time + interval '1 day' > '2026-01-02'",
    "date_trunc(name, time) = '2026-01-02'",
    "time::time = '2026-01-02'",
    'time > start_time',
    "time > '01/02/2026'",
    "time > 'yesterday'",
    "time > '2026-02-30'",
    "time > '2026-01-02 10:00 Europe/Zurich'",
    "time > timestamp '2026-01-02 10:00+02'",
    "time > timestamptz(0) '2026-01-02 10:00:00.7'",
    "time > now() - interval '1 fortnight'",
    "time > now() - interval '1.5 months'",
    "time > now() - interval '1 day ago'",
    "time > now() AT TIME ZONE 'Asia/Tokyo'",
    'time > clock_timestamp()',
    "time > (SELECT now() - interval '1 day')",
    "time BETWEEN SYMMETRIC '2026-01-02' AND '2026-01-01'",
    "time NOT BETWEEN '2026-01-02' AND '2026-01-03'",
    "(time > '2026-01-02') IS NOT TRUE",
    "CASE WHEN time > '2026-01-02' THEN true ELSE true END",
    "time = ANY(ARRAY['2026-01-02'::timestamptz])",
    "(time, name) > ('2026-01-02', '')",
    'time <= to_timestamp(1767225600.7::int)',
    'time <= to_timestamp(1767225701::real)',
    'time <= to_timestamp(-(1.7::int))',
    'time <= to_timestamp(1767225600.7::numeric(12,0))',
    'time < CURRENT_DATE + 1.5::int',
    "time < now() + interval '1 hour' * 16777217::real",
  ])('is not known from %s', async (condition) => {
    expect(await where(condition)).toEqual([{}]);
  });

  const start = at('2026-01-02T00:00:00Z');
  const since = "time > '2026-01-02'";
  it.each<[string, readonly TimeReach[]]>([
    [`SELECT 1 FROM otel.spans WHERE otel.spans.${since}`, [{ start }]],
    [`SELECT 1 FROM otel.spans WHERE spans.${since}`, [{ start }]],
    [`SELECT 1 FROM otel.spans s, otel.logs l WHERE s.${since}`, [{ start }, {}]],
    [`SELECT 1 FROM otel.spans s, otel.logs l WHERE ${since}`, [{}, {}]],
    [`SELECT 1 FROM otel.spans s JOIN otel.logs l ON s.trace_id = l.trace_id AND l.${since}`, [{}, { start }]],
    [`SELECT 1 FROM otel.spans s LEFT JOIN otel.logs l ON s.${since} AND l.${since}`, [{}, { start }]],
    [`SELECT 1 FROM otel.spans s RIGHT JOIN otel.logs l ON s.${since} AND l.${since}`, [{ start }, {}]],
    [`SELECT 1 FROM otel.spans s FULL JOIN otel.logs l ON s.${since} AND l.${since}`, [{}, {}]],
    [`SELECT 1 FROM otel.spans s LEFT JOIN otel.logs l ON true WHERE l.${since}`, [{}, { start }]],
    [`SELECT 1 FROM (otel.spans s JOIN otel.logs l ON s.${since}) AS j WHERE j.${since}`, [{ start }, {}]],
    [`SELECT 1 FROM (otel.spans s CROSS JOIN unnest(ARRAY[1]) AS g(x)) AS j(a, time) WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (otel.spans s CROSS JOIN unnest(ARRAY[1]) AS g(x)) AS j WHERE ${since}`, [{ start }]],
    [`SELECT 1 FROM otel.spans s, jsonb_array_elements(s.events) e WHERE ${since}`, [{ start }]],
    [`SELECT 1 FROM otel.spans s, jsonb_to_recordset(s.events) AS e(time timestamptz) WHERE e.${since}`, [{}]],
    [`SELECT 1 FROM otel.spans s, unnest(ARRAY[now()]) AS time WHERE ${since}`, [{}]],
    [`SELECT 1 FROM otel.spans AS s(time) WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT * FROM otel.spans) s WHERE ${since}`, [{ start }]],
    [`SELECT 1 FROM (SELECT name, time AS t FROM otel.spans) s WHERE s.t > '2026-01-02'`, [{ start }]],
    [`WITH e AS (SELECT * FROM otel.spans) SELECT 1 FROM e WHERE ${since}`, [{ start }]],
    [`WITH a AS (SELECT * FROM otel.spans), b AS (SELECT * FROM a) SELECT 1 FROM b WHERE start_${since}`, [{ start }]],
    [`WITH a AS (SELECT * FROM otel.spans), b AS (SELECT * FROM a WHERE ${since}) SELECT 1 FROM b`, [{ start }]],
    [
      `WITH h AS (SELECT date_trunc('hour', time) AS hour, count(*) AS n FROM otel.spans GROUP BY 1) SELECT 1 FROM h WHERE hour > '2026-01-02' AND n > 1`,
      [{ start }],
    ],
    [
      `SELECT 1 FROM (SELECT time::date, count(*) FROM otel.spans GROUP BY time::date) s WHERE s.time > '2026-01-02'`,
      [{}],
    ],
    [`SELECT 1 FROM (SELECT DISTINCT time FROM otel.spans ORDER BY 1) s WHERE ${since}`, [{ start }]],
    [`SELECT 1 FROM otel.spans s, unnest(ARRAY[now()]) AS start_time WHERE start_${since}`, [{}]],
    [`SELECT 1 FROM otel.logs WHERE start_${since}`, [{}]],
    [`SELECT 1 FROM (SELECT * FROM otel.spans LIMIT 5) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT *, row_number() OVER () FROM otel.spans) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT DISTINCT ON (name) * FROM otel.spans) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT max(time) AS time FROM otel.spans GROUP BY name) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT time FROM otel.spans GROUP BY ROLLUP (time)) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT end_time AS time FROM otel.spans) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT *, end_time AS time FROM otel.spans) s WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT * FROM otel.spans) s(a, time) WHERE ${since}`, [{}]],
    [`SELECT 1 FROM (SELECT * FROM otel.spans UNION ALL SELECT * FROM otel.spans) s WHERE ${since}`, [{}, {}]],
    [`WITH e AS (SELECT * FROM otel.spans) SELECT (SELECT count(*) FROM e) FROM e WHERE ${since}`, [{}]],
    [`WITH RECURSIVE e AS (SELECT * FROM otel.spans) SELECT 1 FROM e WHERE ${since}`, [{}]],
    [`SELECT 1 FROM otel.spans s WHERE EXISTS (SELECT 1 FROM otel.logs l WHERE s.${since})`, [{}, {}]],
    [`SELECT 1 FROM otel.spans s WHERE EXISTS (SELECT 1 FROM otel.logs WHERE ${since})`, [{}, { start }]],
    [`WITH s AS (SELECT 1 FROM otel.spans WHERE ${since}) SELECT 1 FROM otel.logs`, [{ start }, {}]],
    [`SELECT 1 FROM otel.spans WHERE ${since} UNION SELECT 1 FROM otel.logs`, [{ start }, {}]],
    [`WITH spans AS (SELECT now() AS time) SELECT 1 FROM spans, otel.logs WHERE spans.${since}`, [{}]],
    [`SELECT 1 FROM otel.spans GROUP BY time HAVING ${since}`, [{}]],
    [`SELECT count(*) FILTER (WHERE ${since}) FROM otel.spans`, [{}]],
    [`TABLE otel.spans`, [{}]],
    ['SELECT 1', []],
  ])('of each place in %s', async (sql, expected) => {
    const sorted = (items: readonly TimeReach[]) => items.map((item) => JSON.stringify(item)).toSorted();
    expect(sorted(await reaches(sql))).toEqual(sorted(expected));
  });

  it('is one for each place that reads a table', async () => {
    for (const { sql } of legitimate) {
      const checked = gate.check(await gate.parse(sql));
      let places = 0;
      gate.template(checked).write(() => {
        places += 1;
        return '';
      });
      expect({ sql, reaches: checked.reaches.length }).toEqual({ sql, reaches: places });
    }
  });
});

/** A generator that repeats itself, so that a failure can be run again. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function predicate(roll: (below: number) => number): string {
  const pick = (items: readonly string[]) => items[roll(items.length)] ?? '';
  const hours = roll(30);
  const moment = pick([
    `now() - interval '${hours} hours'`,
    `now() - interval '${roll(90)} minutes' * ${roll(20)}`,
    `interval '-${hours} hours 30 minutes' + CURRENT_TIMESTAMP`,
    `now() - interval '1 month' + interval '${27 + roll(5)} days'`,
    `CURRENT_DATE - ${roll(2)}`,
    `date_trunc('${pick(['minute', 'hour', 'day', 'week'])}', now() - interval '${hours} hours')`,
    `(now() - interval '${hours} hours')::date`,
    `'${new Date(Date.now() - hours * 3_600_000).toISOString()}'`,
    `'${new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 10)}'`,
    `timestamptz '${new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')}:00.123456+05:30'`,
    `to_timestamp(${Date.now() / 1_000 - hours * 3_600})`,
  ]);
  const column = pick([
    'time',
    's.time',
    'start_time',
    'time::date',
    "date_trunc('hour', time)",
    "time + interval '0'",
  ]);
  const operator = pick(['>', '>=', '<', '<=', '=', '<>']);
  const simple = pick([
    `${column} ${operator} ${moment}`,
    `${moment} ${operator} ${column}`,
    `${column} BETWEEN ${moment} AND now() - interval '${roll(10)} hours'`,
  ]);
  if (roll(4) > 0) return simple;
  return `${pick(['', 'NOT '])}(${simple} ${pick(['AND', 'OR'])} ${predicate(roll)})`;
}

onServer('whatever the predicate', () => {
  it('holds every row that the statement reads', async () => {
    const wrong: string[] = [];
    let narrowed = 0;
    let matched = 0;
    const seed = Date.now() % 1_000_000;
    const roll = dice(seed);
    for (let round = 0; round < 400; round += 1) {
      const condition = `${predicate(roll)} AND ${predicate(roll)}`;
      const source = roll(2) > 0 ? 'otel.spans' : '(SELECT * FROM otel.spans)';
      const sql = `SELECT min(time), max(time), now() FROM ${source} s WHERE ${condition}`;
      const statement = gate.check(await gate.parse(sql));
      const [reach = {}] = statement.reaches;
      if (reach.start !== undefined || reach.end !== undefined) narrowed += 1;
      const result = await server?.client.query({ text: gate.template(statement).write(relation), rowMode: 'array' });
      const [first, last, now]: readonly (Date | null)[] = result?.rows[0] ?? [];
      if (!first || !last || !now) continue;
      matched += 1;
      const ms = (point: TimePoint | undefined) =>
        point === undefined ? undefined : 'at' in point ? point.at.getTime() : now.getTime() + point.fromNowMs;
      const [from = -Infinity, to = Infinity] = [ms(reach.start), ms(reach.end)];
      // The driver cuts microseconds off, and of now() as well.
      if (first.getTime() + 1 < from || last.getTime() - 1 >= to) wrong.push(`${condition}: ${JSON.stringify(reach)}`);
    }
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    expect(narrowed).toBeGreaterThan(200);
    expect(matched).toBeGreaterThan(40);
  });
});

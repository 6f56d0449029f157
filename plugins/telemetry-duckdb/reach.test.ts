import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { TimePoint, TimeReach } from '../../src/contract/telemetry/index.ts';
import { Harness, newOrganization, type Answer, type Row } from './support/harness.ts';
import { randomPredicates } from './support/predicates.ts';

const hour = 3_600_000;
const day = 24 * hour;

let harness: Harness;
let organizationId: OrganizationId;
let started: number;
beforeAll(async () => {
  harness = await Harness.start();
  organizationId = newOrganization();
  started = Date.now();
  const row = (time: Date): Row => ({ time, start_time: time, name: 'n' });
  const recent = Array.from({ length: 400 }, (_, index) => row(new Date(started - (index - 100) * 2.5 * hour)));
  const edges = [
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.001Z',
    '2026-02-28T23:59:59.999Z',
    '2026-03-01T00:00:00Z',
  ];
  await harness.load(organizationId, 'spans', [...recent, ...edges.map((time) => row(new Date(time)))]);
  await harness.load(organizationId, 'logs', recent);
});
afterAll(() => harness.stop());

async function reaches(sql: string): Promise<readonly TimeReach[]> {
  const context = { organizationId, signal: new AbortController().signal };
  return harness.telemetry.check(await harness.telemetry.parse(sql, context)).reaches;
}

const at = (text: string): TimePoint => ({ at: new Date(text) });
const fromNow = (fromNowMs: number): TimePoint => ({ fromNowMs });
const none: TimeReach = {};
const newYear = { start: at('2026-01-01T00:00:00Z') };
const lastHour = { start: fromNow(-hour) };

describe('what a statement reaches in time', () => {
  it.each<[string, TimeReach]>([
    ["time >= '2026-01-01'", newYear],
    ["time > TIMESTAMP '2026-01-01 00:00:00'", newYear],
    ["time >= DATE '2026-01-01'", newYear],
    ["time >= '2026-01-01T00:00:00Z'", newYear],
    ["time >= TIMESTAMPTZ '2026-01-01 02:00:00+02'", newYear],
    ["time >= '2026-01-01T02:00:00+02:00'", newYear],
    ["time >= TIMESTAMP '2025-12-31 19:00:00-0500'", newYear],
    ["time >= DATE '2026-01-01T02:00:00+02:00'", none],
    ["'2026-01-01' <= spans.time", newYear],
    ["otel.spans.time >= '2026-01-01' AND name = 'x'", newYear],
    ["name = 'x' AND (kind = 'y' AND (TIME >= '2026-01-01' AND flags = 1))", newYear],
    ["time < '2026-01-01 00:00:00.5'", { end: at('2026-01-01T00:00:00.500Z') }],
    ["time < '2026-01-01 00:00:00.0005'", { end: at('2026-01-01T00:00:00.001Z') }],
    ["time <= '2026-01-01'", { end: at('2026-01-01T00:00:00.001Z') }],
    ["time = '2026-01-01'", { ...newYear, end: at('2026-01-01T00:00:00.001Z') }],
    ["time BETWEEN '2026-01-01' AND '2026-01-02'", { ...newYear, end: at('2026-01-02T00:00:00.001Z') }],
    ["time >= '2026-01-01' AND time >= '2025-01-01'", newYear],
    ["time > now() - INTERVAL '1 hour'", lastHour],
    ['time > now() - INTERVAL 1 HOUR', lastHour],
    ["time > current_timestamp - INTERVAL '1' HOUR", lastHour],
    ['time > now()::TIMESTAMP - to_minutes(60)', lastHour],
    ["time > (now() AT TIME ZONE 'UTC') - 2 * INTERVAL '30 minutes'", lastHour],
    ["time > localtimestamp + INTERVAL '-1 hour'", lastHour],
    ["time BETWEEN now() - '2 days'::INTERVAL AND now()", { start: fromNow(-2 * day), end: fromNow(1) }],
    ['time >= current_date', { start: fromNow(-day) }],
    ['time >= current_date - 7', { start: fromNow(-8 * day) }],
    ["time >= date_trunc('hour', now())", { start: fromNow(-hour) }],
    ["time > now() - INTERVAL '1 month'", { start: fromNow(-31 * day) }],
    ["time < now() - INTERVAL '1 month'", { end: fromNow(-28 * day) }],
    ["start_time >= '2026-01-01'", newYear],
    ["date_trunc('day', time) = '2026-01-01'", { ...newYear, end: at('2026-01-02T00:00:00Z') }],
    ["date_trunc('hour', time) > '2026-01-01'", newYear],
    ["time_bucket(INTERVAL '5 minutes', time) < '2026-01-01'", { end: at('2026-01-01T00:05:00Z') }],
    ["time::DATE = '2026-01-01'", { ...newYear, end: at('2026-01-02T00:00:00Z') }],
    ['CAST(spans.time AS DATE) >= current_date - 7', { start: fromNow(-8 * day) }],
    ["date(time) BETWEEN '2026-01-01' AND '2026-01-02'", { ...newYear, end: at('2026-01-03T00:00:00Z') }],
    ['epoch(time) >= 1767225600', newYear],
    ['epoch_ms(time) > 1767225600000', newYear],
    ['1767225600 <= epoch(start_time)', newYear],
    ['epoch(time) > epoch(now()) - 3600', lastHour],
    // What is not certain
    ["time >= '2026-01-01' OR name = 'x'", none],
    ["NOT (time >= '2026-01-01' AND name = 'x')", none],
    ["time NOT BETWEEN '2026-01-01' AND '2026-01-02'", none],
    ["time <> '2026-01-01'", none],
    ['time > start_time', none],
    ["end_time > '2026-01-01'", none],
    ["strftime(time, '%Y') = '2026'", none],
    ["time::TIME > '12:00'", none],
    ["date_trunc(name, time) > '2026-01-01'", none],
    ['epoch(time) > duration_nano', none],
    ['epoch(time) > epoch_ms(now()) - 3600', none],
    ["time + INTERVAL 1 DAY > '2026-01-01'", none],
    ["time >= 'yesterday'", none],
    ["time > now() - INTERVAL '1.5 hours'", none],
    ["time < now() - 1.5 * INTERVAL '1 hour'", none],
    ["time < now() - INTERVAL '1 hour' * 1e0", none],
    ["time > now() - duration_nano * INTERVAL '1 hour'", none],
    ['time > (SELECT max(time) FROM otel.logs)', none],
    ["time IN ('2026-01-01')", none],
    ["(time >= '2026-01-01') IS NOT NULL", none],
    ["coalesce(time >= '2026-01-01', true)", none],
  ])('WHERE %s', async (where, reach) => {
    expect((await reaches(`SELECT count(*) FROM otel.spans WHERE ${where}`))[0]).toEqual(reach);
  });

  const since = (name: string) => `${name}.time >= '2026-01-01'`;
  it.each<[string, readonly TimeReach[]]>([
    ['SELECT 1', []],
    ['SELECT 1 FROM otel.spans', [none]],
    [`SELECT 1 FROM otel.spans s, otel.logs l WHERE ${since('s')}`, [newYear, none]],
    [`SELECT 1 FROM otel.spans s JOIN otel.logs l ON ${since('l')} WHERE ${since('s')}`, [newYear, newYear]],
    [`SELECT 1 FROM otel.spans s LEFT JOIN otel.logs l ON ${since('l')} AND ${since('s')}`, [none, newYear]],
    [`SELECT 1 FROM otel.spans s LEFT JOIN otel.logs l ON true WHERE ${since('l')} AND ${since('s')}`, [newYear, none]],
    [
      `SELECT 1 FROM otel.spans s RIGHT JOIN otel.logs l ON true WHERE ${since('l')} AND ${since('s')}`,
      [none, newYear],
    ],
    [
      `SELECT 1 FROM otel.spans s FULL JOIN otel.logs l ON ${since('l')} WHERE ${since('l')} AND ${since('s')}`,
      [none, none],
    ],
    [`SELECT 1 FROM otel.spans s ANTI JOIN otel.logs l ON ${since('l')} AND ${since('s')}`, [none, newYear]],
    [`SELECT 1 FROM otel.spans s SEMI JOIN otel.logs l ON ${since('l')} AND ${since('s')}`, [newYear, newYear]],
    [
      `SELECT 1 FROM otel.spans s ASOF JOIN otel.logs l ON s.time >= l.time WHERE ${since('l')} AND ${since('s')}`,
      [newYear, none],
    ],
    [`SELECT 1 FROM otel.spans s POSITIONAL JOIN otel.logs l WHERE ${since('l')} AND ${since('s')}`, [none, none]],
    ["SELECT 1 FROM otel.spans s JOIN otel.logs l USING (trace_id) WHERE time >= '2026-01-01'", [none, none]],
    ["SELECT 1 FROM otel.spans s(time, a) WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM otel.spans TABLESAMPLE 10 ROWS WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM otel.logs WHERE start_time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT * FROM otel.spans) x WHERE time >= '2026-01-01'", [newYear]],
    ["SELECT 1 FROM (SELECT name, time AS t FROM otel.spans) x WHERE x.t >= '2026-01-01'", [newYear]],
    ["WITH e AS (SELECT * FROM otel.spans) SELECT 1 FROM e WHERE time >= '2026-01-01'", [newYear]],
    [
      "WITH a AS (SELECT * FROM otel.spans), b AS (SELECT * FROM a) SELECT 1 FROM b WHERE start_time >= '2026-01-01'",
      [newYear],
    ],
    [
      "WITH a AS (SELECT * FROM otel.spans), b AS (SELECT * FROM a WHERE time >= '2026-01-01') SELECT 1 FROM b",
      [newYear],
    ],
    [
      "WITH h AS (SELECT date_trunc('hour', time) AS hour, count(*) AS n FROM otel.spans GROUP BY 1) SELECT * FROM h WHERE hour >= '2026-01-01' AND n > 1",
      [newYear],
    ],
    [
      "SELECT * FROM (SELECT time::DATE AS d, count(*) FROM otel.spans GROUP BY ALL ORDER BY 1) WHERE d = '2026-01-01'",
      [{ ...newYear, end: at('2026-01-02T00:00:00Z') }],
    ],
    ["SELECT * FROM (SELECT DISTINCT time FROM otel.spans) WHERE time >= '2026-01-01'", [newYear]],
    // Not for every row of the table, or of another table
    ["SELECT 1 FROM (SELECT * FROM otel.spans LIMIT 5) x WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT *, row_number() OVER () AS n FROM otel.spans) x WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT DISTINCT ON (name) * FROM otel.spans) x WHERE time >= '2026-01-01'", [none]],
    [
      "SELECT 1 FROM (SELECT name, max(time) AS time FROM otel.spans GROUP BY name) x WHERE time >= '2026-01-01'",
      [none],
    ],
    [
      "SELECT 1 FROM (SELECT name, time FROM otel.spans GROUP BY ROLLUP (name, time)) x WHERE time >= '2026-01-01'",
      [none],
    ],
    ["SELECT 1 FROM (SELECT end_time AS time FROM otel.spans) x WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT * EXCLUDE (time), end_time AS time FROM otel.spans) x WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT *, end_time AS time FROM otel.spans) x WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT * FROM otel.spans) x(time, a) WHERE time >= '2026-01-01'", [none]],
    ["SELECT 1 FROM (SELECT * FROM otel.spans) x, otel.logs l WHERE x.time >= '2026-01-01'", [none, none]],
    ["WITH e AS (SELECT * FROM otel.spans) SELECT (SELECT count(*) FROM e) FROM e WHERE time >= '2026-01-01'", [none]],
    ["WITH e AS (SELECT * FROM otel.spans) SELECT 1 FROM e WHERE time >= '2026-01-01' OR name = 'x'", [none]],
    ["SELECT 1 FROM (SELECT * FROM otel.spans WHERE time >= '2026-01-01') x", [newYear]],
    ["WITH x AS (SELECT * FROM otel.spans WHERE time >= '2026-01-01') SELECT 1 FROM x, otel.logs", [none, newYear]],
    ["SELECT 1 FROM otel.spans WHERE time >= '2026-01-01' UNION ALL SELECT 1 FROM otel.logs", [newYear, none]],
    [`SELECT (SELECT 1 FROM otel.logs l WHERE ${since('s')}) FROM otel.spans s`, [none, none]],
    [
      `SELECT 1 FROM otel.spans s WHERE EXISTS (FROM otel.logs l WHERE ${since('l')} AND ${since('s')})`,
      [none, newYear],
    ],
    ["SELECT 1 FROM (PIVOT otel.spans ON kind IN ('SERVER') USING count(*)) WHERE time >= '2026-01-01'", [none]],
    ["SELECT TIMESTAMP '2000-01-01' AS current_timestamp FROM otel.spans WHERE time > current_timestamp", [none]],
  ])('%s', async (sql, expected) => {
    expect(await reaches(sql)).toEqual(expected);
  });

  it('holds every row that a random predicate matches', async () => {
    const wrong: string[] = [];
    let bounded = 0;
    let answered = 0;
    const shapes = (where: string): readonly string[] => [
      `SELECT epoch_us(time) FROM otel.spans WHERE ${where}`,
      `SELECT epoch_us(s.time) FROM otel.spans s SEMI JOIN otel.logs l ON l.time = l.time WHERE ${where}`,
      `SELECT epoch_us(spans.time) FROM otel.spans JOIN (SELECT 1 AS one) x ON ${where}`,
      `WITH s AS (SELECT * FROM otel.spans) SELECT epoch_us(time) FROM s WHERE ${where.replaceAll(/\b(otel\.)?spans\./g, 's.')}`,
    ];
    for (const where of randomPredicates(100)) {
      for (const sql of shapes(where)) {
        const [reach] = await reaches(sql);
        if (reach?.start ?? reach?.end) bounded += 1;
        const asked = harness.query(organizationId, sql, { limits: { maxRows: 10_000 } });
        const answer = await asked.catch((error: unknown) => error);
        if (!isAnswer(answer)) {
          expect(answer).toMatchObject({ code: 'sql_failed' });
          continue;
        }
        if (answer.rows.length > 0) answered += 1;
        for (const [micros] of answer.rows)
          if (!holds(reach ?? {}, Number(micros))) wrong.push(`${sql} → ${String(micros)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(bounded).toBeGreaterThan(15);
    expect(answered).toBeGreaterThan(30);
  });
});

function isAnswer(outcome: unknown): outcome is Answer {
  return typeof outcome === 'object' && outcome !== null && 'rows' in outcome;
}

/** `now()` was somewhere between the start of this test and now. */
function holds({ start, end }: TimeReach, micros: number): boolean {
  const ms = micros / 1000;
  const earliest = start && ('at' in start ? start.at.getTime() : started + start.fromNowMs);
  const latest = end && ('at' in end ? end.at.getTime() : Date.now() + end.fromNowMs);
  return (earliest === undefined || ms >= earliest) && (latest === undefined || ms < latest);
}

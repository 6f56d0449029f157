import { beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { type SqlGate } from '../../../src/contract/telemetry/index.ts';
import { sqlGates } from '../../../src/telemetry/gate/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { hostileStatements } from '../support/attacks.ts';
import { legitimate } from '../support/legitimate.ts';
import { policy } from './policy.ts';

const hostile = hostileStatements({ victim: 'org_victim', table: 'default.otel_traces', file: '/etc/hostname' });

describe("ClickHouse's gate", () => {
  let gate: SqlGate;
  const admit = async (sql: string) => gate.admit(sql, new AbortController().signal);
  const written = async (sql: string) => (await admit(sql)).write((table) => `<${table}>`);
  const refusal = async (sql: string): Promise<SightlineError | string> => {
    try {
      return await written(sql);
    } catch (error) {
      if (error instanceof SightlineError) return error;
      throw error;
    }
  };

  beforeAll(async () => {
    gate = await sqlGates.open(policy, sqlHelpers);
  });

  it('lets every legitimate statement through', async () => {
    const refused: string[] = [];
    for (const { sql } of legitimate) {
      const answer = await refusal(sql);
      if (answer instanceof SightlineError) refused.push(`${sql} → ${answer.message} ${answer.hint ?? ''}`);
    }
    expect(refused).toEqual([]);
  });

  it('refuses every hostile statement, each with what to write instead, unless it finds only its own', async () => {
    const wrong: string[] = [];
    for (const { sql, expect: outcome } of hostile) {
      const answer = await refusal(sql);
      if (outcome === 'refused' && typeof answer === 'string') wrong.push(`let through: ${sql} → ${answer}`);
      if (outcome !== 'refused' && answer instanceof SightlineError) wrong.push(`${sql} → ${answer.message}`);
      if (answer instanceof SightlineError && answer.code === 'sql_refused' && !answer.hint)
        wrong.push(`no hint: ${sql}`);
    }
    expect(wrong).toEqual([]);
    expect(new Set(hostile.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(150);
  });

  it('writes no name of a caller where a table could be meant', async () => {
    // What is left once quoted names, strings and the holes are out: keywords, functions, signs and numbers.
    const known = new Set([...policy.functions, ...policy.tableFunctions].map((name) => name.toLowerCase()));
    const wrong: string[] = [];
    for (const { sql } of [...legitimate, ...hostile]) {
      const answer = await refusal(sql);
      if (typeof answer !== 'string') continue;
      const bare = answer.replace(/'(?:[^'\\]|\\.)*'/g, "''").replace(/EXTRACT\([A-Z]+ FROM /g, 'EXTRACT(');
      for (const [, name] of bare.matchAll(/(?:\bFROM|(?<!ARRAY )JOIN) (`[^`]*`)/g)) {
        if (!/^`sightline_with_\d+`$/.test(name ?? '')) wrong.push(`${name} in ${answer}`);
      }
      if (/\bIN `/.test(bare)) wrong.push(`IN a name: ${answer}`);
      for (const [, name] of bare.replace(/`[^`]*`/g, '``').matchAll(/\b([a-z_]\w*)\(/g)) {
        if (name !== undefined && !known.has(name.toLowerCase()) && name !== 'if' && name !== 'tupleElement')
          wrong.push(name);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each<[string, string, number | undefined]>([
    ['SELECT 1; SELECT 2', 'sql_multiple_statements', 9],
    ['DROP TABLE otel.spans', 'sql_not_read_only', 1],
    ['SELECT * FROM traces', 'unknown_table', 15],
    ['SELECT * FROM otel.span', 'unknown_table', 15],
    ['SELECT percentile_cont(1) FROM otel.spans', 'unknown_function', 8],
    ["SELECT '✓', nope(1)", 'unknown_function', 13],
    ['SELECT 1 +', 'sql_syntax', 11],
    ['SELECT * FROM otel.spans SETTINGS a = 1', 'sql_refused', 26],
    [`SELECT '${'x'.repeat(70_000)}'`, 'sql_too_large', undefined],
    [`SELECT ${'('.repeat(500)}1${')'.repeat(500)}`, 'sql_refused', 107],
    ['', 'sql_syntax', undefined],
  ])('says what is wrong and where: %#', async (sql, code, position) => {
    const answer = await refusal(sql);
    expect(answer).toMatchObject({ code, position });
  });

  it('ends on whatever is nested or repeated beyond reason', async () => {
    const repeated = (text: string, times: number) => text.repeat(times);
    const statements = [
      `SELECT ${repeated('NOT ', 15_000)}1`,
      `SELECT ${repeated('- ', 15_000)}1`,
      `SELECT 1 WHERE ${repeated('x = 1 OR ', 3_900)}1`,
      `SELECT ${repeated('1 - ', 7_900)}1`,
      `SELECT ${repeated('CASE WHEN 1 THEN ', 3_000)}1${repeated(' END', 3_000)}`,
      `SELECT ${repeated('1 ? 2 : ', 3_000)}3`,
      `SELECT arrayMap(${repeated('x -> ', 7_000)}x, [1])`,
      `SELECT x${repeated('[1]', 5_000)}`,
      `SELECT x${repeated('.1', 7_000)}`,
      `SELECT x::${repeated('Array(', 5_000)}Int8${repeated(')', 5_000)}`,
      `SELECT 1${repeated(' IS NULL', 7_000)}`,
      `SELECT 1 FROM otel.spans${repeated(' JOIN otel.spans ON 1', 2_500)}`,
      `SELECT 1${Array.from({ length: 40 }, (_, at) => `, a${at} + a${at} AS a${at + 1}`).join('')} FROM otel.spans`,
      `WITH a0 AS (SELECT 1 AS x)${Array.from({ length: 20 }, (_, at) => `, a${at + 1} AS (SELECT l.x FROM a${at} AS l, a${at} AS r)`).join('')} SELECT * FROM a20`,
      `SELECT '${repeated("''", 32_000)}`,
      `SELECT ${repeated('/*', 30_000)}`,
    ];
    for (const sql of statements)
      expect([sql.slice(0, 60), await refusal(sql)]).toEqual([sql.slice(0, 60), expect.any(SightlineError)]);
  });

  it('takes the sizes that people and models send', async () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => `'${at.toString(16).padStart(32, '0')}'`).join(', ');
    const clauses = Array.from({ length: 200 }, (_, at) => `body LIKE '%word${at}%'`).join(' OR ');
    await expect(admit(`SELECT * FROM otel.spans WHERE trace_id IN (${ids})`)).resolves.toMatchObject({
      tables: ['spans'],
    });
    await expect(admit(`SELECT * FROM otel.logs WHERE ${clauses}`)).resolves.toMatchObject({ tables: ['logs'] });
  });

  it('gives each query of WITH a name that no caller can write', async () => {
    expect(await written('WITH x AS (SELECT name FROM otel.spans) SELECT x.name FROM x WHERE name IN x')).toBe(
      'WITH `sightline_with_1` AS (SELECT `name` FROM <spans> AS `spans`) ' +
        'SELECT `x`.`name` FROM `sightline_with_1` AS `x` WHERE `name` IN (SELECT * FROM `sightline_with_1`)',
    );
  });

  it('gives the columns of a WITH query the names in its list, where they mean nothing else', async () => {
    expect(
      await written('WITH x(kind, n) AS (SELECT kind, count() FROM otel.spans GROUP BY kind) SELECT n FROM x'),
    ).toBe(await written('WITH x AS (SELECT kind, count() AS n FROM otel.spans GROUP BY kind) SELECT n FROM x'));
    expect(await written('WITH x (a, b) AS (SELECT 1, 2 AS z UNION ALL SELECT 3, 4) SELECT a, b FROM x')).toBe(
      await written('WITH x AS (SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4) SELECT a, b FROM x'),
    );
    expect(await written('WITH plus(1, 2) AS three SELECT three')).toContain('SELECT');
    for (const query of [
      // ClickHouse would ask the alias, and not the column.
      "x(span_id) AS (SELECT parent_span_id FROM otel.spans WHERE span_id = 'a')",
      'x(b) AS (SELECT name AS a FROM otel.spans ORDER BY a)',
      'x(a, name) AS (SELECT name, kind FROM otel.spans)',
      'x(a) AS (SELECT * FROM otel.spans)',
      'x(a, b) AS (SELECT name FROM otel.spans)',
    ]) {
      await expect(admit(`WITH ${query} SELECT 1 FROM x`)).rejects.toMatchObject({
        code: 'sql_refused',
        hint: expect.stringContaining('AS name'),
      });
    }
    await expect(admit('WITH x() AS (SELECT 1) SELECT 1 FROM x')).rejects.toMatchObject({ code: 'sql_syntax' });
  });

  it('sees the queries of WITH where they are, and nowhere else', async () => {
    const inner = 'SELECT * FROM (WITH x AS (SELECT 1 AS n) SELECT n FROM x) AS a';
    await expect(admit(inner)).resolves.toMatchObject({ tables: [] });
    await expect(admit(`${inner}, x`)).rejects.toMatchObject({ code: 'unknown_table' });
    await expect(admit('WITH x AS (SELECT * FROM x) SELECT * FROM x')).rejects.toMatchObject({ code: 'unknown_table' });
    await expect(admit('WITH x AS (SELECT 1) SELECT * FROM X')).rejects.toMatchObject({ code: 'unknown_table' });
  });

  it('keeps what a WITH names in sight of every branch of a union', async () => {
    expect(await written('WITH x AS (SELECT 1 AS n) SELECT n FROM x UNION ALL SELECT n + 1 FROM x LIMIT 1')).toBe(
      'WITH `sightline_with_1` AS (SELECT 1 AS `n`) SELECT * FROM (' +
        '(SELECT `n` FROM `sightline_with_1` AS `x`) UNION ALL (SELECT `n` + 1 FROM `sightline_with_1` AS `x` LIMIT 1))',
    );
  });

  it('lets a query of WITH RECURSIVE read itself once, beside one table', async () => {
    const step = 'SELECT n + 1 AS n FROM otel.spans AS s JOIN x AS t ON s.flags = t.n';
    expect(await written(`WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL ${step}) SELECT n FROM x`)).toBe(
      'WITH RECURSIVE `sightline_with_1` AS ((SELECT 1 AS `n`) UNION ALL (SELECT `n` + 1 AS `n` FROM <spans> AS `s` ' +
        'JOIN `sightline_with_1` AS `t` ON `s`.`flags` = `t`.`n`)) SELECT `n` FROM `sightline_with_1` AS `x`',
    );
    expect(await written('WITH RECURSIVE x AS (SELECT 1 AS n) SELECT n FROM x')).not.toContain('RECURSIVE');
  });

  it.each([
    ["time >= '2026-11-25T09:49:45Z'", "`time` >= toDateTime64('2026-11-25 09:49:45', 9, 'UTC')"],
    ["'2026-11-25T09:49:45.467+01:00' < s.time", "toDateTime64('2026-11-25 08:49:45.467', 9, 'UTC') < `s`.`time`"],
    [
      "max(time) = '2026-11-25 09:49:45.123456789 UTC'",
      "max(`time`) = toDateTime64('2026-11-25 09:49:45.123456789', 9, 'UTC')",
    ],
    ["time < '9999-12-31T00:00:00Z'", "`time` < toDateTime64('2262-01-01 00:00:00', 9, 'UTC')"],
    ["time NOT IN ('2026-11-25T09:49:45Z')", "NOT has([toDateTime64('2026-11-25 09:49:45', 9, 'UTC')], `time`)"],
    ["name = '2026-11-25T09:49:45Z'", "`name` = '2026-11-25T09:49:45Z'"],
    ["time >= '2026-11-25 09:49:45'", "`time` >= '2026-11-25 09:49:45'"],
    ["time >= '2026-02-31T09:49:45Z'", "`time` >= '2026-02-31T09:49:45Z'"],
    ["attributes['time'] = '2026-11-25T09:49:45Z'", "`attributes`['time'] = '2026-11-25T09:49:45Z'"],
  ])('writes a moment beside a time as a time: %s', async (condition, expected) => {
    expect(await written(`SELECT 1 FROM otel.spans AS s WHERE ${condition}`)).toBe(
      `SELECT 1 FROM <spans> AS \`s\` WHERE ${expected}`,
    );
  });

  it('knows times by the names that a statement gives them', async () => {
    const at = "'2026-11-25T09:49:45Z'";
    const ofTime = `SELECT n FROM (SELECT toStartOfHour(time) AS hour, count() AS n FROM otel.spans GROUP BY hour) WHERE hour > ${at}`;
    expect(await written(ofTime)).toContain('> toDateTime64(');
    const ofText = `SELECT time FROM (SELECT toString(time) AS time FROM otel.spans) WHERE time > ${at}`;
    expect(await written(ofText)).toContain(`> ${at}`);
  });

  it('writes functions in the one spelling that is listed', async () => {
    expect(await written('SELECT COUNT(*), tostartofhour(time), LOWER(name) FROM otel.spans')).toBe(
      'SELECT count(*), toStartOfHour(`time`), lower(`name`) FROM <spans> AS `spans`',
    );
  });

  it('stops for a caller who left', async () => {
    await expect(gate.admit('SELECT 1', AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});

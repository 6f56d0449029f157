import { beforeAll, describe, expect, it } from '@jest/globals';
import type { GatePolicy, SqlGate } from '../../contract/telemetry/index.ts';
import { sqlHelpers } from '../query/helpers.ts';
import { sqlGates } from './index.ts';

const policy: GatePolicy = {
  dialect: 'bigquery',
  title: 'BigQuery',
  functions: new Set(
    'any_value approx_quantiles array_agg array_length count countif current_timestamp date date_trunc if json_value lower max net.host parse_json row_number timestamp timestamp_diff timestamp_millis timestamp_sub timestamp_trunc'.split(
      ' ',
    ),
  ),
  functionNamesAreCaseSensitive: false,
  types: new Set(['array', 'float64', 'int64', 'string', 'struct', 'timestamp']),
  tableFunctions: new Set(),
};

describe("BigQuery's SQL", () => {
  let gate: SqlGate;
  const admit = async (sql: string) => gate.admit(sql, new AbortController().signal);
  const written = async (sql: string) => (await admit(sql)).write((table) => `<${table}>`);

  beforeAll(async () => {
    gate = await sqlGates.open(policy, sqlHelpers);
  });

  it.each([
    ['SELECT name n FROM `otel.spans`', 'SELECT `name` AS `n` FROM <spans> AS `spans`'],
    [
      'SELECT e.name FROM otel.spans s, s.events e',
      'SELECT `e`.`name` FROM <spans> AS `s`, UNNEST(`s`.`events`) AS `e`',
    ],
    [
      'SELECT 1 FROM otel.spans, spans.events',
      'SELECT 1 FROM <spans> AS `spans`, UNNEST(`spans`.`events`) AS `events`',
    ],
    [
      'SELECT (SELECT COUNT(*) FROM s.events) FROM otel.spans AS s',
      'SELECT (SELECT count(*) FROM UNNEST(`s`.`events`) AS `events`) FROM <spans> AS `s`',
    ],
    [
      'SELECT 1 FROM otel.spans s LEFT JOIN UNNEST(s.events) e WITH OFFSET o ON TRUE',
      'SELECT 1 FROM <spans> AS `s` LEFT JOIN UNNEST(`s`.`events`) AS `e` WITH OFFSET AS `o` ON TRUE',
    ],
    [
      'WITH X AS (SELECT 1 AS n) SELECT n FROM x',
      'WITH `sightline_with_1` AS (SELECT 1 AS `n`) SELECT `n` FROM `sightline_with_1` AS `x`',
    ],
    [
      'SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 ORDER BY n LIMIT 2',
      '((SELECT 1 AS `n`) UNION ALL (SELECT 2)) UNION ALL (SELECT 3) ORDER BY `n` LIMIT 2',
    ],
    [
      'SELECT TIMESTAMP_TRUNC(time, HOUR), DATE_TRUNC(DATE(time), WEEK(MONDAY)), timestamp_diff(a, b, day)',
      'SELECT timestamp_trunc(`time`, HOUR), date_trunc(date(`time`), WEEK(MONDAY)), timestamp_diff(`a`, `b`, DAY)',
    ],
    ['SELECT APPROX_QUANTILES(x, 100)[OFFSET(95)]', 'SELECT approx_quantiles(`x`, 100)[OFFSET(95)]'],
    [
      'SELECT ARRAY_AGG(DISTINCT x IGNORE NULLS ORDER BY y DESC LIMIT 3)',
      'SELECT array_agg(DISTINCT `x` IGNORE NULLS ORDER BY `y` DESC LIMIT 3)',
    ],
    ['SELECT ANY_VALUE(x HAVING MAX y)', 'SELECT any_value(`x` HAVING MAX `y`)'],
    [
      'SELECT SAFE.PARSE_JSON(x), NET.HOST(y), CURRENT_TIMESTAMP',
      'SELECT SAFE.parse_json(`x`), net.host(`y`), current_timestamp()',
    ],
    [
      'SELECT ARRAY<STRUCT<a INT64>>[(1)], STRUCT(1 AS a).a',
      'SELECT ARRAY<STRUCT<`a` INT64>>[1], STRUCT(1 AS `a`).`a`',
    ],
    ["SELECT attributes.`http.route`, j['a']", "SELECT `attributes`.`http.route`, `j`['a']"],
    ['SELECT a | b & c << 1 + 2 * 3', 'SELECT `a` | (`b` & (`c` << (1 + (2 * 3))))'],
    ['SELECT NOT a = b OR c AND d', 'SELECT (NOT (`a` = `b`)) OR (`c` AND `d`)'],
    [String.raw`SELECT "it's", r'\d', '''a'b''', "\x41é\n"`, String.raw`SELECT 'it\'s', '\\d', 'a\'b', 'Aé\n'`],
    ['SELECT 1 # one\n, 2 /* two */ -- three', 'SELECT 1, 2'],
    [
      'SELECT 1 FROM otel.spans QUALIFY ROW_NUMBER() OVER (ORDER BY time) = 1',
      'SELECT 1 FROM <spans> AS `spans` QUALIFY (row_number() OVER (ORDER BY `time`)) = 1',
    ],
  ])('%s', async (sql, expected) => {
    expect(await written(sql)).toBe(expected);
  });

  it.each([
    ['SELECT * FROM hr.salaries', 'unknown_table'],
    ['SELECT * FROM `p.otel.spans`', 'unknown_table'],
    ['SELECT * FROM p.otel.spans', 'unknown_table'],
    ['SELECT * FROM `otel.spans*`', 'unknown_table'],
    ['SELECT * FROM hr.salaries, otel.spans AS hr', 'unknown_table'],
    ['SELECT * FROM otel.spans AS s, (SELECT * FROM t.x)', 'unknown_table'],
    ['SELECT * FROM otel.INFORMATION_SCHEMA.TABLES', 'unknown_table'],
    ["SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')", 'sql_refused'],
    ['SELECT * FROM ML.PREDICT(MODEL m, TABLE t)', 'sql_syntax'],
    ['SELECT * FROM otel.spans FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP()', 'sql_refused'],
    ['FROM otel.spans |> WHERE TRUE', 'sql_refused'],
    ['SELECT 1 FROM otel.spans |> WHERE TRUE', 'sql_syntax'],
    ['SELECT @@project_id', 'sql_refused'],
    ['SELECT @p', 'sql_refused'],
    ["SELECT b'x'", 'sql_refused'],
    ['SELECT SESSION_USER()', 'unknown_function'],
    ['SELECT SAFE.SESSION_USER()', 'unknown_function'],
    ['SELECT `hr.salaries`.name', 'sql_refused'],
    ['CREATE TEMP FUNCTION f() AS (1); SELECT f()', 'sql_multiple_statements'],
    ['DECLARE x INT64', 'sql_not_read_only'],
    ['EXECUTE IMMEDIATE "SELECT 1"', 'sql_not_read_only'],
    ["SELECT '''a", 'sql_syntax'],
    ["SELECT 'a\nb'", 'sql_syntax'],
    ["SELECT '\\0'", 'sql_syntax'],
  ])('refuses %s', async (sql, code) => {
    await expect(admit(sql)).rejects.toMatchObject({ code });
  });

  it('tells what its predicates leave of a table', async () => {
    const { reaches } = await admit(
      `SELECT TIMESTAMP '2000-01-01' AS time FROM otel.spans
       WHERE time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 HOUR) AND time < TIMESTAMP '2026-01-02 00:00:00 UTC'`,
    );
    expect(reaches).toEqual([{ start: { fromNowMs: -7_201_000 }, end: { at: new Date('2026-01-02T00:00:00Z') } }]);
  });

  it('claims nothing for a time that may be of another item', async () => {
    const { reaches } = await admit(`SELECT 1 FROM otel.spans s, s.events e WHERE time > TIMESTAMP '2026-01-01'`);
    expect(reaches).toEqual([{}]);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError, type ErrorCode } from '../../../src/contract/core/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { openGate, type PostgresGate } from './index.ts';

let gate: PostgresGate;
beforeAll(async () => {
  gate = await openGate(sqlHelpers);
});

const write = async (sql: string) => gate.template(gate.check(await gate.parse(sql))).write((table) => `<${table}>`);

async function refusal(sql: string): Promise<SightlineError> {
  try {
    await write(sql);
  } catch (error) {
    if (error instanceof SightlineError) return error;
    throw error;
  }
  throw new Error(`let through: ${sql}`);
}

describe('the SQL that is sent', () => {
  it.each([
    ['SELECT name FROM otel.spans', 'SELECT name FROM <spans> AS spans'],
    ['SELECT s.name FROM otel.spans s', 'SELECT s . name FROM <spans> s'],
    ['SELECT a FROM otel.spans AS s(a, b)', 'SELECT a FROM <spans> AS s ( a , b )'],
    ['SELECT "otel"."spans".name FROM "otel".spans', 'SELECT "spans" . name FROM <spans> AS spans'],
    ['TABLE otel.logs;', 'SELECT * FROM <logs> AS logs'],
    ['SELECT 1 FROM (TABLE OTEL.Logs) x', 'SELECT 1 FROM ( SELECT * FROM <logs> AS logs ) x'],
    ['SELECT otel.spans.* FROM otel.spans *', 'SELECT spans . * FROM <spans> AS spans'],
    [";;SELECT/*a*/1--b\n;--'", 'SELECT 1'],
    ["SELECT 'é 😀', 0x10 -- 'x\n", "SELECT 'é 😀' , 16"],
    ['SELECT 1 FROM otel.spans a JOIN otel.logs b ON true', 'SELECT 1 FROM <spans> a JOIN <logs> b ON true'],
  ])('of %s is %s', async (sql, expected) => {
    expect(await write(sql)).toBe(expected);
  });

  it('keeps every character of a text', async () => {
    const all = Array.from({ length: 0x2ff }, (_, code) => String.fromCodePoint(code + 1)).join('');
    const text = `${all}\u2028\ufeff😀`.replaceAll("'", "''");
    expect(await write(`SELECT '${text}', "${text.replaceAll('"', '""').slice(0, 20)}" FROM otel.spans`)).toContain(
      text,
    );
  });

  it.each(['\u00a0', '\ufeff', '\u2028'])(
    'keeps a name that ends with what JavaScript takes for a blank',
    async (blank) => {
      const sql = `WITH "a${blank}" AS ( SELECT 1 ) SELECT * FROM a${blank}`;
      expect(await write(sql)).toBe(sql);
      expect((await refusal(`WITH a AS (SELECT 1) SELECT * FROM a${blank}`)).code).toBe('unknown_table');
    },
  );

  it('is written again for another relation without another look at the statement', async () => {
    const statement = gate.template(gate.check(await gate.parse('SELECT 1 FROM otel.spans, otel.logs l')));
    expect(statement.tables).toEqual(['spans', 'logs']);
    expect(statement.write(() => '(a)')).toBe('SELECT 1 FROM (a) AS spans , (a) l');
    expect(statement.write((table) => `(${table} '$&$1')`)).toBe(
      "SELECT 1 FROM (spans '$&$1') AS spans , (logs '$&$1') l",
    );
  });
});

describe('a refusal', () => {
  it.each<[string, ErrorCode, RegExp, number | undefined]>([
    ['SELEC 1', 'sql_syntax', /at or near "SELEC"/, 1],
    ["SELECT 'é😀' x y z", 'sql_syntax', /at or near "y"/, 16],
    ['SELECT /* 😀 */ a FROM  FROM', 'sql_syntax', /at or near "FROM"/, 25],
    ['SELECT 1 FROM', 'sql_syntax', /at the end/, 14],
    ["SELECT 'abc", 'sql_syntax', /near "'abc"/, 8],
    ['SELECT "" FROM x', 'sql_syntax', /near """"/, 8],
    ['', 'sql_syntax', /no statement/, 1],
    [' -- nothing\n;;', 'sql_syntax', /no statement/, 1],
    ['SELECT 1; SELECT 2', 'sql_multiple_statements', /one statement/, undefined],
    ["INSERT INTO otel.spans VALUES ('x')", 'sql_not_read_only', /INSERT/, undefined],
    ['WITH x AS (DELETE FROM otel.spans RETURNING 1) SELECT * FROM x', 'sql_not_read_only', /DELETE/, undefined],
    ['EXPLAIN SELECT 1', 'sql_refused', /EXPLAIN/, undefined],
    ['SELECT 1 FROM otel.span', 'unknown_table', /otel\.span"/, 15],
    ['/* 😀 */ SELECT 1 FROM traces', 'unknown_table', /traces/, 24],
    ['SELECT quantile(duration_nano) FROM otel.spans', 'unknown_function', /quantile/, 8],
    ['SELECT pg_sleep(1)', 'unknown_function', /pg_sleep/, 8],
    ['SELECT name::regclass FROM otel.spans', 'sql_refused', /type regclass/, 14],
    ['SELECT $1', 'sql_refused', /ParamRef/, 8],
    ['SELECT CURRENT_USER', 'sql_refused', /SQLValueFunction/, 8],
    ['SELECT ctid FROM otel.spans', 'sql_refused', /System columns/, 8],
  ])('of %s says where and why', async (sql, code, message, position) => {
    const error = await refusal(sql);
    expect({ code: error.code, position: error.position }).toEqual({ code, position });
    expect(error.message).toMatch(message);
  });

  it.each([
    ['SELECT quantile(duration_nano, 0.5) FROM otel.spans', /percentile_cont/],
    ["SELECT time_bucket('5 minutes', time) FROM otel.spans", /date_bin/],
    ['SELECT regexp_replac(name) FROM otel.spans', /regexp_replace/],
    ['SELECT `name` FROM otel.spans', /double quotes/],
    ['SELECT name FROM otel.spans QUALIFY 1 = 1', /subquery/],
    ['SELECT name, count(*) FROM otel.spans GROUP BY ALL', /GROUP BY 1/],
    ['SELECT 1 FROM otel.spans WHERE time > now() - INTERVAL 5 MINUTE', /INTERVAL '5 minutes'/],
    ['SELECT 1 FROM otel.traces', /otel\.spans/],
    ['SELECT * FROM otel.spans TABLESAMPLE system (1)', /random/],
    ['SELECT * INTO x FROM otel.spans', /INTO/],
    ['SHOW ALL', /SHOW TABLES/],
  ])('of %s says what to write instead', async (sql, hint) => {
    expect((await refusal(sql)).hint).toMatch(hint);
  });
});

describe('a name in FROM means what it means to PostgreSQL', () => {
  it.each([
    'WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM a, b',
    'WITH a AS (SELECT 1) SELECT (SELECT 1 FROM a LIMIT 1) FROM (SELECT * FROM a) x ORDER BY (SELECT 1 FROM a)',
    'WITH a AS (SELECT 1) SELECT * FROM a UNION SELECT * FROM a',
    'WITH a AS (SELECT 1), c AS (WITH b AS (SELECT * FROM a) SELECT * FROM b) SELECT * FROM c',
    'WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a',
    'WITH a AS (SELECT 1) SELECT * FROM (WITH a AS (SELECT * FROM a) SELECT * FROM a) x',
    'WITH spans AS (SELECT * FROM otel.spans) SELECT * FROM spans',
  ])('in %s', async (sql) => {
    expect(await write(sql)).toContain('SELECT');
  });

  it.each([
    'WITH a AS (SELECT * FROM a) SELECT * FROM a',
    'WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a',
    'SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) x, a',
    'WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM b',
    '(WITH a AS (SELECT 1) SELECT * FROM a) UNION SELECT * FROM a',
    'SELECT * FROM otel.spans s, LATERAL (SELECT * FROM s) x',
  ])('and is refused where it means nothing known: %s', async (sql) => {
    expect((await refusal(sql)).code).toBe('unknown_table');
  });
});

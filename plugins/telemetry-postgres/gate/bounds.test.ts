import { beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { openGate, type PostgresGate } from './index.ts';
import { GrammarError, Parser, ParserLost } from './parser.ts';

const many = (text: string, times: number) => text.repeat(times);

/** Whatever grows with the statement; each would nest, chain or repeat for as long as it may. */
const shapes: Readonly<Record<string, (times: number) => string>> = {
  parentheses: (n) => `SELECT ${many('(', n)}1${many(')', n)}`,
  calls: (n) => `SELECT ${many('abs(', n)}1${many(')', n)}`,
  subqueries: (n) => `SELECT ${many('(SELECT ', n)}1${many(')', n)}`,
  cases: (n) => `SELECT ${many('CASE WHEN true THEN ', n)}1${many(' END', n)}`,
  arrays: (n) => `SELECT ${many('ARRAY[', n)}1${many(']', n)}`,
  sums: (n) => `SELECT ${many('1+', n)}1`,
  signs: (n) => `SELECT ${many('- ', n)}1`,
  negations: (n) => `SELECT ${many('NOT ', n)}true`,
  casts: (n) => `SELECT 1${many('::int', n)}`,
  collations: (n) => `SELECT 'a'${many(' COLLATE "C"', n)}`,
  unions: (n) => `SELECT 1${many(' UNION SELECT 1', n)}`,
  joins: (n) => `SELECT 1 FROM otel.spans a${many(' CROSS JOIN otel.spans b', n)}`,
  zones: (n) => `SELECT now()${many(" AT TIME ZONE 'UTC'", n)}`,
  tests: (n) => `SELECT true${many(' IS TRUE', n)}`,
  names: (n) => `SELECT a${many('.a', n)}`,
  subscripts: (n) => `SELECT a${many('[1]', n)}`,
  items: (n) => `SELECT 1 IN (${many('1,', n)}1)`,
  columns: (n) => `SELECT ${many('name,', n)}name FROM otel.spans`,
  conditions: (n) => `SELECT 1 FROM otel.spans WHERE ${many("name = 'a' OR ", n)}true`,
  comments: (n) => `SELECT 1 ${many('/*', n)}${many('*/', n)}`,
  'empty comments': (n) => `SELECT 1 ${many('/**/', n)}`,
  operators: (n) => `SELECT 1 ${many('+-', n)}1`,
  'long operators': (n) => `SELECT 1 ${many('@', n)} 1`,
  statements: (n) => many('SELECT 1;', n),
  semicolons: (n) => many(';', n),
  'open parentheses': (n) => many('(', n),
  quotes: (n) => `SELECT '${many("''", n)}'`,
  continuations: (n) => `SELECT 'a'${many("\n'a'", n)}`,
  ctes: (n) => `WITH ${Array.from({ length: n }, (_, i) => `a${i} AS (SELECT 1)`).join(',')} SELECT 1`,
  aliases: (n) => `SELECT ${Array.from({ length: n }, (_, i) => `f${i}.v`).join(',')} FROM otel.spans`,
};

describe('a statement without end', () => {
  let gate: PostgresGate;
  beforeAll(async () => {
    gate = await openGate(sqlHelpers);
  });

  it.each(Object.keys(shapes))('of %s is answered or refused, and harms no other', async (shape) => {
    for (const times of [100, 1_000, 20_000]) {
      const sql = shapes[shape]?.(times) ?? '';
      try {
        gate.check(await gate.parse(sql));
      } catch (error) {
        expect(error).toBeInstanceOf(SightlineError);
        expect(String(error)).not.toMatch(/memory|stack/i);
      }
      const after = gate.template(gate.check(await gate.parse('SELECT name FROM otel.spans')));
      expect(after.write(() => '(x)')).toBe('SELECT name FROM (x) AS spans');
    }
  });

  it('is let through where it is only long', async () => {
    const ids = Array.from({ length: 1_500 }, (_, i) => `'${i.toString(16).padStart(32, '0')}'`);
    gate.check(await gate.parse(`SELECT * FROM otel.spans WHERE trace_id IN (${ids.join(', ')})`));
    const rows = Array.from({ length: 1_000 }, (_, i) => `(${i}, 'x')`);
    gate.check(await gate.parse(`SELECT * FROM (VALUES ${rows.join(', ')}) AS v(a, b)`));
    const text = many('a rather long sentence, as logs have it. ', 700);
    gate.check(await gate.parse(`SELECT * FROM otel.logs WHERE body = '${text}' -- ${many('=', 100)}`));
  });

  it('is refused when it reads the tables at hundreds of places, each of which becomes a subquery', async () => {
    const places = (n: number) => `SELECT 1 FROM ${Array.from({ length: n }, (_, i) => `otel.spans s${i}`).join(', ')}`;
    expect(gate.check(await gate.parse(places(100))).reaches).toHaveLength(100);
    const parsed = await gate.parse(places(101));
    expect(() => gate.check(parsed)).toThrow('too large');
  });

  it('is refused for its size before anything reads it', async () => {
    const error = await gate.parse(`SELECT '${many('x', 300_000)}'`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'sql_too_large' });
  });
});

describe('what a statement makes of nothing', () => {
  let gate: PostgresGate;
  beforeAll(async () => {
    gate = await openGate(sqlHelpers);
  });

  it.each([
    "SELECT count(x) FROM (SELECT array_agg(repeat(repeat('x', 1000000), 50)) AS x FROM generate_series(1, 20)) AS t",
    "SELECT repeat('x', 1000*1000*50)",
    "SELECT repeat('x', (1e6 * 50)::int)",
    "SELECT repeat(v, 50) FROM (SELECT repeat('x', 1000000) AS v) AS t",
    "SELECT repeat(repeat, 50) FROM (SELECT repeat('x', 1000000)) AS t",
    "SELECT lpad('x', n) FROM (SELECT 50000000 AS n) AS t",
    'SELECT rpad(body, length(body) * 1000000) FROM otel.logs',
    "SELECT repeat('#', count(*)::int) FROM otel.logs",
    "WITH a AS (SELECT repeat('x', 900000) AS v), b AS (SELECT v || v AS v FROM a) SELECT v || v FROM b",
    "WITH RECURSIVE t(v, n) AS (SELECT 'x'::text, 1 UNION ALL SELECT v || v, n + 1 FROM t WHERE n < 30) SELECT length(v) FROM t",
    "WITH RECURSIVE t AS (SELECT 'x'::text AS v UNION ALL SELECT concat(v, v) FROM t) SELECT length(v) FROM t",
    "SELECT array_agg(repeat('x', 1000000)) FROM generate_series(1, 1000)",
    "SELECT string_agg(repeat('x', 20000), '') FROM otel.logs",
    "SELECT ARRAY(SELECT repeat('x', 100000) FROM generate_series(1, 1000), generate_series(1, 1000))",
    "SELECT jsonb_agg(v) FROM (SELECT repeat('x', 100000) AS v FROM generate_series(1, 1000000)) AS t",
    'SELECT array_agg(a) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b',
    'SELECT array_fill(1, ARRAY[10000, 10000])',
    "SELECT format('%50000000s', 'x')",
    "SELECT replace(repeat('x', 1000000), 'x', repeat('y', 100))",
  ])('is refused where it is more than anybody reads: %s', async (sql) => {
    const parsed = await gate.parse(sql);
    expect(() => gate.check(parsed)).toThrow(
      expect.objectContaining({ code: 'sql_refused', hint: expect.stringMatching(/least|left|LIMIT/) }),
    );
  });

  it.each([
    "SELECT repeat('#', least(count(*), 60)::int) FROM otel.spans GROUP BY service_name",
    'SELECT rpad(name, 40) || lpad(duration_nano::text, 12) FROM otel.spans',
    "SELECT string_agg(DISTINCT service_name, ', '), (array_agg(body ORDER BY time DESC))[1] FROM otel.logs",
    "SELECT regexp_replace(body, '[0-9]+', '#', 'g') FROM otel.logs",
    'SELECT array_agg(a) FROM generate_series(1, 100000) AS a',
    "WITH RECURSIVE t(id, path) AS (SELECT span_id, name FROM otel.spans UNION ALL SELECT s.span_id, t.path || ' > ' || s.name FROM otel.spans AS s JOIN t ON s.parent_span_id = t.id) SELECT path FROM t",
    "SELECT g FROM generate_series(now() - interval '1 hour', now(), interval '1 minute') AS g",
  ])('runs where it is what people write: %s', async (sql) => {
    gate.check(await gate.parse(sql));
  });

  it('is looked at in no time, however deep it nests', async () => {
    const nested = (n: number) => `${many("repeat('x', length(", n)}'x'${many('))', n)}`;
    const subqueries = `${many('SELECT v || v AS v FROM (', 90)}SELECT name AS v FROM otel.spans${many(') AS t', 90)}`;
    for (const sql of [`SELECT ${nested(60)}`, subqueries]) {
      const parsed = await gate.parse(sql);
      try {
        gate.check(parsed);
      } catch (error) {
        expect(error).toBeInstanceOf(SightlineError);
      }
    }
  });
});

describe('the parser', () => {
  it('is whole again after statements that broke it', async () => {
    const parser = new Parser();
    for (let round = 0; round < 3; round += 1) {
      await expect(parser.parse(`SELECT ${many('1+', 30_000)}1`)).rejects.toThrow(ParserLost);
      expect(await parser.parse('SELECT 1')).toMatchObject({ stmts: [{}] });
    }
    await expect(parser.parse('SELECT 1 FROM')).rejects.toThrow(GrammarError);
  });
});

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

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { likeMatcher, parseServiceCommand } from './service-command.ts';

describe('parseServiceCommand', () => {
  it.each([
    ['SHOW TABLES', { kind: 'tables' }],
    ['show tables;', { kind: 'tables' }],
    ['  Show\n\tTables ; ; ', { kind: 'tables' }],
    ["SHOW TABLES LIKE '%an%'", { kind: 'tables', like: '%an%' }],
    ['SHOW TABLES FROM otel', { kind: 'tables' }],
    ["SHOW TABLES IN OTEL LIKE 's%'", { kind: 'tables', like: 's%' }],
    ['/* which? */ -- tables\nSHOW FULL TABLES -- done', { kind: 'tables' }],
    ['DESCRIBE otel.spans', { kind: 'columns', table: 'spans' }],
    ['desc "otel"."Spans";', { kind: 'columns', table: 'Spans' }],
    ['DESCRIBE TABLE `otel`.`logs`', { kind: 'columns', table: 'logs' }],
    ['describe `otel.metrics`', { kind: 'columns', table: 'metrics' }],
    ['DESC logs', { kind: 'columns', table: 'logs' }],
    ['SHOW COLUMNS FROM otel.spans', { kind: 'columns', table: 'spans' }],
    ["show columns in spans like '%_id'", { kind: 'columns', table: 'spans', like: '%_id' }],
    ['SHOW ATTRIBUTES FROM otel.spans', { kind: 'attributes', table: 'spans' }],
    ["SHOW ATTRIBUTES FROM otel.spans LIKE 'http.%';", { kind: 'attributes', table: 'spans', like: 'http.%' }],
    ["show attributes from otel . spans ilike 'it''s'", { kind: 'attributes', table: 'spans', like: "it's" }],
    ['DESCRIBE otel.traces', { kind: 'columns', table: 'traces' }],
  ])('reads %j', (sql, expected) => {
    expect(parseServiceCommand(sql)).toEqual(expected);
  });

  it.each([
    'SHOW',
    'SHOW DATABASES',
    'SHOW CREATE TABLE otel.spans',
    'SHOW ATTRIBUTES',
    'SHOW ATTRIBUTES FROM otel.spans WHERE 1',
    'SHOW TABLES; DROP TABLE x',
    'SHOW TABLES LIKE spans',
    'SHOW TABLES FROM system',
    "SHOW COLUMNS FROM otel.spans LIKE 'a' LIKE 'b'",
    'DESCRIBE SELECT 1',
    'DESCRIBE otel.spans; SELECT 1',
    'DESC (SELECT 1)',
    "DESCRIBE '/etc/passwd'",
    `SHOW ${'x '.repeat(10_000)}`,
  ])('refuses %j and lists what is answered', (sql) => {
    expect(() => parseServiceCommand(sql)).toThrow(
      expect.objectContaining({ code: 'sql_refused', hint: expect.stringContaining('SHOW ATTRIBUTES') }),
    );
  });

  it('refuses a pattern that would cost much to match against every name', () => {
    const command = (length: number) => `SHOW ATTRIBUTES FROM otel.spans LIKE '${'%_'.repeat(length / 2)}'`;
    expect(parseServiceCommand(command(256))).toMatchObject({ kind: 'attributes' });
    expect(() => parseServiceCommand(command(258))).toThrow(
      expect.objectContaining({ code: 'sql_refused', message: expect.stringContaining('256') }),
    );
    expect(() => parseServiceCommand(command(60_000))).toThrow(expect.objectContaining({ code: 'sql_refused' }));
  });

  it('names the tables for one of another schema', () => {
    expect(() => parseServiceCommand('DESCRIBE system.users')).toThrow(
      expect.objectContaining({ code: 'unknown_table', hint: expect.stringContaining('otel.spans') }),
    );
  });

  it.each([
    'SELECT 1',
    'select show',
    'WITH show AS (SELECT 1) SELECT * FROM show',
    'SHOWTABLES',
    'described',
    '-- SHOW TABLES',
    "/* SHOW */ SELECT 'x'",
    '',
  ])('leaves %j to the warehouse', (sql) => {
    expect(parseServiceCommand(sql)).toBeUndefined();
  });

  it('reads a command in any case, spacing, comments and quoting', () => {
    const space = fc.stringMatching(/^(?: |\n|\t|--[a-z' ]*\n|\/\*[a-z'"]*\*\/){1,3}$/);
    const quoted = (name: string): fc.Arbitrary<string> =>
      fc.constantFrom(name, name.toUpperCase(), `"${name}"`, `\`${name}\``);
    fc.assert(
      fc.property(
        fc.array(space, { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        quoted('spans'),
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('', ';', ' ;;'),
        ([a, b, c, d, e, f, g, h], lower, table, like, end) => {
          const word = (text: string): string => (lower ? text.toLowerCase() : text);
          const sql = `${a}${word('SHOW')}${b}${word('ATTRIBUTES')}${c}${word('FROM')}${d}otel${e}.${f}${table}${g}${word('LIKE')}${h}'${like.replaceAll("'", "''")}'${end}`;
          expect(parseServiceCommand(sql)).toEqual({ kind: 'attributes', table: table.replace(/["`]/g, ''), like });
        },
      ),
    );
  });

  it('answers or refuses whatever else is sent, and quickly', () => {
    const start = fc.constantFrom('SHOW ', 'DESC ', 'describe\n', '/*'.repeat(2000), '--'.repeat(2000));
    fc.assert(
      fc.property(start, fc.string({ unit: 'binary', maxLength: 3000 }), (first, rest) => {
        try {
          parseServiceCommand(first + rest);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^(?:sql_refused|unknown_table)$/) });
        }
      }),
    );
  });
});

describe('likeMatcher', () => {
  const reference = (pattern: string): RegExp =>
    new RegExp(
      `^${pattern.replace(
        /\\(.)|([%_])|([^])/gsu,
        (_, escaped: string | undefined, wild: string | undefined, other: string | undefined) => {
          if (wild !== undefined) return wild === '%' ? '[^]*' : '[^]';
          return (escaped ?? other ?? '').replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
        },
      )}$`,
      'iu',
    );

  it('means what a regular expression of the pattern means', () => {
    const text = fc.stringMatching(/^[aAb%_.\\]{0,8}$/);
    fc.assert(
      fc.property(text, text, (value, pattern) => {
        // A backslash at the end escapes nothing; it is checked below.
        fc.pre(!/(?:^|[^\\])(?:\\\\)*\\$/.test(pattern));
        expect(likeMatcher(pattern)(value)).toBe(reference(pattern).test(value));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['http.route', 'http.%', true],
    ['http.route', 'HTTP.ROUTE', true],
    ['http_route', 'http\\_route', true],
    ['httpxroute', 'http\\_route', false],
    ['100%', '100\\%', true],
    ['a\\', 'a\\', true],
    ['', '%', true],
    ['', '', true],
    ['a', '', false],
    ['😀', '_', true],
  ])('%j like %j is %s', (text, pattern, expected) => {
    expect(likeMatcher(pattern)(text)).toBe(expected);
  });

  it('ends soon on a pattern made to backtrack', () => {
    expect(likeMatcher(`${'%a'.repeat(200)}b`)('a'.repeat(2000))).toBe(false);
  });
});

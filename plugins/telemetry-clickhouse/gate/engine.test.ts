import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SqlGate } from '../../../src/contract/telemetry/index.ts';
import { sqlGates } from '../../../src/telemetry/gate/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { legitimate } from '../support/legitimate.ts';
import { plainTables } from '../support/plain-tables.ts';
import { policy } from './policy.ts';

/** Operators as a caller may write them in a row, without brackets: the grouping is the engine's. */
const binary = ['+', '-', '*', '/', '%', ' DIV ', ' MOD ', '||', '=', '==', '!=', '<>', '<', '>=', '<=>'];
const words = [' AND ', ' OR ', ' LIKE ', ' NOT LIKE ', ' ILIKE ', ' IS DISTINCT FROM ', ' IS NOT DISTINCT FROM '];
const after = [
  ' IS NULL',
  ' IS NOT NULL',
  ' IN (1, 2)',
  ' NOT IN (3)',
  ' GLOBAL IN (SELECT 1)',
  '::Nullable(Int8)',
  '[2]',
];

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    {
      weight: 4,
      arbitrary: fc.constantFrom('a', 'b.c', '7', '1.5', '-1::String', "'x'", 'NULL', 'true', 'now()', '"q"', '`r s`'),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(tie('expression'), fc.constantFrom(...binary, ...words), tie('expression'))
        .map((parts) => parts.join('')),
    },
    { weight: 3, arbitrary: fc.tuple(tie('expression'), fc.constantFrom(...after)).map((parts) => parts.join('')) },
    { weight: 2, arbitrary: tie('expression').map((inner) => `NOT ${inner}`) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `-f(${inner})`.replace('f(', 'abs(')) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `+abs(${inner})`) },
    { weight: 2, arbitrary: tie('expression').map((inner) => `(${inner})`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('expression'), fc.constantFrom(' BETWEEN ', ' NOT BETWEEN '), tie('expression'))
        .map(([value, word, bound]) => `${value}${word}1 AND ${bound}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('expression'), tie('expression'), tie('expression'))
        .map(([condition, yes, no]) => `${condition} ? ${yes} : ${no}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('expression'), tie('expression'))
        .map(([when, then]) => `CASE WHEN ${when} THEN ${then} ELSE 0 END`),
    },
    { weight: 1, arbitrary: tie('expression').map((inner) => `arrayMap((x, y) -> ${inner}, [1], [2])`) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `toDateTime(0) + INTERVAL ${inner} DAY`) },
  ),
}));

/** Rows of statements without an order come in any. */
function inOrder(rows: string, sql: string): string {
  return /ORDER BY/.test(sql) ? rows : rows.split('\n').toSorted().join('\n');
}

describeOnEngine('what the gate writes for ClickHouse', () => {
  let server: ClickHouseServer;
  let gate: SqlGate;
  const written = async (sql: string) =>
    (await gate.admit(sql, new AbortController().signal)).write((table) => `(SELECT * FROM otel.${table})`);
  const answer = async (sql: string) => {
    try {
      return await server.run(sql);
    } catch {
      return undefined;
    }
  };

  beforeAll(async () => {
    gate = await sqlGates.open(policy, sqlHelpers);
    server = await ClickHouseServer.start();
    await server.runAll(plainTables);
  });
  afterAll(async () => server.stop());

  it('answers as the statement itself does, names of columns too', async () => {
    const wrong: string[] = [];
    for (const { sql, columns } of legitimate) {
      const format = '\nFORMAT TSVWithNamesAndTypes';
      const own = await server.run(sql.replace(/;\s*$/, '') + format);
      const ours = await server.run((await written(sql)) + format);
      if (inOrder(own, sql) !== inOrder(ours, sql)) wrong.push(`${sql}\n→ ${await written(sql)}`);
      if (own.split('\n', 1)[0]?.split('\t').length !== columns) wrong.push(`${sql} has not ${columns} columns`);
    }
    expect(wrong).toEqual([]);
  });

  it('groups operators as the engine does', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(expression, async (text) => {
        const own = await answer(`EXPLAIN AST SELECT ${text}`);
        // What only one of the two reads as an expression is refused, not misread.
        const ours = await written(`SELECT ${text}`).catch(() => undefined);
        // A number in brackets before `::` keeps its brackets in the engine's tree: `CAST('(7)')`.
        // And a chain of AND or OR is one call, whose first links need no brackets.
        fc.pre(own !== undefined && ours !== undefined && !/\)(::| AND | OR )/.test(text));
        compared += 1;
        expect([ours, await server.run(`EXPLAIN AST ${ours}`)]).toEqual([ours, own]);
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThanOrEqual(300);
  });

  it('holds text exactly as the engine reads it', async () => {
    const content = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            "''",
            '\\a',
            '\\b',
            '\\f',
            '\\r',
            '\\v',
            '\\"',
            "\\'",
            '\\\\',
            '\\n',
            '\\t',
            '\\d',
            '\\.',
            '\\%',
            '\\_',
            '\\x41',
            '\\/',
            '"',
            '`',
            '--',
            '/*',
            ';',
          ),
          fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => text.replace(/[\\'\0]/g, '')),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(content, content, async (text, name) => {
        const alias = name.replace(/[\\`\p{C}]/gu, '') || 'n';
        const sql = `SELECT hex('${text}') AS \`${alias}\`, length('${text}')`;
        const format = ' FORMAT TSVWithNames';
        expect(await server.run((await written(sql)) + format)).toBe(await server.run(sql + format));
      }),
      { numRuns: 200 },
    );
  });
});

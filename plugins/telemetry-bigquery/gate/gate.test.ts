import { beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { type SqlGate } from '../../../src/contract/telemetry/index.ts';
import { sqlGates } from '../../../src/telemetry/gate/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { dialectOf } from '../dialect.ts';
import { attacks } from '../support/attacks.ts';
import { legitimate } from '../support/legitimate.ts';
import { functions, policy } from './policy.ts';

/** What a bound table is written as, so that nothing else can be taken for it. */
const hole = 'hole_7f3a';

/**
 * What a written statement reads besides holes and its own WITH, and calls besides the policy's functions, found without
 * the gate: strings are taken out, then every source after FROM, JOIN and the commas between them is looked at.
 */
function strangersIn(sql: string): readonly string[] {
  const bare = sql.replace(/'(?:[^'\\]|\\.)*'/g, "''");
  const own = new Set([...bare.matchAll(/`(sightline_with_\d+)` AS \(/g)].map(([, name]) => name));
  const found: string[] = [];
  for (const [, before, next] of bare.matchAll(/(\w+\([^()]*?|\b)(?<!\w)(?:FROM|JOIN)\s+(\(|UNNEST\(|`[^`]*`|\S+)/g)) {
    if (next === undefined || next === '(' || next === 'UNNEST(' || /^(?:extract|trim)\(/i.test(before ?? '')) continue;
    if (!own.has(next.replaceAll('`', ''))) found.push(`reads ${next}`);
  }
  for (const [, name] of bare.matchAll(/((?:\w+\.)?\w+)\(/g)) {
    const called = (name ?? '').toLowerCase();
    const isSyntax =
      /^(?:as|in|over|using|on|by|and|or|not|where|having|when|then|else|select|from|join|unnest|exists|with|except|replace|limit|rollup|interval|struct|week|all|distinct|qualify|array)$/;
    if (!functions.has(called) && !isSyntax.test(called) && called !== hole) found.push(`calls ${called}`);
  }
  for (const [, name = ''] of bare.matchAll(/`([^`]*)`/g)) if (/[.*$@]/.test(name)) found.push(`names ${name}`);
  if (/;|@|\||--|\/\*/.test(bare.replaceAll('||', ''))) found.push('has a sign of another statement');
  return found;
}

describe('the gate', () => {
  let gate: SqlGate;
  const admit = async (sql: string) => (await gate.admit(sql, new AbortController().signal)).write(() => `(${hole})`);

  beforeAll(async () => {
    gate = await sqlGates.open(policy, sqlHelpers);
  });

  it('finds strangers in a statement that has some', () => {
    expect(strangersIn('SELECT a FROM hr.x')).toEqual(['reads hr.x']);
    expect(strangersIn(`SELECT a FROM (${hole}) AS s JOIN \`hr.x\` AS t`)).toEqual(['reads `hr.x`', 'names hr.x']);
    expect(strangersIn(`SELECT session_user() FROM (${hole}) AS s`)).toEqual(['calls session_user']);
  });

  it('refuses or binds at least 150 hostile statements', async () => {
    expect(new Set(attacks.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(150);
    const wrong: string[] = [];
    for (const { sql, expect: expected } of attacks) {
      try {
        const written = await admit(sql);
        if (expected === 'refused') wrong.push(`${sql} → is let through: ${written}`);
        for (const stranger of strangersIn(written)) wrong.push(`${sql} → ${stranger}: ${written}`);
      } catch (error) {
        if (!(error instanceof SightlineError)) wrong.push(`${sql} → ${String(error)}`);
        else if (!/^(?:sql_|unknown_)/.test(error.code)) wrong.push(`${sql} → ${error.code}`);
        else if (error.code === 'sql_refused' && !error.hint) wrong.push(`${sql} → is refused without a hint`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('lets through at least 60 legitimate statements, and binds each', async () => {
    expect(new Set(legitimate.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(60);
    const wrong: string[] = [];
    for (const { sql } of legitimate) {
      try {
        const written = await admit(sql);
        for (const stranger of strangersIn(written)) wrong.push(`${sql} → ${stranger}: ${written}`);
      } catch (error) {
        wrong.push(`${sql} → ${String(error)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(['flat', 'nested'] as const)(
    'lets through the dialect’s own examples and writing, attributes %s',
    async (style) => {
      const { examples, write } = dialectOf(Object.values(sqlHelpers.tables), style);
      expect(examples.length).toBeGreaterThanOrEqual(6);
      const statements = [
        ...examples.map(({ sql }) => sql),
        `SELECT a.key, a.value FROM otel.spans AS s CROSS JOIN ${write.unnestMap('s.attributes', 'a')}`,
        `SELECT ${write.bucket('time', 300)} AS b, ${write.quantile('duration_nano', 0.95)}, ${write.countIf('TRUE')}, ${write.ratio('1', '0')} FROM otel.spans GROUP BY b`,
        `SELECT ${write.literal('it\'s \\ "quoted" \n 😀')}, ${write.literal(new Date(0))}, ${write.literal(true)}, ${write.literal(-1.5)}, ${write.literal(Number.NaN)}`,
        `SELECT ${write.attribute('attributes', "o'clock")}, ${write.attribute('attributes', 'a"b\\c')}, ${write.replaceRegexp('name', '\\d+', '#')} FROM otel.spans`,
      ];
      for (const sql of statements) expect([sql, strangersIn(await admit(sql))]).toEqual([sql, []]);
    },
  );

  it('knows functions in any case, and says what to write instead of others', async () => {
    expect(await admit('SELECT cOuNtIf(true) FROM otel.spans')).toContain('countif(TRUE)');
    await expect(admit('SELECT quantile(duration_nano) FROM otel.spans')).rejects.toMatchObject({
      code: 'unknown_function',
      hint: expect.stringContaining('APPROX_QUANTILES'),
    });
    expect(functions.size).toBeGreaterThan(200);
  });
});

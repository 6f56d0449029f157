import { describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { sqlHelpers } from '../../src/telemetry/query/helpers.ts';
import type { Json } from '../../src/contract/telemetry/index.ts';
import { Checker } from './gate/check.ts';
import { readStatement } from './statement.ts';

/** What json_serialize_sql answers for a statement that it parses and that is no SELECT. */
const notSelect = Buffer.from(JSON.stringify({ error: true, error_type: 'not implemented' }));

function refusal(sql: string): SightlineError {
  try {
    readStatement(sql, notSelect, sqlHelpers);
  } catch (error) {
    if (error instanceof SightlineError) return error;
  }
  throw new Error(`no refusal: ${sql}`);
}

describe('a statement that is no SELECT', () => {
  it.each([
    ['SET threads = 1', 'SET'],
    ['  /* one */ -- two\n/**/ pragma version', 'PRAGMA'],
    ["/* SELECT */ CREATE TABLE t AS SELECT '/*'", 'CREATE'],
    ['-- only a comment', 'This statement'],
    ['', 'This statement'],
  ])('%j is named by its first word', (sql, word) => {
    expect(refusal(sql).message).toBe(`${word} is not available; only a SELECT is.`);
  });

  it('that is full of comments begun and not ended is read once and not over and over', () => {
    // One scan is under a millisecond; one for each beginning is minutes.
    const sql = `SET x = '${'/*a'.repeat(1_000_000)}'`;
    expect(refusal(sql)).toMatchObject({ code: 'sql_not_read_only' });
    expect(refusal('/*a'.repeat(1_000_000))).toMatchObject({ code: 'sql_not_read_only' });
  }, 5_000);
});

describe('a constant in the tree', () => {
  const check = (constant: Json) => () =>
    new Checker(sqlHelpers, () => undefined).check({
      node: {
        type: 'SELECT_NODE',
        cte_map: { map: [] },
        select_list: [{ class: 'CONSTANT', type: 'VALUE_CONSTANT', value: constant }],
        from_table: { type: 'EMPTY' },
      },
    });

  it('is allowed with a known type alone', () => {
    const value = { is_null: false, value: 1 };
    expect(check({ ...value, type: { id: 'INTEGER', type_info: null } })).not.toThrow();
    for (const constant of [value, { ...value, type: null }, { ...value, type: { id: 'SECRET', type_info: null } }]) {
      expect(check(constant)).toThrow(SightlineError);
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { sqlHelpers } from '../../src/telemetry/query/helpers.ts';
import { Scope } from './gate/scope.ts';
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

describe('Scope', () => {
  it('knows its names and those around it, whatever their case, and not those added inside', () => {
    const outer = new Scope().with('Recent');
    const inner = outer.with('slow');
    expect([inner.has('recent'), inner.has('SLOW'), inner.has('other')]).toEqual([true, true, false]);
    expect([outer.has('RECENT'), outer.has('slow')]).toEqual([true, false]);
    expect(new Scope().has('recent')).toBe(false);
  });

  it('grows by one name without copying those before', () => {
    let scope = new Scope();
    for (let index = 0; index < 50_000; index += 1) scope = scope.with(`c${index}`);
    expect([scope.has('c0'), scope.has('c49999'), scope.has('c50000')]).toEqual([true, true, false]);
  }, 5_000);
});

import { describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { sqlHelpers } from '../../src/telemetry/query/helpers.ts';
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

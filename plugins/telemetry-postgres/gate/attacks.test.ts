import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, SightlineError } from '../../../src/contract/core/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { attacks } from '../support/attacks.ts';
import { openGate, type PostgresGate } from './index.ts';

const statements = attacks({ attacker: newId('org'), victim: newId('org') });

/** What the server would be sent, or why it is not. */
async function outcomeOf(gate: PostgresGate, sql: string): Promise<string | SightlineError> {
  try {
    return gate.template(gate.check(await gate.parse(sql))).write((table) => `(the relation of ${table})`);
  } catch (error) {
    if (error instanceof SightlineError) return error;
    throw new Error(`not a refusal: ${sql.slice(0, 200)}`, { cause: error });
  }
}

describe('hostile statements', () => {
  let gate: PostgresGate;
  beforeAll(async () => {
    gate = await openGate(sqlHelpers);
  });

  it('are refused with a code, a sentence and a hint, and no word of the parser', async () => {
    const wrong: string[] = [];
    for (const { sql, expect: expected } of statements) {
      if (expected !== 'refused') continue;
      const outcome = await outcomeOf(gate, sql);
      const shown = sql.slice(0, 200);
      if (typeof outcome === 'string') wrong.push(`let through: ${shown}`);
      else if (!/^(?:sql_(?!failed)|unknown_)/.test(outcome.code)) wrong.push(`${outcome.code}: ${shown}`);
      else if (outcome.code !== 'sql_syntax' && !outcome.hint) wrong.push(`no hint: ${shown}`);
    }
    expect(wrong).toEqual([]);
  });

  it('that only ask for what is theirs are let through: the boundary is for those', async () => {
    const wrong: string[] = [];
    for (const { sql, expect: expected } of statements) {
      if (expected === 'refused') continue;
      const outcome = await outcomeOf(gate, sql);
      if (typeof outcome !== 'string') wrong.push(`${outcome.message}: ${sql}`);
    }
    expect(wrong).toEqual([]);
  });

  it('never carry the name of a telemetry table to the server', async () => {
    for (const { sql } of statements) {
      const outcome = await outcomeOf(gate, sql);
      if (typeof outcome === 'string')
        expect(outcome.replace(/'[^']*'|\$x\$.*\$x\$/gs, '')).not.toMatch(/\botel"? \. "?(?:spans|metrics|logs)\b/i);
    }
  });
});

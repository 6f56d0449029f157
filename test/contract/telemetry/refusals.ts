import { SightlineError } from '../../../src/contract/core/index.ts';
import type { Runner } from '../runner.ts';
import type { Stage } from './stage.ts';

/** What is refused, and in which words. */
export function refusalPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('refusals', () => {
    it('have a code of their own each', async () => {
      const statements: readonly (readonly [string, string])[] = [
        ['SELEC 1', 'sql_syntax'],
        ['', 'sql_syntax'],
        ['SELECT 1; SELECT 2', 'sql_multiple_statements'],
        ['DELETE FROM otel.spans', 'sql_not_read_only'],
        ['DROP TABLE otel.spans', 'sql_not_read_only'],
        ["INSERT INTO otel.spans (name) VALUES ('x')", 'sql_not_read_only'],
        ['SELECT * FROM otel.traces', 'unknown_table'],
        ['SELECT nam FROM otel.spans', 'unknown_column'],
        ['SELECT no_such_function(name) FROM otel.spans', 'unknown_function'],
      ];
      for (const [sql, code] of statements) {
        const error = await stage().refusal(sql);
        expect(error).toBeInstanceOf(SightlineError);
        expect([sql, error instanceof SightlineError && error.code]).toEqual([sql, code]);
      }
    });

    it('say what to write instead', async () => {
      expect(await stage().refusal('SELECT * FROM otel.traces')).toMatchObject({ hint: stringWith('otel.spans') });
      expect(await stage().refusal('SELECT servce_name FROM otel.spans')).toMatchObject({
        hint: stringWith('service_name'),
      });
      expect(
        await stage().refusal('SELECT name, service_name FROM otel.spans UNION ALL SELECT name FROM otel.spans'),
      ).toMatchObject({ code: 'sql_failed', message: stringWith('UNION'), hint: stringWith('in each part') });
    });

    it('have words of their own for names that every object of JavaScript has', async () => {
      for (const name of ['constructor', 'valueOf', '__proto__']) {
        const error = await stage().refusal(`SELECT ${name}(name) FROM otel.spans`);
        if (!(error instanceof SightlineError)) throw new Error(`${name} was not refused`);
        expect([name, error.code, typeof (error.hint ?? '')]).toEqual([name, 'unknown_function', 'string']);
      }
    });

    it('never carry the engine’s message, which may hold other rows’ values', async () => {
      const error = await stage().refusal('SELECT CAST(name AS INTEGER) FROM otel.spans');
      expect(error).toBeInstanceOf(SightlineError);
      const { message, hint } = error instanceof SightlineError ? error : { message: '', hint: '' };
      expect(`${message} ${hint ?? ''}`).not.toContain('first');
      expect(message.length).toBeGreaterThan(0);
    });

    it('leave NUL and broken Unicode outside', async () => {
      expect(await stage().refusal('SELECT \0 1')).toBeInstanceOf(SightlineError);
      expect(await stage().refusal("SELECT '\ud800'")).toBeInstanceOf(SightlineError);
    });
  });
}

/** An asymmetric matcher that jest's `toMatchObject` understands, without jest. */
function stringWith(part: string): object {
  return {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch: (value: unknown) => typeof value === 'string' && value.includes(part),
    toString: () => `string with ${part}`,
  };
}

import { describe, expect, it } from '@jest/globals';
import { sqlHelpers } from '../../src/telemetry/query/helpers.ts';
import { ApiFailure } from './api.ts';
import { explain, type FailureContext } from './failures.ts';

const context: FailureContext = {
  helpers: sqlHelpers,
  tables: ['spans'],
  endedBy: undefined,
  maxBytesBilled: 20e9,
  sql: 'SELECT `servce_name`, no_such(`x`) FROM (SELECT `start_time` AS `time` FROM `otel.trace`) AS `spans`',
};
const said = (reason: string, message: string, status = 400) =>
  explain(new ApiFailure(message, reason, status), context);

describe('a failure', () => {
  it.each<[string, string, string]>([
    ['invalidQuery', 'Unrecognized name: servce_name; Did you mean service_name? at [1:8]', 'unknown_column'],
    ['invalidQuery', 'Name servce_name not found inside spans at [1:8]', 'unknown_column'],
    ['invalidQuery', 'Function not found: no_such at [1:23]', 'unknown_function'],
    ['invalidQuery', 'Syntax error: Unexpected end of script at [1:9]', 'sql_syntax'],
    ['invalidQuery', 'Bad int64 value: withheld-1', 'sql_failed'],
    ['invalidQuery', 'division by zero: 1 / 0', 'sql_failed'],
    ['invalidQuery', 'Duplicate column names in the result are not supported. Found duplicate(s): name', 'sql_failed'],
    ['invalidQuery', 'Something nobody has seen', 'sql_failed'],
    ['bytesBilledLimitExceeded', 'Query exceeded limit for bytes billed', 'query_too_costly'],
    ['quotaExceeded', 'Quota exceeded: your project', 'telemetry_unavailable'],
    ['rateLimitExceeded', 'Exceeded rate limits', 'telemetry_unavailable'],
    ['jobRateLimitExceeded', 'Exceeded rate limits', 'telemetry_unavailable'],
    ['resourcesExceeded', 'Resources exceeded during query execution', 'query_memory'],
    ['responseTooLarge', 'Response too large to return', 'query_memory'],
    ['accessDenied', 'Access Denied: Table p:hr.salaries', 'telemetry_unavailable'],
    ['notFound', 'Not found: Table p:otel.trace', 'telemetry_unavailable'],
    ['backendError', 'Error encountered during execution', 'telemetry_unavailable'],
    ['timeout', 'Job timed out', 'query_timeout'],
    ['stopped', 'Job execution was cancelled', 'query_timeout'],
    ['', 'socket hang up', 'telemetry_unavailable'],
  ])('of %s (%s) is %s', (reason, message, code) => {
    const error = said(reason, message);
    expect(error.code).toBe(code);
    expect(error.cause).toBeInstanceOf(ApiFailure);
    const shown = `${error.message} ${error.hint ?? ''} ${JSON.stringify(error.retry ?? {})}`;
    expect(shown).not.toMatch(/withheld|salaries|otel\.trace|your project/);
  });

  it('tells that the parts of a UNION differ in columns', () => {
    const message =
      'Queries in UNION ALL have mismatched column count; query 1 has 2 columns, query 2 has 1 column at [1:40]';
    expect(said('invalidQuery', message).message).toContain('UNION');
  });

  it('tells of a name what is near', () => {
    expect(said('invalidQuery', 'Unrecognized name: servce_name at [1:8]').hint).toContain('service_name');
  });

  it('takes no name out of a message that quotes a value, however it reads', () => {
    const values = [
      'Bad int64 value: Unrecognized name: withheld',
      'Could not cast literal "Function not found: withheld" to type INT64',
      'Failed to parse input string "\nUnrecognized name: withheld at [1:8]"',
      // Even a message that begins like ours names nothing that was not sent.
      'Unrecognized name: withheld',
      'Function not found: withheld at [1:8]',
    ];
    for (const message of values) {
      const error = said('invalidQuery', message);
      expect([message, `${error.message} ${error.hint ?? ''}`]).toEqual([
        message,
        expect.not.stringContaining('withheld'),
      ]);
    }
  });

  it('is what ended it, where that is the deadline or the caller', () => {
    const failure = new ApiFailure('Job execution was cancelled', 'stopped', 400);
    expect(explain(failure, { ...context, endedBy: 'deadline' }).code).toBe('query_timeout');
    expect(explain(failure, { ...context, endedBy: 'caller' }).code).toBe('query_cancelled');
  });

  it('says when to try again', () => {
    expect(said('quotaExceeded', '').retryAfterSeconds).toBeGreaterThan(0);
    expect(said('backendError', '', 503).retryAfterSeconds).toBeGreaterThan(0);
  });
});

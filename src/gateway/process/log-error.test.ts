import { describe, expect, it } from '@jest/globals';
import { serializeError } from './logger.ts';

describe('an error in the log', () => {
  it('has its type, message, stack, own members and causes', () => {
    const cause = Object.assign(new TypeError('the cause'), { code: 'E_WHY' });
    const error = new Error('what happened', { cause });
    expect(serializeError(error)).toMatchObject({
      type: 'Error',
      message: 'what happened',
      stack: expect.stringContaining('log-error.test'),
      cause: { type: 'TypeError', message: 'the cause', code: 'E_WHY' },
    });
  });

  it('is short, whatever a database put into it and wherever', () => {
    const long = 'z'.repeat(5_000_000);
    const cause = Object.assign(new Error(long), { failure: { kind: 'engine', message: long }, list: [long, long] });
    const text = JSON.stringify(serializeError(new Error(long, { cause })));
    expect(text.length).toBeLessThan(100_000);
    expect(text).toContain('[4996000 characters cut]');
  });

  it('ends where it is nested without end or goes round', () => {
    const round: { self?: object } = {};
    round.self = round;
    let deep = new Error('0');
    for (let level = 1; level < 10_000; level += 1) deep = new Error(String(level), { cause: deep });
    for (const error of [Object.assign(new Error('round'), { round }), deep]) {
      expect(JSON.stringify(serializeError(error)).length).toBeLessThan(200_000);
    }
  });

  it('that is no error is left as it is, but short', () => {
    expect(serializeError('thrown')).toBe('thrown');
    expect(serializeError(undefined)).toBeUndefined();
    expect(serializeError({ code: 7 })).toEqual({ code: 7 });
    expect(String(serializeError('z'.repeat(5_000))).length).toBeLessThan(4_100);
  });
});

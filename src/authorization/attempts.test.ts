import { describe, expect, it } from '@jest/globals';
import { createAttempts } from './attempts.ts';

describe('failed attempts', () => {
  const clock = () => {
    let time = 0;
    return { now: () => new Date(time), advance: (ms: number) => (time += ms) };
  };
  const fail = (attempts: ReturnType<typeof createAttempts>, times: number, address = 'a', id = 'k') =>
    Array.from({ length: times }, () => attempts.fail(address, id)).at(-1);

  it('are counted by address and client id, for a minute', () => {
    const { now, advance } = clock();
    const attempts = createAttempts(now);
    expect(fail(attempts, 10)).toBeUndefined();
    expect(fail(attempts, 1)).toBe(60);
    expect(fail(attempts, 1, 'b')).toBeUndefined();
    expect(fail(attempts, 1, 'a', 'other')).toBeUndefined();
    advance(59_500);
    expect(fail(attempts, 1)).toBe(1);
    advance(500);
    expect(fail(attempts, 1)).toBeUndefined();
  });

  it('take bounded memory', () => {
    const attempts = createAttempts(clock().now);
    fail(attempts, 11);
    for (let index = 0; index < 10_000; index += 1) attempts.fail('flood', String(index));
    expect(fail(attempts, 1)).toBeUndefined();
  });
});

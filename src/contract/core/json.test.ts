import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { bytesWithin } from './index.ts';

async function* parts(count: number, size: number) {
  for (let part = 0; part < count; part += 1) yield Buffer.alloc(size, part);
}

describe('a body', () => {
  it.each([
    ['single bytes', 20_000, 1],
    ['parts that outgrow what was set aside', 7, 9_000],
  ])('comes whole up to its bound, and not beyond: %s', async (_, count, size) => {
    const whole = await buffer(parts(count, size));
    expect(await bytesWithin(parts(count, size), whole.length)).toEqual(whole);
    expect(await bytesWithin(parts(count, size), whole.length - 1)).toBeUndefined();
  });
});

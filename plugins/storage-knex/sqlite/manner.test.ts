import { describe, expect, it } from '@jest/globals';
import { WriterManner } from './manner.ts';

const after = (work: (manner: WriterManner) => void): boolean => {
  const manner = new WriterManner();
  work(manner);
  return manner.threaded;
};

describe('a writer', () => {
  it('writes on a thread once it writes many rows at once, or often', () => {
    expect(after((manner) => manner.insert(99))).toBe(false);
    expect(after((manner) => manner.insert(100))).toBe(true);
    const begin = (times: number) => (manner: WriterManner) => {
      for (let time = 0; time < times; time += 1) manner.begin();
    };
    expect(after(begin(49))).toBe(false);
    expect(after(begin(50))).toBe(true);
  });

  it('is not taken for a busy one where it writes now and then', async () => {
    const manner = new WriterManner();
    for (let time = 0; time < 49; time += 1) manner.begin();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    for (let time = 0; time < 49; time += 1) manner.begin();
    expect(manner.threaded).toBe(false);
  });
});

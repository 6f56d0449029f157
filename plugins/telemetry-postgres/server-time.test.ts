import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ServerTime } from './known-small.ts';

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe("a server's time", () => {
  it('is what it was waited for', async () => {
    const took = new ServerTime();
    await sleep(300);
    expect(took.ms).toBeGreaterThan(100);
  });

  it('is not what this process was busy with', async () => {
    const began = performance.now();
    const took = new ServerTime();
    busy(100);
    await turn();
    expect(took.ms).toBeLessThan(50);
    busy(100);
    expect(took.ms).toBeLessThan(50);
    await turn();
    busy(100);
    // Without a turn of 100 ms, however long the machine kept this process waiting besides.
    expect(took.ms).toBeLessThan(performance.now() - began - 99);
    await sleep(600);
    expect(took.ms).toBeGreaterThan(500);
  });
});

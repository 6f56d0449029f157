import { expect, it } from '@jest/globals';
import { nextAttempt } from './sender.ts';

const now = new Date('2026-03-01T12:00:00Z');

it('waits longer each time, and gives up after three days', () => {
  let time = now;
  let pause = 0;
  for (let attempts = 1; ; attempts += 1) {
    const next = nextAttempt(attempts, time, () => 0);
    if (next === undefined) break;
    expect(next.getTime() - time.getTime()).toBeGreaterThanOrEqual(pause);
    pause = next.getTime() - time.getTime();
    time = next;
    expect(attempts).toBeLessThan(20);
  }
  const days = (time.getTime() - now.getTime()) / 86_400_000;
  expect(days).toBeGreaterThan(2.9);
  expect(days).toBeLessThan(3.1);
});

it('keeps those apart that failed at once', () => {
  expect(nextAttempt(1, now, () => 0.5)?.getTime()).toBeGreaterThan(nextAttempt(1, now, () => 0)?.getTime() ?? 0);
});

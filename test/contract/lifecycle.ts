import type { Component } from '../../src/contract/core/index.ts';
import { rejection, type Runner } from './runner.ts';

export interface ComponentUnderTest {
  readonly component: Component;
  /** Removes what the test made; called after `component.stop()`. */
  cleanup(): Promise<void>;
}

/** The promises of every component, whatever its kind: how it starts, says how it is, and ends. */
export function lifecycleContract(runner: Runner, make: () => Promise<ComponentUnderTest>): void {
  const { describe, it, expect, beforeEach, afterEach } = runner;

  describe('lifecycle', () => {
    let subject: ComponentUnderTest;
    let before: ReadonlyMap<string, number>;
    const signal = () => AbortSignal.timeout(20_000);

    beforeEach(async () => {
      before = activeResources();
      subject = await make();
    });
    afterEach(async () => {
      await subject.component.stop();
      await subject.cleanup();
    });

    it('starts nothing when it is created', async () => {
      expect(await leftRunning(before)).toEqual([]);
    });

    it('stops safely without having been started', async () => {
      await subject.component.stop();
      expect(await leftRunning(before)).toEqual([]);
    });

    it('is well once started', async () => {
      await subject.component.start(signal());
      const health = await subject.component.health(signal());
      expect(health.ok).toBe(true);
    });

    it('says that it is not well before it is started, and after it was stopped', async () => {
      expect((await subject.component.health(signal())).ok).toBe(false);
      await subject.component.start(signal());
      await subject.component.stop();
      expect((await subject.component.health(signal())).ok).toBe(false);
    });

    it('stops safely twice, and at once', async () => {
      await subject.component.start(signal());
      await Promise.all([subject.component.stop(), subject.component.stop()]);
      await subject.component.stop();
      expect(await leftRunning(before)).toEqual([]);
    });

    it('leaves nothing running', async () => {
      await subject.component.start(signal());
      await subject.component.health(signal());
      await subject.component.stop();
      expect(await leftRunning(before)).toEqual([]);
    });

    it('does not start under a signal that is aborted, and leaves nothing running', async () => {
      expect(await rejection(subject.component.start(AbortSignal.abort(new Error('boot was stopped'))))).toBeInstanceOf(
        Error,
      );
      await subject.component.stop();
      expect(await leftRunning(before)).toEqual([]);
    });
  });
}

/** Sockets, processes, timers and the like that keep the event loop alive, by kind. */
function activeResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Kinds of which more is active than before. Handles close over several turns of the event loop, so it waits a while. */
async function leftRunning(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const end = Date.now() + 2_000;
  for (;;) {
    // An immediate and not a timer, which would itself be counted.
    await new Promise((resolve) => setImmediate(resolve));
    const left: string[] = [];
    for (const [kind, count] of activeResources()) {
      if (kind !== 'Immediate' && count > (before.get(kind) ?? 0)) left.push(kind);
    }
    if (left.length === 0 || Date.now() > end) return left;
  }
}

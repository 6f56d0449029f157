import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storagePlugin from '../../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from '../../test/contract/host.ts';
import { newId, SightlineError } from '../contract/core/index.ts';
import type { BucketRepository, Storage } from '../contract/storage/index.ts';
import { shareAmongGateways } from './rate-limit-shared.ts';
import { createRateLimit, type PartialRateLimiter } from './rate-limit.ts';

const [perMinute, burst] = [600, 100];

interface SharedRateLimit extends PartialRateLimiter {
  settle(): Promise<void>;
}

describe('a rate limit of several gateways', () => {
  let directory = '';
  let storages: readonly Storage[] = [];
  let clock = Date.parse('2026-03-01T12:00:00Z');
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-limit-'));
    storages = [0, 1].map(() => storagePlugin.create({ client: 'sqlite' }, testHost(directory)));
    for (const storage of storages) await storage.start(AbortSignal.timeout(20_000));
  });
  afterAll(async () => {
    for (const storage of storages) await storage.stop();
    await rm(directory, { recursive: true });
  });

  const caller = () => ({ organizationId: newId('org'), subject: newId('ak') });

  function gateway(buckets: () => Pick<BucketRepository, 'pour' | 'list'>, shared = () => true): SharedRateLimit {
    const limiter = createRateLimit({ perMinute, burst, now: () => clock });
    const settle = shareAmongGateways(limiter, {
      perMinute: () => perMinute,
      buckets,
      shared,
      now: () => new Date(clock),
      logger: silentLogger,
    });
    return { ...limiter, settle };
  }

  const two = (): readonly SharedRateLimit[] => storages.map((storage) => gateway(() => storage.directory.buckets));

  /** What all let in within some seconds, of a caller who tries without pause at all of them. */
  async function admitted(gateways: readonly SharedRateLimit[], who: ReturnType<typeof caller>, seconds: number) {
    let count = 0;
    for (let step = 0; step < seconds * 20; step += 1) {
      for (const each of gateways) while (each.take(who) === 0) count += 1;
      clock += 50;
      if (step % 20 === 19) for (const each of gateways) await each.settle();
    }
    return count;
  }

  it('lets as many bursts through as there are gateways, and then the rate', async () => {
    const [gateways, who] = [two(), caller()];
    const between = 2 * 2 * (perMinute / 60);
    const first = await admitted(gateways, who, 30);
    expect(first).toBeLessThanOrEqual(2 * burst + 30 * 10 + between);
    expect(first).toBeGreaterThanOrEqual(burst + 29 * 10);
    // Without anything to pay back: neither twice the rate nor half of it.
    const then = await admitted(gateways, who, 60);
    expect(then).toBeLessThanOrEqual(60 * 10 + between);
    expect(then).toBeGreaterThanOrEqual(60 * 10 - between);
  });

  it('holds at a gateway that the principal comes to after it has spent all at another', async () => {
    const [gateways, who] = [two(), caller()];
    const [here, there] = gateways;
    for (let turn = 0; turn < burst; turn += 1) expect(here?.take(who)).toBe(0);
    for (const each of [here, there]) await each?.settle();
    expect(there?.take(who)).toBeGreaterThan(0);
    clock += 1_000;
    expect(there?.take(who)).toBe(0);
    // One who has nothing to do with it.
    expect(there?.take(caller())).toBe(0);
  });

  it('counts nothing twice, at one gateway or at two', async () => {
    const [gateways, who] = [two(), caller()];
    const [here, there] = gateways;
    for (let turn = 0; turn < burst / 2; turn += 1) here?.take(who);
    for (let turn = 0; turn < 3; turn += 1) for (const each of gateways) await each.settle();
    for (const each of [here, there]) {
      let left = 0;
      const limit = each?.take;
      while (limit?.(who) === 0) left += 1;
      expect(left).toBe(burst / 2);
    }
  });

  it('goes on at each gateway by itself while storage is away, and makes nobody pay for that later', async () => {
    let away = true;
    const buckets = (): Pick<BucketRepository, 'pour' | 'list'> => {
      if (away) throw new SightlineError('unavailable', 'away');
      const [storage] = storages;
      if (storage === undefined) throw new Error('no storage');
      return storage.directory.buckets;
    };
    const [gateways, who] = [[gateway(buckets), gateway(buckets)], caller()];
    const without = await admitted(gateways, who, 60);
    expect(without).toBeGreaterThan(2 * 55 * 10);
    away = false;
    const then = await admitted(gateways, who, 60);
    expect(then).toBeGreaterThan(50 * 10);
    expect(then).toBeLessThanOrEqual(2 * burst + 60 * 10 + 40);
  });

  it.each([3_600_000, 86_400_000])(
    'keeps nobody waiting who called before the clock was set back by %i ms',
    async (ms) => {
      const who = caller();
      for (const each of two()) {
        while (each.take(who) === 0);
        await each.settle();
      }
      clock -= ms;
      // As gateways that are started then.
      const gateways = two();
      for (let turn = 0; turn < 2; turn += 1) for (const each of gateways) await each.settle();
      clock += 1_000;
      for (const each of gateways) expect(each.take(who)).toBe(0);
    },
  );

  it('tells storage nothing of a gateway that is alone', async () => {
    const [storage] = storages;
    const alone = gateway(
      () => storage?.directory.buckets ?? { pour: () => Promise.reject(), list: () => Promise.reject() },
      () => false,
    );
    const who = caller();
    alone.take(who);
    await alone.settle();
    const kept = await storage?.directory.buckets.list('rate ', 60_000_000, new Date(clock), 1_000);
    expect([...(kept?.keys() ?? [])].filter((name) => name.includes(who.subject))).toEqual([]);
  });
});

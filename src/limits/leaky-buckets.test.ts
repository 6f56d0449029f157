import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storagePlugin from '../../plugins/storage-knex/index.ts';
import { testHost } from '../../test/contract/host.ts';
import type { Storage } from '../contract/storage/index.ts';
import { createLeakyBuckets, type Bucket, type LeakyBuckets } from './leaky-buckets.ts';

describe('leaky buckets', () => {
  const kind = { prefix: 'test ', size: 3, leakMs: 10_000 };
  let time = 1_000_000;
  let directory = '';
  let storage: Storage;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-buckets-'));
    storage = storagePlugin.create({ client: 'sqlite' }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
  });
  afterAll(async () => {
    await storage.stop();
    await rm(directory, { recursive: true });
  });

  const gateway = (): LeakyBuckets =>
    createLeakyBuckets({ repository: () => storage.directory.buckets, now: () => new Date(time) });
  async function look(at: LeakyBuckets, name: string): Promise<Bucket> {
    const [bucket] = await at.look([[kind, name]]);
    if (bucket === undefined) throw new Error('no bucket');
    return bucket;
  }

  it('say how long until there is a place, and leak one in each interval, at every gateway', async () => {
    const [here, there] = [gateway(), gateway()];
    for (const at of [here, there, here]) await at.add([await look(at, 'a')]);
    const full = await look(there, 'a');
    expect([full.level, full.wait(), full.wait(1)]).toEqual([3, 10, 30]);
    time += 10_000;
    expect([full.level, full.wait()]).toEqual([2, 0]);
    expect((await look(here, 'a')).wait()).toBe(0);
    time += 20_000;
    expect((await look(here, 'a')).level).toBe(0);
  });

  it('take no more than they hold, so that a place is never further away than one interval', async () => {
    const here = gateway();
    for (let turn = 0; turn < 10; turn += 1) await here.add([await look(here, 'b')]);
    const full = await look(here, 'b');
    expect([full.level, full.wait()]).toEqual([3, 10]);
    await here.empty(full);
    expect(full.level).toBe(0);
    expect((await look(gateway(), 'b')).level).toBe(0);
  });

  it('are empty where a clock that was ahead filled them, and are filled again from then on', async () => {
    const here = gateway();
    time += 30 * 86_400_000;
    for (let turn = 0; turn < 3; turn += 1) await here.add([await look(here, 'd')]);
    expect((await look(here, 'd')).wait()).toBe(10);
    time -= 30 * 86_400_000;
    const right = await look(here, 'd');
    expect([right.level, right.wait(1)]).toEqual([0, 0]);
    await here.add([right]);
    expect([right.level, (await look(gateway(), 'd')).level]).toEqual([1, 1]);
  });

  it('count what is under way here, and write nothing of it', async () => {
    const here = gateway();
    const bucket = await look(here, 'c');
    const ends = [here.hold([bucket]), here.hold([bucket]), here.hold([bucket])];
    expect([bucket.held, bucket.level, bucket.wait()]).toEqual([3, 3, 10]);
    expect((await look(gateway(), 'c')).level).toBe(0);
    for (const end of [...ends, ...ends]) end();
    expect([bucket.held, bucket.level]).toEqual([0, 0]);
  });
});

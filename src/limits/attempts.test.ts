import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import storagePlugin from '../../plugins/storage-knex/index.ts';
import { testHost } from '../../test/contract/host.ts';
import type { BucketRepository, Storage } from '../contract/storage/index.ts';
import { createAttempts } from './attempts.ts';

describe('failed attempts', () => {
  let directory = '';
  let storage: Storage;
  let time = 0;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-attempts-'));
    storage = storagePlugin.create({ client: 'sqlite' }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
  });
  afterAll(async () => {
    await storage.stop();
    await rm(directory, { recursive: true });
  });

  const gateway = (buckets: () => Pick<BucketRepository, 'pour'> = () => storage.directory.buckets) =>
    createAttempts({ now: () => new Date(time), buckets, failed: () => {} });
  const fail = (attempts: ReturnType<typeof createAttempts>, times: number, address = 'a', id = 'k') =>
    Array.from({ length: times }, () => attempts.fail(address, id)).at(-1);

  it('are counted by address and client id, for a minute', () => {
    const attempts = gateway();
    expect(fail(attempts, 10)).toBeUndefined();
    expect(fail(attempts, 1)).toBe(60);
    expect(fail(attempts, 1, 'b')).toBeUndefined();
    expect(fail(attempts, 1, 'a', 'other')).toBeUndefined();
    time += 59_500;
    expect(fail(attempts, 1)).toBe(1);
    time += 500;
    expect(fail(attempts, 1)).toBeUndefined();
  });

  it('are forgotten by a clock that is set back, and counted by it', () => {
    const attempts = gateway();
    for (const backMs of [3_600_000, 86_400_000]) {
      expect(fail(attempts, 11)).toBe(60);
      time -= backMs;
      expect(fail(attempts, 10)).toBeUndefined();
      expect(fail(attempts, 1)).toBe(60);
      time += backMs + 60_000;
    }
  });

  it('take bounded memory', () => {
    const attempts = gateway();
    fail(attempts, 11);
    for (let index = 0; index < 10_000; index += 1) attempts.fail('flood', String(index));
    expect(fail(attempts, 1)).toBeUndefined();
  });

  it('at one gateway count at the others a moment later', async () => {
    const [here, there] = [gateway(), gateway()];
    fail(here, 10, 'shared', 'https://client.example/~é');
    for (let attempt = 0; attempt < 10; attempt += 1) {
      // Each try tells its own count and learns of all.
      if (fail(there, 1, 'shared', 'https://client.example/~é') !== undefined) break;
      await delay(1_200);
    }
    expect(fail(there, 1, 'shared', 'https://client.example/~é')).toBeDefined();
    expect(fail(there, 1, 'shared', 'another')).toBeUndefined();
  });

  it('of a flood are not written one by one', async () => {
    const written: number[] = [];
    const attempts = gateway(() => ({
      pour: async (amounts) => {
        written.push(amounts.size);
        return new Map();
      },
    }));
    for (let index = 0; index < 5_000; index += 1) attempts.fail('flood', String(index));
    for (let index = 0; index < 5_000; index += 1) attempts.fail('flood', 'one');
    await delay(1_500);
    expect(written).toEqual([200]);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SigningKeyRecord } from '../../contract/storage/index.ts';
import { planKeys, type KeySchedule } from './signing-keys.ts';

const hour = 3_600_000;
const schedule: KeySchedule = { rotateEvery: 30 * 24 * hour, publishBefore: 12 * 60_000, publishAfter: 2 * hour };
let made = 0;
const makeKey = async () => ({
  kid: `kid-${(made += 1)}`,
  algorithm: 'ES256' as const,
  publicJwk: '',
  sealedPrivateJwk: '',
});
const start = new Date('2026-01-01T00:00:00Z');
const later = (ms: number) => new Date(start.getTime() + ms);
const plan = (keys: readonly SigningKeyRecord[], now: Date) => planKeys(keys, now, schedule, makeKey);
const states = (keys: readonly SigningKeyRecord[]) => keys.map(({ kid, state }) => [kid, state]);

async function first(): Promise<readonly SigningKeyRecord[]> {
  return (await plan([], start)) ?? [];
}

describe('the schedule of signing keys', () => {
  it('begins with a current key and a next one', async () => {
    expect((await first()).map(({ state }) => state)).toEqual(['current', 'next']);
  });

  it('leaves a good set alone', async () => {
    expect(await plan(await first(), later(schedule.rotateEvery - 1))).toBeUndefined();
  });

  it('moves each key on when its time has come, and drops a retired one when its last token has ended', async () => {
    const [current, next] = await first();
    if (!current || !next) throw new Error('two keys');
    const rotated = (await plan([current, next], later(schedule.rotateEvery))) ?? [];
    expect(states(rotated)).toEqual([
      [current.kid, 'retired'],
      [next.kid, 'current'],
      [rotated[2]?.kid, 'next'],
    ]);
    expect(await plan(rotated, later(schedule.rotateEvery + schedule.publishAfter - 1))).toBeUndefined();
    const pruned = (await plan(rotated, later(schedule.rotateEvery + schedule.publishAfter))) ?? [];
    expect(states(pruned)).toEqual(states(rotated.slice(1)));
  });

  it('does not sign with a key that verifiers cannot know yet', async () => {
    const [current, next] = await first();
    if (!current || !next) throw new Error('two keys');
    const now = later(schedule.rotateEvery);
    const young = { ...next, stateSince: new Date(now.getTime() - schedule.publishBefore + 1) };
    expect(await plan([current, young], now)).toBeUndefined();
  });

  it('mends a set that lacks a key', async () => {
    const [current, next] = await first();
    if (!current || !next) throw new Error('two keys');
    expect(states((await plan([current], start)) ?? [])[0]).toEqual([current.kid, 'current']);
    const promoted = (await plan([next], start)) ?? [];
    expect(states(promoted)[0]).toEqual([next.kid, 'current']);
    expect(promoted).toHaveLength(2);
  });

  it('has one current and one next key whenever it is looked at, and publishes each key in time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 * 24 }), { minLength: 1, maxLength: 12 }),
        async (steps) => {
          let keys = await first();
          let now = start.getTime();
          for (const hours of steps) {
            now += hours * hour;
            const before = new Map(keys.map((key) => [key.kid, key]));
            keys = (await plan(keys, new Date(now))) ?? keys;
            expect(keys.filter(({ state }) => state === 'current')).toHaveLength(1);
            expect(keys.filter(({ state }) => state === 'next')).toHaveLength(1);
            const signing = keys.find(({ state }) => state === 'current');
            // Whatever signs was published at the look before, or signed then already.
            expect(before.has(signing?.kid ?? '')).toBe(true);
            for (const gone of before.keys()) {
              if (!keys.some(({ kid }) => kid === gone)) expect(before.get(gone)?.state).toBe('retired');
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

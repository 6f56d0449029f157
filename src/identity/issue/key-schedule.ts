import type { SigningKeyRecord } from '../../contract/storage/index.ts';

/** All in milliseconds. */
export interface KeySchedule {
  /** How long a key signs. */
  readonly rotateEvery: number;
  /** How long a key is published before it signs: at least as long as verifiers keep our key set in a cache. */
  readonly publishBefore: number;
  /** How long a key is published after its last signature: a token's life, the time other instances need to notice, and a margin. */
  readonly publishAfter: number;
}

type NewKey = Pick<SigningKeyRecord, 'kid' | 'algorithm' | 'publicJwk' | 'sealedPrivateJwk'>;

/**
 * The set of keys as it should be now, or undefined when it is so already. There is one current key and one next key; the
 * next one is published for a whole period before it signs, so no verifier meets a kid that it could not know.
 */
export async function planKeys(
  keys: readonly SigningKeyRecord[],
  now: Date,
  schedule: KeySchedule,
  makeKey: () => Promise<NewKey>,
): Promise<readonly SigningKeyRecord[] | undefined> {
  const age = (key: SigningKeyRecord) => now.getTime() - key.stateSince.getTime();
  const entered = (key: SigningKeyRecord, state: SigningKeyRecord['state']) => ({ ...key, state, stateSince: now });
  const fresh = async (state: SigningKeyRecord['state']) => ({
    ...(await makeKey()),
    state,
    createdAt: now,
    stateSince: now,
  });

  const kept = keys.filter((key) => key.state !== 'retired' || age(key) < schedule.publishAfter);
  const current = kept.find(({ state }) => state === 'current');
  const next = kept.find(({ state }) => state === 'next');

  if (!current) {
    const successor = next ? entered(next, 'current') : await fresh('current');
    return [...kept.filter((key) => key !== next), successor, await fresh('next')];
  }
  if (!next) return [...kept, await fresh('next')];
  if (age(current) >= schedule.rotateEvery && age(next) >= schedule.publishBefore) {
    const rest = kept.filter((key) => key !== current && key !== next);
    return [...rest, entered(current, 'retired'), entered(next, 'current'), await fresh('next')];
  }
  return kept.length < keys.length ? kept : undefined;
}

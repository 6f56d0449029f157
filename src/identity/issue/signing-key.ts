import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { z } from 'zod';
import { SightlineError, type Vault } from '../../contract/core/index.ts';
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

/** Undefined where nothing is due. A key is published for a period before it signs: no verifier meets it unknown. */
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

const publicJwk = z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() });
const privateJwk = publicJwk.extend({ d: z.string() });

export type PublicJwk = z.output<typeof publicJwk>;
export type PrivateJwk = z.output<typeof privateJwk>;

export function publicPart({ kty, crv, x, y }: PrivateJwk): PublicJwk {
  return { kty, crv, x, y };
}

/** A new ES256 key, its private half sealed; the kid is its RFC 7638 thumbprint. */
export async function newSigningKey(
  vault: Vault,
): Promise<Pick<SigningKeyRecord, 'kid' | 'algorithm' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const jwk = privateJwk.parse(await exportJWK(pair.privateKey));
  const kid = await calculateJwkThumbprint(jwk);
  return {
    kid,
    algorithm: 'ES256',
    publicJwk: JSON.stringify(publicPart(jwk)),
    sealedPrivateJwk: vault.seal(Buffer.from(JSON.stringify(jwk)), context(kid)),
  };
}

/** Throws `config_invalid` when the master key is not the one it was sealed with, or the record was tampered with. */
export async function openSigningKey(record: SigningKeyRecord, vault: Vault): Promise<PrivateJwk> {
  try {
    const text = Buffer.from(vault.open(record.sealedPrivateJwk, context(record.kid))).toString();
    const jwk = privateJwk.parse(JSON.parse(text));
    if ((await calculateJwkThumbprint(jwk)) === record.kid) return jwk;
    throw new Error('the key is not the one its id names');
  } catch (cause) {
    throw new SightlineError('config_invalid', 'The master key does not open the signing keys that are in storage.', {
      hint: 'Put back the master key this storage was made with (SIGHTLINE_MASTER_KEY, or master.key in the data directory).',
      cause,
    });
  }
}

function context(kid: string): string {
  return `signing-key:${kid}`;
}

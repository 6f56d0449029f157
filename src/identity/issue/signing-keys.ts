import {
  importJWK,
  errors,
  type CryptoKey,
  type JWTVerifyGetKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
} from 'jose';
import { z } from 'zod';
import { SightlineError, type IssuerHost, type Vault } from '../../contract/core/index.ts';
import type { Directory, SigningKeyRecord } from '../../contract/storage/index.ts';

/** The keys our tokens are signed with: kept in storage, sealed, shared by every instance, replaced on a schedule. */
interface SigningKeys {
  /** Reads the keys, and makes or replaces those that are due. Rejects when they cannot be read or opened. */
  refresh(): Promise<void>;
  /** The key to sign with. Throws before the first `refresh`. */
  current(): SigningKey;
  /** All that may be met in a token, current first: what is published. */
  published(): readonly PublishedKey[];
  /** For a verifier; reads storage again for a kid it does not know, at most once in `unknownKidCooldownMs`. */
  readonly verificationKey: JWTVerifyGetKey;
}

export interface SigningKey {
  readonly kid: string;
  readonly privateJwk: PrivateJwk;
}

type PublishedKey = PublicJwk & { readonly kid: string; readonly use: 'sig'; readonly alg: 'ES256' };

interface SigningKeysOptions extends Pick<IssuerHost, 'vault' | 'now'> {
  /** Not destructured: storage may open after construction. */
  readonly storage: { readonly directory: Pick<Directory, 'signingKeys' | 'replaceSigningKeys'> };
  readonly schedule: KeySchedule;
  /** Called after each reading, whether anything changed or not. */
  readonly onRead: () => void;
}

/** Forged kids must not become storage reads: between two of these, an unknown kid is refused from memory. */
const unknownKidCooldownMs = 10_000;

interface OpenedKey {
  readonly privateJwk: PrivateJwk;
  readonly verifier: CryptoKey;
}

export function createSigningKeys({ storage, vault, now, schedule, onRead }: SigningKeysOptions): SigningKeys {
  let records: readonly SigningKeyRecord[] = [];
  let opened: ReadonlyMap<string, OpenedKey> = new Map();
  let lastRead = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  /** Opening and importing cost more than the rest of a refresh, so a key once opened is kept. */
  async function openAll(found: readonly SigningKeyRecord[]): Promise<ReadonlyMap<string, OpenedKey>> {
    const next = new Map<string, OpenedKey>();
    for (const record of found) next.set(record.kid, opened.get(record.kid) ?? (await openOne(record)));
    return next;
  }

  async function openOne(record: SigningKeyRecord): Promise<OpenedKey> {
    // The public key is derived from the sealed private key, so that write access to the database without the master key is
    // not enough to plant a key.
    const privateJwk = await openSigningKey(record, vault);
    const verifier = await importJWK(publicPart(privateJwk), 'ES256');
    if (verifier instanceof Uint8Array) throw new TypeError('an elliptic-curve key is never a byte string');
    return { privateJwk, verifier };
  }

  async function read(): Promise<void> {
    // Another instance may change the set between our reading and our writing; then its set is read and judged again.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      lastRead = now().getTime();
      const found = await storage.directory.signingKeys();
      const keys = await openAll(found);
      const planned = await planKeys(found, now(), schedule, () => newSigningKey(vault));
      if (!planned) {
        records = found;
        opened = keys;
        onRead();
        return;
      }
      await storage.directory.replaceSigningKeys(
        found.map(({ kid }) => kid),
        planned,
      );
    }
    throw new SightlineError('unavailable', 'The signing keys in storage would not settle.', {
      hint: 'Too many instances are starting at once, or one has a clock that is far off.',
    });
  }

  const refresh = (): Promise<void> => {
    reading ??= read()
      .then(
        () => (failure = undefined),
        (error: unknown) => {
          failure = { error };
          throw error;
        },
      )
      .finally(() => (reading = undefined));
    return reading;
  };

  /** That storage cannot be read says nothing about the token: not a refusal, but an answer to come back for. */
  async function lookAgain(): Promise<void> {
    if (reading || Math.abs(now().getTime() - lastRead) >= unknownKidCooldownMs) await refresh().catch(() => {});
    if (failure) {
      throw new SightlineError('unavailable', 'The signing keys cannot be read at the moment.', {
        cause: failure.error,
      });
    }
  }

  function current(): SigningKey {
    const record = records.find(({ state }) => state === 'current');
    const key = record && opened.get(record.kid);
    if (!record || !key) throw new SightlineError('unavailable', 'The issuer has no signing key yet.');
    return { kid: record.kid, privateJwk: key.privateJwk };
  }

  return {
    refresh,
    current,
    published: () => {
      const order = { current: 0, next: 1, retired: 2 };
      return records
        .toSorted((left, right) => order[left.state] - order[right.state])
        .flatMap(({ kid }) => {
          const key = opened.get(kid);
          return key ? [{ ...publicPart(key.privateJwk), kid, use: 'sig' as const, alg: 'ES256' as const }] : [];
        });
    },
    verificationKey: async ({ alg, kid }) => {
      if (alg !== 'ES256') throw new errors.JOSEAlgNotAllowed('tokens of this issuer are signed with ES256');
      if (kid === undefined) throw new errors.JWKSNoMatchingKey();
      let key = opened.get(kid);
      if (!key) {
        await lookAgain();
        key = opened.get(kid);
      }
      if (!key) throw new errors.JWKSNoMatchingKey();
      return key.verifier;
    },
  };
}

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

type PublicJwk = z.output<typeof publicJwk>;
type PrivateJwk = z.output<typeof privateJwk>;

function publicPart({ kty, crv, x, y }: PrivateJwk): PublicJwk {
  return { kty, crv, x, y };
}

/** A new ES256 key, its private half sealed; the kid is its RFC 7638 thumbprint. */
async function newSigningKey(
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

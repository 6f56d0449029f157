import { equalHashes, hashSecret } from '../../contract/core/index.ts';
import type { KeyId, SecretId } from '../../contract/core/index.ts';
import type { Directory, LiveKey, NewSecret } from '../../contract/storage/index.ts';

/** The key behind a token request, after one of its secrets was shown: all that its token says comes from here. */
export interface ProvenKey extends LiveKey {
  readonly id: KeyId;
  readonly secretId: SecretId;
}

/** A hash that no secret has: what an unknown key is compared with, so that it costs what a known one costs. */
const nobody = '0'.repeat(64);
/** Keys whose hashes are remembered. */
const capacity = 1_000;

/** The secret of the key that has this hash. Every candidate is compared, whichever matches, and never fewer than two. */
export function matchSecret(hash: string, candidates: readonly NewSecret[]): SecretId | undefined {
  let matched: SecretId | undefined;
  for (let index = 0; index < Math.max(2, candidates.length); index += 1) {
    const candidate = candidates[index];
    if (equalHashes(hash, candidate?.hash ?? nobody) && candidate) matched = candidate.id;
  }
  return matched;
}

/**
 * Finds the key whose id and secret were shown. Hashes are remembered, but that a secret is alive, whose it is and what it
 * may do is asked of storage each time, by its cheapest question: retiring and revoking take effect at once.
 */
export function createKeyProof(storage: {
  readonly directory: Pick<Directory, 'keyForExchange' | 'liveKey'>;
}): (id: KeyId | undefined, secret: string) => Promise<ProvenKey | undefined> {
  const remembered = new Map<KeyId, readonly NewSecret[]>();

  async function alive(id: KeyId, secretId: SecretId | undefined): Promise<ProvenKey | undefined> {
    const live = secretId && (await storage.directory.liveKey(id, secretId));
    return live && { id, secretId, organizationId: live.organizationId, scopes: live.scopes };
  }

  function remember(id: KeyId, secrets: readonly NewSecret[]): void {
    remembered.delete(id);
    remembered.set(id, secrets);
    if (remembered.size <= capacity) return;
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  }

  return async (id, secret) => {
    const hash = hashSecret(secret);
    const known = matchSecret(hash, (id && remembered.get(id)) ?? []);
    const proven = id && (await alive(id, known));
    if (proven) return proven;
    const key = id && (await storage.directory.keyForExchange(id));
    const secretId = matchSecret(hash, key?.secrets ?? []);
    if (!key || !secretId) return undefined;
    remember(key.id, key.secrets);
    return { id: key.id, secretId, organizationId: key.organizationId, scopes: key.scopes };
  };
}

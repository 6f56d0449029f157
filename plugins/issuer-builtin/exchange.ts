import { equalHashes, hashSecret } from '../../src/contract/index.ts';
import type { ApiKeyWithHashes, NewSecret, SecretId } from '../../src/contract/index.ts';

/** One token request on its way: what storage says about the key it names. Never anything the client says of itself. */
export interface Exchange {
  /** As shown by the client, if it is written like a key's id. */
  readonly clientId: string | undefined;
  readonly key: ApiKeyWithHashes | undefined;
  /** Set once a secret of the key was shown. */
  secretId?: SecretId;
}

/** A hash that no secret has: what an unknown key is compared with, so that it costs what a known one costs. */
const nobody = '0'.repeat(64);

/** The secret of the key that was shown. Every candidate is compared, whichever matches, and never fewer than two. */
export function matchSecret(shown: string, candidates: readonly NewSecret[]): SecretId | undefined {
  const hash = hashSecret(shown);
  let matched: SecretId | undefined;
  for (let index = 0; index < Math.max(2, candidates.length); index += 1) {
    const candidate = candidates[index];
    if (equalHashes(hash, candidate?.hash ?? nobody) && candidate) matched = candidate.id;
  }
  return matched;
}

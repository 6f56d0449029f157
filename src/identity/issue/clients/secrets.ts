import { equalHashes, hashSecret } from '../../../contract/core/index.ts';

/**
 * Whether a client showed its secret. What the library holds as the secret is its hash: this has to take the place of the
 * library's own comparison, to which the hash itself would be as good as the secret.
 */
export function clientSecretMatches(client: { readonly clientSecret?: string | undefined }, shown: string): boolean {
  return client.clientSecret !== undefined && equalHashes(hashSecret(shown), client.clientSecret);
}

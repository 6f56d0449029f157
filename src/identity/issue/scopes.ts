import { scopes as allScopes } from '../../contract/issuer/index.ts';
import type { Scope } from '../../contract/issuer/index.ts';

export const everyScope: string = allScopes.join(' ');

/** The scopes we have of those named, in the order of the contract; the others are nothing to us and no error. */
export function knownScopes(text: string): readonly Scope[] {
  const named = new Set(text.split(' '));
  return allScopes.filter((scope) => named.has(scope));
}

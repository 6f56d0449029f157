import type { Scope } from '../../src/contract/issuer/index.ts';

export interface ScopeNaming {
  /** The provider's scopes, and ours that each stands for. */
  readonly scopes: ReadonlyMap<string, readonly Scope[]>;
  /** Written before each in a request, and not in tokens: `api://…/` of Entra ID. */
  readonly prefix: string;
  /** Whether roles of the person say what a token may do. */
  readonly byRole: boolean;
}

/**
 * What clients have to ask the provider for: one that does not know a scope refuses the request. Where neither its scopes
 * nor roles stand for ours, it is taken to have scopes of our names.
 */
export function scopeNames({ scopes, prefix, byRole }: ScopeNaming): (wanted: readonly Scope[]) => readonly string[] {
  if (scopes.size === 0) return (wanted) => (byRole ? [] : wanted.map((scope) => `${prefix}${scope}`));
  return (wanted) =>
    [...scopes].flatMap(([name, granted]) =>
      granted.some((scope) => wanted.includes(scope)) ? [`${prefix}${name}`] : [],
    );
}

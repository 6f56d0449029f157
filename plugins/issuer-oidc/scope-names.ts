import type { Scope } from '../../src/contract/issuer/index.ts';

export interface ScopeNaming {
  /** The provider's scopes, and ours that each stands for. */
  readonly scopes: ReadonlyMap<string, readonly Scope[]>;
  /** Written before each in a request, and not in tokens: `api://…/` of Entra ID. */
  readonly prefix: string;
  /** Whether roles of the person say what a token may do. */
  readonly byRole: boolean;
}

/** What clients ask the provider for. Where nothing is mapped to our scopes, it is taken to have them by name. */
export function scopeNames({ scopes, prefix, byRole }: ScopeNaming): (wanted: readonly Scope[]) => readonly string[] {
  if (scopes.size === 0) return (wanted) => (byRole ? [] : wanted.map((scope) => `${prefix}${scope}`));
  return (wanted) =>
    [...scopes].flatMap(([name, granted]) =>
      granted.some((scope) => wanted.includes(scope)) ? [`${prefix}${name}`] : [],
    );
}

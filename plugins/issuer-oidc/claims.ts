import { isObject } from '../../src/contract/core/index.ts';
/** What a provider says of a person: verified, but otherwise whatever it likes to write. */
export type Claims = Readonly<Record<string, unknown>>;

/** A claim's name, and where it is nested the names on the way down. No dots: names such as `https://acme.example/roles` hold them. */
export type ClaimPath = readonly [string, ...string[]];

/** Own properties alone are claims: a path such as `constructor` finds nothing that the provider did not write. */
export function claimAt(claims: Claims, path: ClaimPath): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** A text, or undefined for anything else: an array of one text is not that text. */
export function textAt(claims: Claims, path: ClaimPath): string | undefined {
  const value = claimAt(claims, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A text or a list of texts. What else stands in the list is left out. */
export function textsAt(claims: Claims, path: ClaimPath): readonly string[] {
  const value = claimAt(claims, path);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((item) => typeof item === 'string' && item !== '').map(String);
}

import { claimAt, textAt, type ClaimPath, type Claims } from './claims.ts';

/**
 * When an address counts as the person's own.
 * - `verified`: where the provider says so in the claim `emailVerified`.
 * - `always`: the directory's administrators give the addresses out, and nobody writes their own.
 * - `never`.
 */
export const emailTrusts = ['verified', 'always', 'never'] as const;
export type EmailTrust = (typeof emailTrusts)[number];

export interface EmailRules {
  readonly email: ClaimPath;
  readonly emailVerified: ClaimPath;
  readonly trust: EmailTrust;
}

/** ASCII in the domain alone, so that no letter that merely folds to one of ours (K, ſ) is taken for it. */
const address =
  /^[^\s@\p{C}]{1,64}@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)$/iu;
const ascii = /^[\x21-\x7e]+$/;
const maxLength = 254;

/** The address, if the provider vouches for it. What a source says of its own is nothing about another. */
export function vouchedEmail(signed: Claims, more: Claims, rules: EmailRules): string | undefined {
  const email = textAt(signed, rules.email);
  if (email === undefined) return vouchedIn(more, rules);
  const isSilent = claimAt(signed, rules.emailVerified) === undefined && textAt(more, rules.email) === email;
  return vouchedIn(isSilent ? more : signed, rules);
}

function vouchedIn(claims: Claims, rules: EmailRules): string | undefined {
  const email = textAt(claims, rules.email);
  if (email === undefined || domainOf(email) === undefined) return undefined;
  switch (rules.trust) {
    case 'always':
      return email;
    case 'verified':
      return isTrue(claimAt(claims, rules.emailVerified)) ? email : undefined;
    case 'never':
      return undefined;
  }
}

/** In small letters; undefined where it is no address. */
export function domainOf(email: string): string | undefined {
  // Accounts are found by addresses so folded: one that is told apart at the provider alone would find somebody else's.
  if (email.length > maxLength || email.normalize('NFKC') !== email) return undefined;
  const domain = address.exec(email)?.[1];
  return domain !== undefined && ascii.test(domain) ? domain.toLowerCase() : undefined;
}

/** Entra ID writes `xms_edov` as any of the four, and Cognito `email_verified` as a text. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1';
}

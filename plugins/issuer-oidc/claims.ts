import { isObject, SightlineError } from '../../src/contract/core/index.ts';
import type { ExternalMembership, Role } from '../../src/contract/issuer/index.ts';

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

/** Gives a membership if all its conditions hold. A condition on a missing claim is false. */
export interface MembershipRule {
  readonly role: Role;
  /** Name or id of the organization, or the claim that says it. */
  readonly organization: string | { readonly claim: ClaimPath };
  readonly emailDomains?: readonly string[];
  readonly groups?: { readonly claim: ClaimPath; readonly anyOf: readonly string[] };
}

const maxOrganizations = 100;
const maxNameLength = 200;

/** One for each organization, the stronger role where rules differ. */
export function membershipsOf(
  claims: Claims,
  email: string | undefined,
  rules: readonly MembershipRule[],
): readonly ExternalMembership[] {
  const found = new Map<string, Role>();
  for (const rule of rules) {
    if (!judge(claims, email, rule).holds) continue;
    for (const organization of organizationsOf(claims, rule)) {
      if (found.get(organization) !== 'admin') found.set(organization, rule.role);
    }
  }
  if (found.size > maxOrganizations) {
    throw new SightlineError('forbidden', 'Your company puts you into more organizations than can be taken here.');
  }
  return [...found].map(([organization, role]) => ({ organization, role }));
}

/** Whether a rule holds, and why, in words without what the claims say of the person. */
export function judge(
  claims: Claims,
  email: string | undefined,
  { emailDomains, groups, organization }: MembershipRule,
): { readonly holds: boolean; readonly why: string } {
  const why: string[] = [];
  if (emailDomains !== undefined) {
    const domain = email === undefined ? undefined : domainOf(email);
    if (domain === undefined) return { holds: false, why: 'no e-mail address is vouched for' };
    if (!emailDomains.includes(domain)) return { holds: false, why: 'the e-mail address is of another domain' };
    why.push(`emailDomain ${domain}`);
  }
  if (groups !== undefined) {
    const matched = matchedGroups(claims, groups);
    const name = groups.claim.join('.');
    if (claimAt(claims, groups.claim) === undefined) return { holds: false, why: `the claim ${name} is absent` };
    if (matched.length === 0) return { holds: false, why: `none of its groups is in the claim ${name}` };
    why.push(`group ${matched.join(', ')}`);
  }
  if (typeof organization !== 'string') {
    const name = organization.claim.join('.');
    if (textsAt(claims, organization.claim).length === 0) return { holds: false, why: `the claim ${name} is absent` };
    why.push(`organizationClaim ${name}`);
  }
  return { holds: true, why: why.join(' and ') };
}

function matchedGroups(claims: Claims, { claim, anyOf }: NonNullable<MembershipRule['groups']>): readonly string[] {
  if (isElsewhere(claims, claim[0])) {
    throw new SightlineError(
      'forbidden',
      'Your company has you in more groups than fit into a sign-in, so nothing can be said about your rights here. ' +
        'Ask an administrator of its directory to send only the groups that are assigned to this application.',
    );
  }
  const wanted = new Set(anyOf);
  const present = new Set(textsAt(claims, claim).filter((value) => wanted.has(value)));
  return anyOf.filter((value) => present.has(value));
}

/** Above 200 groups Entra ID says only where to ask for them (OIDC Core §5.6.2): that is not "in no group". */
function isElsewhere(claims: Claims, name: string): boolean {
  const names = claimAt(claims, ['_claim_names']);
  return (
    (isObject(names) && Object.hasOwn(names, name)) || (name === 'groups' && claimAt(claims, ['hasgroups']) === true)
  );
}

function organizationsOf(claims: Claims, { organization }: MembershipRule): readonly string[] {
  if (typeof organization === 'string') return [organization];
  return textsAt(claims, organization.claim).filter((name) => name.length <= maxNameLength);
}

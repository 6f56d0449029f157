import { SightlineError } from '../../src/contract/core/index.ts';
import type { ExternalIdentity } from '../../src/contract/issuer/index.ts';
import { textAt, textsAt, type ClaimPath, type Claims } from './claims.ts';
import { vouchedEmail, type EmailRules } from './email.ts';
import { membershipsOf, type MembershipRule } from './memberships.ts';

export interface IdentityRules extends EmailRules {
  readonly issuer: string;
  readonly subject: ClaimPath;
  readonly name: ClaimPath;
  readonly memberships: readonly MembershipRule[];
  /** Google: the company's domains. Without it, any Google account reaches our callback. */
  readonly hostedDomains?: readonly string[];
}

/** OpenID Connect Core §2: at most 255 ASCII characters. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/;
const maxNameLength = 100;
/** What is left of a letter of two units that was cut. */
const half = /[\uD800-\uDBFF]$/;

/**
 * Who the verified claims speak of; undefined where they do not say. Throws `forbidden` with a sentence for the person.
 * @param more of the same person, unsigned: what is signed goes before it.
 */
export function identityOf(signed: Claims, rules: IdentityRules, more: Claims = {}): ExternalIdentity | undefined {
  const claims = { ...more, ...signed };
  const subject = textAt(claims, rules.subject);
  if (subject === undefined || !subjectPattern.test(subject)) return undefined;
  const { hostedDomains } = rules;
  if (hostedDomains !== undefined && !textsAt(claims, ['hd']).some((domain) => hostedDomains.includes(domain))) {
    throw new SightlineError('forbidden', "Sign in with your company's account: this one is not of its domain.");
  }
  const email = vouchedEmail(signed, more, rules);
  const name = textAt(claims, rules.name)?.replaceAll(/\p{C}/gu, '').trim().slice(0, maxNameLength).replace(half, '');
  return {
    issuer: rules.issuer,
    subject,
    ...(email === undefined ? {} : { email }),
    ...(name === undefined || name === '' ? {} : { name }),
    memberships: membershipsOf(claims, email, rules.memberships),
  };
}

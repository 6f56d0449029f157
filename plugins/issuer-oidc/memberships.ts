import { isObject, SightlineError } from '../../src/contract/core/index.ts';
import type { ExternalMembership, Role } from '../../src/contract/issuer/index.ts';
import { claimAt, textsAt, type ClaimPath, type Claims } from './claims.ts';
import { domainOf } from './email.ts';

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
  const domain = email === undefined ? undefined : domainOf(email);
  for (const rule of rules) {
    if (rule.emailDomains !== undefined && !(domain !== undefined && rule.emailDomains.includes(domain))) continue;
    if (rule.groups !== undefined && !holds(claims, rule.groups)) continue;
    for (const organization of organizationsOf(claims, rule)) {
      if (found.get(organization) !== 'admin') found.set(organization, rule.role);
    }
  }
  if (found.size > maxOrganizations) {
    throw new SightlineError('forbidden', 'Your company puts you into more organizations than can be taken here.');
  }
  return [...found].map(([organization, role]) => ({ organization, role }));
}

function holds(claims: Claims, { claim, anyOf }: NonNullable<MembershipRule['groups']>): boolean {
  if (isElsewhere(claims, claim[0])) {
    throw new SightlineError(
      'forbidden',
      'Your company has you in more groups than fit into a sign-in, so nothing can be said about your rights here. ' +
        'Ask an administrator of its directory to send only the groups that are assigned to this application.',
    );
  }
  const values = textsAt(claims, claim);
  return anyOf.some((value) => values.includes(value));
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

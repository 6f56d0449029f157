import type { SigningAlgorithm } from '../../src/contract/issuer/index.ts';
import type { ClaimPath, MembershipRule } from './claims.ts';
import type { OidcConfig } from './config.ts';
import type { IdentityRules } from './identity.ts';
import { presets } from './presets.ts';

/** What providers sign with. Never a shared secret (HS256), never `none`. */
export const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const satisfies readonly SigningAlgorithm[];

export type Settings = ReturnType<typeof settingsOf>;

/** The config with all that its preset fills in. */
export function settingsOf(config: OidcConfig) {
  const preset = presets[config.preset];
  const issuer = issuerOf(config);
  const { claims, hostedDomains } = config;
  const groups = claims.groups ?? preset.claims.groups;
  const identity: IdentityRules = {
    issuer,
    subject: claims.subject ?? preset.claims.subject,
    email: claims.email ?? preset.claims.email,
    emailVerified: claims.emailVerified ?? preset.claims.emailVerified,
    name: claims.name ?? preset.claims.name,
    trust: config.emailTrust ?? preset.emailTrust,
    memberships: config.memberships.map((rule) => membershipRule(rule, groups)),
    ...(hostedDomains === undefined ? {} : { hostedDomains }),
  };
  return {
    issuer,
    name: config.name ?? preset.name,
    userinfo: config.userinfo ?? preset.userinfo,
    anotherAccount: preset.anotherAccount,
    endsSession: preset.endsSession,
    // Google then offers accounts of the company alone. It is a hint: what comes back is looked at.
    parameters: { ...(hostedDomains === undefined ? {} : { hd: hostedDomain(hostedDomains) }), ...config.parameters },
    clientAuthentication: config.clientAuthentication ?? preset.clientAuthentication,
    /** Of ID tokens, and of ID-JAG assertions. */
    identity,
    tokenIdentity: {
      ...identity,
      subject: config.accessTokens?.subject ?? claims.subject ?? preset.tokenSubject ?? identity.subject,
    },
  };
}

/** As the provider writes it in its tokens, to the slash. */
function issuerOf({ preset, issuer, tenant }: OidcConfig): string {
  switch (preset) {
    case 'entra':
      return issuer ?? `https://login.microsoftonline.com/${tenant ?? ''}/v2.0`;
    case 'google':
      return issuer ?? 'https://accounts.google.com';
    case 'auth0':
      return `${(issuer ?? '').replace(/\/$/, '')}/`;
    case 'generic':
    case 'okta':
    case 'keycloak':
      return issuer ?? '';
  }
}

function hostedDomain(domains: readonly string[]): string {
  const [first = '*', ...others] = domains;
  return others.length === 0 ? first : '*';
}

function membershipRule(rule: OidcConfig['memberships'][number], groups: ClaimPath): MembershipRule {
  const { role, organization, organizationClaim, emailDomain, group, claim = groups } = rule;
  return {
    role,
    organization: organizationClaim === undefined ? (organization ?? '') : { claim: organizationClaim },
    ...(emailDomain === undefined ? {} : { emailDomains: emailDomain }),
    ...(group === undefined ? {} : { groups: { claim, anyOf: group } }),
  };
}

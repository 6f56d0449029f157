import {
  errors,
  interactionPolicy,
  type AccessToken,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { isId } from '../../contract/core/index.ts';
import { pagePaths } from '../../contract/issuer/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import { accountId, readAccountId, type Account } from './claims.ts';
import { canonicalResources, knownScopes } from './scopes.ts';
import type { Clients } from './clients/index.ts';
import { authMethods } from './clients/metadata.ts';
import { createThrottle } from '../../limits/rate-limit.ts';
import { temporarily, type Reach } from './error-page.ts';
import { clientSigningAlgorithms } from './metadata.ts';

interface PeopleOptions {
  readonly issuer: string;
  /** A function, since storage may open after construction. */
  readonly directory: () => Pick<Directory, 'liveGrant' | 'liveMember'>;
  readonly clients: Pick<Clients, 'fetch'>;
  readonly reach: Reach;
  /** Signs the cookies that tie an authorization request to its browser. */
  readonly cookieKey: string;
  readonly now: () => Date;
}

/** Seconds that a client assertion may live: each is stored until it expires, and a client can sign any number. */
const longestProof = 3600;

/** Of one grant. Many programs of a person may refresh at once, but each token that is given out is recorded. */
const refreshes = { perMinute: 30, burst: 60 } as const;

/** The half of the protocol library that people need: authorization codes, their consent, refresh tokens. */
export function peopleConfiguration({ issuer, directory, clients, reach, cookieKey, now }: PeopleOptions) {
  const throttle = createThrottle({ ...refreshes, now });
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  // Path-restricted, so it cannot be a __Host- cookie.
  const prefix = issuer.startsWith('https:') ? '__Secure-sightline' : 'sightline';

  return {
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...authMethods],
    /** Fetches clients' `jwks_uri`. */
    fetch: clients.fetch,
    enabledJWA: { clientAuthSigningAlgValues: [...clientSigningAlgorithms] },
    assertJwtClientAuthClaimsAndHeader: (_ctx, { exp }) => {
      if (Number(exp) <= Date.now() / 1000 + longestProof) return;
      throw new errors.InvalidClientAuth('the assertion lives too long');
    },
    cookies: {
      keys: [cookieKey],
      names: {
        interaction: `${prefix}-authorization`,
        resume: `${prefix}-authorization-resume`,
        session: `${prefix}-authorization-session`,
      },
      short: cookie,
      long: cookie,
    },
    interactions: {
      policy: [alwaysConsent],
      url: (_ctx, interaction) => `${issuer}${pagePaths.consent}/${interaction.uid}`,
    },
    /** Only what was consented to in this very request, never what an earlier one left behind. */
    loadExistingGrant: (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    /** Account, membership and grant are looked up each time, so that a refresh ends with any of them. */
    findAccount: async (_ctx, sub, token) => {
      const account = readAccountId(sub);
      if (!account || !(await isLive(account, token?.grantId))) return undefined;
      return { accountId: sub, claims: () => ({ sub }) };
    },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: (ctx) => {
      const wait = throttle(ctx.oidc.refreshToken?.grantId ?? '');
      if (wait === 0) return true;
      ctx.set('Retry-After', String(wait));
      throw temporarily(`too many refreshes; try again in ${wait} seconds`, 429);
    },
    expiresWithSession: () => false,
  } satisfies Configuration;

  async function isLive(account: Account, grantId: string | undefined): Promise<boolean> {
    if (grantId === undefined) {
      return (await reach(directory().liveMember(account.userId, account.organizationId))) !== undefined;
    }
    const grant = isId('gra', grantId) ? await reach(directory().liveGrant(grantId)) : undefined;
    return grant !== undefined && accountId(grant) === accountId(account);
  }
}

/** One question, asked in every request, answered by nothing but our consent page. */
const alwaysConsent = new interactionPolicy.Prompt(
  { name: 'consent' },
  new interactionPolicy.Check(
    'consent_is_always_asked',
    'the person has to consent',
    'consent_required',
    ({ oidc: { result, account } }) => {
      if (result?.login === undefined || result.consent === undefined) return true;
      // Disabled, or no member any more, since they said yes.
      if (!account) throw new errors.AccessDenied('the person has no access');
      return false;
    },
  ),
);

/** Whose token this is. Throws for one that no consent of ours stands behind. */
export function grantedToken({ accountId: sub, grantId }: Pick<AccessToken, 'accountId' | 'grantId'>) {
  const account = readAccountId(sub);
  if (!account || !isId('gra', grantId)) throw new errors.InvalidGrant('nobody granted this');
  return { ...account, grantId };
}

/** In our terms, as the authorization request was. A client may name other scopes (`openid`) out of habit. */
export function settleTokenRequest({ params }: KoaContextWithOIDC['oidc'], resource: string): void {
  if (!params) return;
  const { resource: asked, scope } = params;
  const indicators = Array.isArray(asked) ? asked : [asked];
  if (indicators.every((each) => typeof each === 'string')) {
    const [first, ...others] = canonicalResources(indicators, resource);
    params['resource'] = others.length === 0 ? first : [first, ...others];
  }
  if (typeof scope === 'string') params['scope'] = knownScopes(scope).join(' ') || undefined;
}

import { timingSafeEqual } from 'node:crypto';
import { jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { hashSecret, isObject, SightlineError, type Logger, parseJson } from '../../src/contract/core/index.ts';
import type { ExternalIdentity, RedirectSignIn } from '../../src/contract/issuer/index.ts';
import type { ArtifactRepository } from '../../src/contract/storage/index.ts';
import { factsOf, identityOf, type IdentityRules } from './identity.ts';
import { reasonOf, unreachable, ProviderUnreachable, type Provider } from './provider.ts';
import type { AccountPrompt } from './presets.ts';
import { algorithms } from './settings.ts';

/** The provider itself is not well: error codes of OpenID Connect and RFC 6749 §4.1.2.1. */
const outages = new Set(['temporarily_unavailable', 'server_error']);

function again(): SightlineError {
  return new SightlineError('forbidden', 'This sign-in has ended or was begun in another browser. Sign in again.');
}

/** In words for the person, and a log line. The library's errors hold codes and tokens: none is passed on or logged. */
function signInFailure(error: unknown, logger: Logger): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof ProviderUnreachable) {
    logger.error(reasonOf(error), 'The identity provider could not be reached during a sign-in.');
    return unreachable();
  }
  if (error instanceof oidc.AuthorizationResponseError) {
    const code = plainCode(error.error);
    logger.warn({ code }, 'The identity provider refused a sign-in.');
    if (outages.has(code)) return unreachable();
    const message = 'Your identity provider did not let you in. Sign in again, or ask its administrator.';
    return new SightlineError('forbidden', message);
  }
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') {
    logger.warn({ code: 'invalid_grant' }, 'The identity provider did not take the code of a sign-in.');
    return again();
  }
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError) {
    const code = error instanceof oidc.ResponseBodyError ? plainCode(error.error) : `status ${error.status}`;
    logger.error({ code }, `The identity provider refused this service: ${credentialsHint}`);
    const message = 'Sign-in is not set up well: your identity provider refused this service.';
    return new SightlineError('unavailable', message);
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  const claim = claimIn(error);
  logger.warn(
    { code, ...(claim !== undefined && { claim }), reason: error instanceof Error ? error.message : '' },
    'The answer to a sign-in was not valid.',
  );
  return new SightlineError('forbidden', 'The answer of your identity provider was not valid. Sign in again.');
}

export const credentialsHint =
  'check clientId and its credentials, or set clientAuthentication to the other of client_secret_basic and client_secret_post.';

/** The name of the claim that was not as expected, and never its value. The libraries have it at several depths. */
function claimIn(error: unknown): string | undefined {
  for (let at = error, depth = 0; isObject(at) && depth < 4; at = Reflect.get(at, 'cause'), depth += 1) {
    const claim = Reflect.get(at, 'claim');
    if (typeof claim === 'string' && /^[\w.:/-]{1,100}$/.test(claim)) return claim;
  }
  return undefined;
}

/** What stands in a URL may have been written by anybody. */
function plainCode(code: string): string {
  return /^[a-z_]{1,64}$/.test(code) ? code : 'unreadable';
}

export interface SignInOptions {
  readonly provider: Provider;
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly userinfo: boolean;
  readonly anotherAccount: AccountPrompt;
  readonly endsSession: boolean;
  readonly rules: IdentityRules;
  /** A function, since storage opens after construction. */
  readonly artifacts: () => ArtifactRepository;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Long enough for a second factor and a forgotten password. */
const lifetimeMs = 15 * 60_000;

const maxCallbackLength = 16_384;

const stateSchema = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.url(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
});

type State = z.output<typeof stateSchema>;

/** Authorization code with PKCE, state and nonce. The provider's tokens are read and dropped. */
export function createSignIn(options: SignInOptions): RedirectSignIn {
  const { provider, logger, now } = options;
  const once = createOnce(options.artifacts, now);

  /** OpenID Connect Core §3.1.2.1; not every provider lets people choose, but each lets them sign in again. */
  function promptOf({ prompt_values_supported: supported }: oidc.ServerMetadata): AccountPrompt {
    if (!Array.isArray(supported)) return options.anotherAccount;
    return supported.includes('select_account') ? 'select_account' : 'login';
  }

  async function begin(redirectUri: string, another = false) {
    const configuration = await provider.configuration();
    const verifier = oidc.randomPKCECodeVerifier();
    const kept: State = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier,
      redirectUri,
      expiresAt: now().getTime() + lifetimeMs,
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      ...options.parameters,
      ...(another && { prompt: promptOf(configuration.serverMetadata()) }),
      redirect_uri: redirectUri,
      scope: options.scopes.join(' '),
      state: kept.state,
      nonce: kept.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, state: JSON.stringify(kept) };
  }

  async function finish(callback: URL, text: string): Promise<ExternalIdentity> {
    const kept = stateSchema.safeParse(parseJson(text)).data;
    if (kept === undefined || kept.expiresAt <= now().getTime()) throw again();
    if (callback.search.length > maxCallbackLength || !isState(callback.searchParams.getAll('state'), kept.state)) {
      throw again();
    }
    // Before any request, so that only one of two concurrent callbacks continues.
    if (!(await once(kept.state, new Date(kept.expiresAt)))) throw again();
    try {
      const identity = await identityAt(callback, kept);
      if (identity !== undefined) return identity;
    } catch (error) {
      throw signInFailure(error, logger);
    }
    throw signInFailure(new Error('the claim that names the person is missing'), logger);
  }

  async function identityAt(callback: URL, kept: State): Promise<ExternalIdentity | undefined> {
    const configuration = await provider.configuration();
    // The redirect URI must be the one of the request, whatever our own proxy made of it.
    const answer = new URL(kept.redirectUri);
    answer.search = callback.search;
    const tokens = await oidc.authorizationCodeGrant(configuration, answer, {
      pkceCodeVerifier: kept.verifier,
      expectedState: kept.state,
      expectedNonce: kept.nonce,
      idTokenExpected: true,
    });
    // The library leaves the signature to TLS (OpenID Connect Core §3.1.3.7, 6).
    const { payload } = await jwtVerify(tokens.id_token ?? '', provider.keys, {
      issuer: options.rules.issuer,
      audience: options.clientId,
      algorithms: [...algorithms],
      clockTolerance: 30,
    });
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
    const { rules } = options;
    const more =
      options.userinfo && endpoint !== undefined
        ? await oidc.fetchUserInfo(configuration, tokens.access_token, payload.sub ?? '')
        : {};
    logger.debug(factsOf(payload, rules, more), 'The claims of a sign-in, by name, and the rules of memberships.');
    return identityOf(payload, rules, more);
  }

  async function endSession(): Promise<string | undefined> {
    const { end_session_endpoint: endpoint } = (await provider.configuration()).serverMetadata();
    const url = options.endsSession && endpoint !== undefined ? URL.parse(endpoint) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    // Without id_token_hint, since ID tokens are not kept: the provider asks the person (RP-Initiated Logout §2).
    url.searchParams.set('client_id', options.clientId);
    return url.href;
  }

  return { kind: 'redirect', name: options.name, begin, finish, endSession };
}

function isState([given = '', ...more]: readonly string[], expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return more.length === 0 && one.length === other.length && timingSafeEqual(one, other);
}

const model = 'SignIn';

/** True the first time a value is shown to any gateway over the storage, until it expires. */
function createOnce(artifacts: () => ArtifactRepository, now: () => Date) {
  return async (value: string, expiresAt: Date): Promise<boolean> => {
    const id = hashSecret(value);
    // Of those who write it at once one alone consumes it; writing it again makes it no newer.
    await artifacts().upsert({ model, id, payload: '{}', expiresAt });
    return artifacts().consume(model, id, now());
  };
}

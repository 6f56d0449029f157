import { createPrivateKey } from 'node:crypto';
import * as oidc from 'openid-client';
import { type Component, type IssuerHost, SightlineError } from '../../src/contract/core/index.ts';
import {
  pagePaths,
  type Issuer,
  type Scope,
  type TokenIntrospection,
  type TokenTrust,
} from '../../src/contract/issuer/index.ts';
import type { OidcConfig } from './config.ts';
import { examineProvider } from './examine.ts';
import { createProvider, type Provider } from './provider.ts';
import { algorithms, type Settings, settingsOf } from './settings.ts';
import { createSignIn } from './sign-in.ts';
import { factsOf, tokenClaims, whyRefused, type TokenRules } from './identity.ts';

type Credentials = Pick<OidcConfig, 'clientSecret' | 'privateKey' | 'privateKeyId'>;

/** How we prove at the token endpoint that we are the client. Throws `config_invalid` where the key cannot be used. */
function clientAuthentication(credentials: Credentials, method: Settings['clientAuthentication']): oidc.ClientAuth {
  const { clientSecret, privateKey, privateKeyId } = credentials;
  if (privateKey !== undefined) {
    const key = cryptoKey(privateKey);
    return oidc.PrivateKeyJwt(privateKeyId === undefined ? key : { key, kid: privateKeyId });
  }
  return method === 'client_secret_post' ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret);
}

function cryptoKey(pem: string): oidc.CryptoKey {
  try {
    const key = createPrivateKey(pem);
    switch (key.asymmetricKeyType) {
      case 'rsa':
        return key.toCryptoKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign']);
      case 'ec':
        return key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
      case 'ed25519':
        return key.toCryptoKey('Ed25519', false, ['sign']);
      default:
        throw new Error('it is of another kind');
    }
  } catch {
    // Without the cause: a parser may quote what it read.
    const message = 'issuer.privateKey cannot be used: it must be an RSA, P-256 or Ed25519 key in PKCS #8 PEM.';
    throw new SightlineError('config_invalid', message);
  }
}

/** People sign in at the company's provider; the access tokens are ours (broker) or the provider's (resource server). */
export function createIssuer(config: OidcConfig, host: IssuerHost): Issuer {
  const settings = settingsOf(config);
  const { logger, now } = host;
  if (settings.issuer === host.authUrl) {
    throw new SightlineError('config_invalid', 'issuer.issuer is this service itself: name the identity provider.');
  }
  const authentication = clientAuthentication(config, settings.clientAuthentication);
  const providerOf = (issuer: string) =>
    createProvider({ issuer, clientId: config.clientId, authentication, now, logger });
  const provider = providerOf(settings.issuer);
  const signIn = createSignIn({
    ...settings,
    provider,
    clientId: config.clientId,
    scopes: config.scopes,
    rules: settings.identity,
    artifacts: () => host.storage.directory.artifacts,
    now,
    logger,
  });
  const { signingKeyDays, clients } = config;
  const look = () =>
    examineProvider(provider, { ...config, ...settings, redirectUri: `${host.authUrl}${pagePaths.signInCallback}` });

  if (config.mode === 'broker') {
    const assertions = config.enterpriseManaged.enabled ? [assertionTrust(config, settings, provider, providerOf)] : [];
    const server = host.authorizationServer({ signingKeyDays, clients, people: true, assertions });
    const own = { trusts: [server.trust], authorizationServers: [server.issuer] } as const;
    return { ...server, ...told(server, provider), ...own, signIn, look };
  }

  const server = host.authorizationServer({ signingKeyDays, clients, people: false });
  const rules = tokenRules(config, settings);
  const { audiences, scopePrefix: prefix = '' } = config.accessTokens ?? {};
  const accepted = {
    issuer: settings.issuer,
    ...(audiences === undefined ? {} : { audiences }),
    claims(payload) {
      const refused = whyRefused(payload, rules);
      logger.debug(
        { ...factsOf(payload, rules.identity), ...(refused !== undefined && { refused }) },
        'The claims of an access token, by name, and the rules of memberships.',
      );
      return tokenClaims(payload, rules);
    },
  } satisfies Partial<TokenTrust>;
  const introspection = introspectionOf(config, accepted);
  return {
    ...told(server, provider),
    start: (signal) => server.start(signal),
    stop: () => server.stop(),
    handle: (request, response, address) => server.handle(request, response, address),
    trusts: [server.trust, { ...accepted, algorithms, keys: provider.keys }],
    ...(introspection === undefined ? {} : { introspection }),
    // Ours is not listed: clients that people use take any of them, and nobody can sign in there. Who has an API key is
    // told where to exchange it.
    authorizationServers: [settings.issuer],
    scopeNames: scopeNames({ scopes: rules.scopes, prefix, byRole: rules.roles !== undefined }),
    signIn,
    look,
  };
}

/** Reports a provider that is down, but stays healthy: tokens and sessions keep working. */
function told(server: Component, provider: Provider): Pick<Component, 'health'> {
  return {
    async health(signal) {
      const health = await server.health(signal);
      const failure = provider.failure();
      return health.ok && failure !== undefined
        ? { ok: true, detail: `the identity provider: ${failure.reason}` }
        : health;
    },
  };
}

function tokenRules(config: OidcConfig, settings: Settings): TokenRules {
  const { organization, scopes = {}, roles = {}, rolesClaim } = config.accessTokens ?? {};
  return {
    identity: settings.tokenIdentity,
    ...(organization === undefined ? {} : { organization }),
    scopes: new Map(Object.entries(scopes)),
    ...(rolesClaim === undefined ? {} : { roles: { claim: rolesClaim, scopes: new Map(Object.entries(roles)) } }),
  };
}

function introspectionOf(
  config: OidcConfig,
  accepted: Pick<TokenIntrospection, 'issuer' | 'audiences' | 'claims'>,
): TokenIntrospection | undefined {
  const configured = config.accessTokens?.introspection;
  if (configured === undefined) return undefined;
  const { endpoint, clientId = config.clientId, clientSecret = config.clientSecret ?? '' } = configured;
  // RFC 6749 §2.3.1: both are form-encoded first.
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(':');
  return { ...accepted, endpoint, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** An ID-JAG says `client_id` and `scope` as access tokens do, and speaks of the person as ID tokens do. */
function assertionTrust(
  config: OidcConfig,
  settings: Settings,
  provider: Provider,
  providerOf: (issuer: string) => Provider,
): Omit<TokenTrust, 'type' | 'audiences'> {
  const issuer = config.enterpriseManaged.issuer ?? settings.issuer;
  const rules: TokenRules = { identity: { ...settings.identity, issuer }, scopes: new Map() };
  const { keys } = issuer === settings.issuer ? provider : providerOf(issuer);
  return {
    issuer,
    algorithms,
    keys,
    claims(payload) {
      // One without a scope gives none.
      const claims = tokenClaims({ scope: '', ...payload }, rules);
      return claims && { ...claims, identity: { ...claims.identity, partial: true } };
    },
  };
}

interface ScopeNaming {
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

import Provider, { errors, type Adapter, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { isId, type KeyId, type Logger } from '../contract/index.ts';
import type { Attempts } from './attempts.ts';
import { claimsOfKey } from './claims.ts';
import type { ProvenKey } from './exchange.ts';
import { isOurResource } from './resource.ts';
import type { SigningKey } from './signing-keys.ts';

/** Of an access token, in seconds. */
export const tokenLifetime = 3600;

export const tokenPath = '/oauth2/token';

export interface ProviderOptions {
  readonly issuer: string;
  readonly resource: string;
  readonly signingKey: SigningKey;
  readonly prove: (id: KeyId | undefined, secret: string) => Promise<ProvenKey | undefined>;
  readonly attempts: Attempts;
  readonly addressOf: (request: KoaContextWithOIDC['req']) => string;
  readonly issued: (key: ProvenKey) => void;
  readonly logger: Logger;
}

/**
 * oidc-provider, reduced to one grant: client credentials against our API keys. It is cheap to make (a millisecond), so a
 * new signing key gets a new Provider.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, resource, signingKey, prove, attempts, addressOf, issued, logger } = options;
  const exchanges = new WeakMap<object, Exchange>();

  const configuration = {
    adapter: refusing,
    clients: [apiKeyClient],
    jwks: { keys: [{ ...signingKey.privateJwk, kid: signingKey.kid, use: 'sig', alg: 'ES256' }] },
    // No response type and no `offline_access` scope: client credentials is the only grant there is.
    responseTypes: [],
    scopes: [],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    routes: { token: tokenPath },
    ttl: { ClientCredentials: tokenLifetime },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: (ctx, indicator) => {
          if (!isOurResource(indicator, resource)) {
            throw new errors.InvalidTarget(`the only resource here is ${resource}`);
          }
          return {
            scope: grantedScope(ctx),
            audience: resource,
            accessTokenTTL: tokenLifetime,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256', kid: signingKey.kid } },
          };
        },
      },
      revocation: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    formats: {
      customizers: {
        jwt: (ctx, _token, { payload }) => {
          Object.assign(payload, claimsOfKey(keyOf(ctx)));
        },
      },
    },
    renderError: (ctx, out) => {
      ctx.body = out;
    },
  } satisfies Configuration;

  const provider = new Provider(issuer, configuration);

  /** No token without a key of ours behind it, whatever brought the library here. */
  function keyOf(ctx: object): ProvenKey {
    const key = exchanges.get(ctx)?.key;
    if (!key) throw new errors.InvalidClient('no API key was shown');
    return key;
  }

  /**
   * What was asked for as far as the key has it; all that the key has when nothing was. Partly granting is what RFC 6749
   * §3.3 provides for, and what the official MCP clients need: they ask for every scope that the resource's metadata lists.
   */
  function grantedScope(ctx: KoaContextWithOIDC): string {
    const has: readonly string[] = keyOf(ctx).scopes;
    const params = ctx.oidc.params ?? {};
    const asked = typeof params['scope'] === 'string' ? new Set(params['scope'].split(' ')) : undefined;
    const granted = asked ? has.filter((scope) => asked.has(scope)) : has;
    if (granted.length === 0) {
      throw new errors.InvalidScope(
        `this key has none of the requested scopes; it has ${has.join(' ')}`,
        has.join(' '),
      );
    }
    params['scope'] = granted.join(' ');
    return granted.join(' ');
  }

  /**
   * Every client id, known or not, is the same client to the library: an API key, with nothing in its metadata that could
   * tell one from another. So authority cannot come from client metadata, and an unknown id costs what a known one costs.
   */
  const { Client } = provider;
  const findRegistered = Client.find.bind(Client);
  let apiKey: Awaited<ReturnType<typeof findRegistered>>;
  Client.find = async (shown) => {
    const ctx = Provider.ctx;
    if (ctx) exchanges.set(ctx, { clientId: isId('ak', shown) ? shown : undefined });
    return (apiKey ??= await findRegistered(apiKeyClient.client_id));
  };

  Client.prototype.compareClientSecret = async (shown: string) => {
    const ctx = Provider.ctx;
    const exchange = ctx && exchanges.get(ctx);
    if (!exchange) return false;
    try {
      exchange.key = await prove(exchange.clientId, shown);
    } catch (cause) {
      logger.error({ error: cause }, 'A token was refused, since API keys cannot be looked up.');
      ctx.set('Retry-After', '2');
      throw temporarily('the server cannot look up keys at the moment', 503, 'temporarily_unavailable', cause);
    }
    if (exchange.key) return true;
    const address = addressOf(ctx.req);
    const wait = attempts.fail(address, exchange.clientId ?? '');
    logger.debug({ address, clientId: exchange.clientId }, 'A token request showed a wrong secret.');
    if (wait === undefined) return false;
    ctx.set('Retry-After', String(wait));
    throw temporarily(`too many failed attempts; try again in ${wait} seconds`, 429, 'slow_down');
  };

  provider.on('grant.success', (ctx) => issued(keyOf(ctx)));
  // These events carry the whole request, with the secret in its body: of it nothing but the error may reach the log.
  provider.on('server_error', (_ctx, error) => logger.error({ error }, 'The token endpoint failed.'));
  provider.onerror = (error) => logger.warn({ error }, 'A token response could not be sent.');
  return provider;
}

/** One token request on its way. */
interface Exchange {
  /** As shown by the client, if it is written like a key's id. */
  readonly clientId: KeyId | undefined;
  /** Set once a secret of the key was shown. */
  key?: ProvenKey | undefined;
}

const apiKeyClient = {
  client_id: 'api-key',
  // Never compared: compareClientSecret is ours. The library wants one for a client that authenticates by secret.
  client_secret: 'unused',
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
} as const;

/** JWTs of the client credentials grant leave nothing behind, so there is nothing to store or to find. */
function refusing(model: string): Adapter {
  const refuse = async () => {
    throw new Error(`this issuer keeps no ${model}`);
  };
  return {
    upsert: refuse,
    find: refuse,
    findByUserCode: refuse,
    findByUid: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
}

function temporarily(description: string, status: number, code: string, cause?: unknown): errors.OIDCProviderError {
  const error = new errors.OIDCProviderError(status, code, { cause });
  error.error_description = description;
  // The library hides what a 5xx says; these words are ours.
  error.expose = true;
  return error;
}

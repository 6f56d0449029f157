import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isId, type KeyId, type Logger } from '../../contract/core/index.ts';
import type { Attempts } from './attempts.ts';
import type { ProvenKey } from './exchange.ts';
import { temporarily } from './failures.ts';

export interface KeyExchangeOptions {
  readonly prove: (id: KeyId | undefined, secret: string) => Promise<ProvenKey | undefined>;
  readonly attempts: Attempts;
  readonly addressOf: (request: KoaContextWithOIDC['req']) => string;
  readonly logger: Logger;
}

/** API keys as the protocol library meets them: which key a request shows, and what its token may hold. */
export interface KeyExchange {
  /** The request names this id as its client: a key's, or one that nobody has. */
  begin(ctx: object, shown: string): void;
  /** Whether the request is a key's; others are clients that people authorize. */
  is(ctx: object): boolean;
  authenticate(ctx: KoaContextWithOIDC, secret: string): Promise<boolean>;
  /** Throws unless a secret of a key was shown: no token without one, whatever brought the library here. */
  keyOf(ctx: object): ProvenKey;
  grantedScope(ctx: KoaContextWithOIDC): string;
  /** A wrong secret was shown. Answers false, or throws once there were too many. */
  refuse(ctx: KoaContextWithOIDC, clientId: string): boolean;
}

/** One request on its way. */
interface Exchange {
  /** As shown by the client, if it is written like a key's id. */
  readonly clientId: KeyId | undefined;
  /** Set once a secret of the key was shown. */
  key?: ProvenKey | undefined;
}

/**
 * Every key, and every id that nobody has, is this one client to the library, with nothing in its metadata that could tell
 * one from another. So authority cannot come from client metadata, and an unknown id costs what a known one costs.
 */
export const apiKeyClient = {
  client_id: 'api-key',
  // Never compared: compareClientSecret is ours. The library wants one for a client that authenticates by secret.
  client_secret: 'unused',
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
} as const;

export function createKeyExchange({ prove, attempts, addressOf, logger }: KeyExchangeOptions): KeyExchange {
  const exchanges = new WeakMap<object, Exchange>();

  function keyOf(ctx: object): ProvenKey {
    const key = exchanges.get(ctx)?.key;
    if (!key) throw new errors.InvalidClient('no API key was shown');
    return key;
  }

  function refuse(ctx: KoaContextWithOIDC, clientId: string): boolean {
    const address = addressOf(ctx.req);
    const wait = attempts.fail(address, clientId);
    logger.debug({ address, clientId }, 'A token request showed a wrong secret.');
    if (wait === undefined) return false;
    ctx.set('Retry-After', String(wait));
    throw temporarily(`too many failed attempts; try again in ${wait} seconds`, 429, 'slow_down');
  }

  return {
    begin: (ctx, shown) => void exchanges.set(ctx, { clientId: isId('ak', shown) ? shown : undefined }),
    is: (ctx) => exchanges.has(ctx),
    keyOf,
    refuse,

    async authenticate(ctx, secret) {
      const exchange = exchanges.get(ctx);
      if (!exchange) return false;
      try {
        exchange.key = await prove(exchange.clientId, secret);
      } catch (cause) {
        logger.error({ error: cause }, 'A token was refused, since API keys cannot be looked up.');
        throw temporarily('the server cannot look up keys at the moment', 503, 'temporarily_unavailable', cause);
      }
      return exchange.key ? true : refuse(ctx, exchange.clientId ?? '');
    },

    /**
     * What was asked for as far as the key has it; all that the key has when nothing was. Partly granting is what RFC 6749
     * §3.3 provides for, and what the official MCP clients need: they ask for every scope that the resource's metadata lists.
     */
    grantedScope(ctx) {
      const has: readonly string[] = keyOf(ctx).scopes;
      const params = ctx.oidc.params ?? {};
      const asked = typeof params['scope'] === 'string' ? params['scope'].split(' ') : has;
      const granted = has.filter((scope) => asked.includes(scope));
      if (granted.length === 0) {
        throw new errors.InvalidScope(
          `this key has none of the requested scopes; it has ${has.join(' ')}`,
          has.join(' '),
        );
      }
      params['scope'] = granted.join(' ');
      return granted.join(' ');
    },
  };
}

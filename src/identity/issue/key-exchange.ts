import { LRUCache } from 'lru-cache';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isId, type KeyId, type Logger, equalHashes, hashSecret, type SecretId } from '../../contract/core/index.ts';
import type { Attempts } from '../../limits/attempts.ts';
import { temporarily } from './error-page.ts';
import type { ApiKeyWithHashes, Directory, LiveKey } from '../../contract/storage/index.ts';

type Candidates = ApiKeyWithHashes['secrets'];

/** The key behind a token request, after one of its secrets was shown: all that its token says comes from here. */
export interface ProvenKey extends Pick<LiveKey, 'organizationId' | 'scopes'> {
  readonly id: KeyId;
  readonly secretId: SecretId;
}

/** A hash that no secret has: what an unknown key is compared with, so that it costs what a known one costs. */
const nobody = '0'.repeat(64);
/** Keys whose hashes are remembered. */
const capacity = 1_000;

/** The secret of the key that has this hash. Every candidate is compared, whichever matches, and never fewer than two. */
export function matchSecret(hash: string, candidates: Candidates): SecretId | undefined {
  let matched: SecretId | undefined;
  for (let index = 0; index < Math.max(2, candidates.length); index += 1) {
    const candidate = candidates[index];
    if (equalHashes(hash, candidate?.hash ?? nobody) && candidate) matched = candidate.id;
  }
  return matched;
}

/** `paused`: the secret is right, and the key is paused. */
type Prove = (id: KeyId | undefined, secret: string) => Promise<ProvenKey | 'paused' | undefined>;

/**
 * Finds the key whose id and secret were shown. Hashes are remembered, but that a secret is alive, whose it is and what it
 * may do is asked of storage each time, by its cheapest question: retiring, pausing and revoking take effect at once.
 */
export function createKeyProof(storage: { readonly directory: Pick<Directory, 'keyForExchange' | 'liveKey'> }): Prove {
  const remembered = new LRUCache<KeyId, Candidates>({ max: capacity });

  async function alive(id: KeyId, secretId: SecretId | undefined): Promise<ProvenKey | undefined> {
    const live = secretId && (await storage.directory.liveKey(id, secretId));
    return live && { id, secretId, organizationId: live.organizationId, scopes: live.scopes };
  }

  return async (id, secret) => {
    const hash = hashSecret(secret);
    const known = matchSecret(hash, (id && remembered.get(id)) ?? []);
    const proven = id && (await alive(id, known));
    if (proven) return proven;
    const key = id && (await storage.directory.keyForExchange(id));
    const secretId = matchSecret(hash, key?.secrets ?? []);
    if (!key || !secretId) return undefined;
    if (key.paused) return 'paused';
    remembered.set(key.id, key.secrets);
    return { id: key.id, secretId, organizationId: key.organizationId, scopes: key.scopes };
  };
}

const pausedKey = 'this API key is paused; an admin of its organization can resume it';

interface KeyExchangeOptions {
  readonly prove: Prove;
  readonly attempts: Attempts;
  readonly addressOf: (request: KoaContextWithOIDC['req']) => string;
  readonly logger: Logger;
}

/** API keys as the protocol library meets them: which key a request shows, and what its token may hold. */
export interface KeyExchange {
  /** Starts a request with this client id, which is a key's or unknown. */
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

interface Exchange {
  /** As shown by the client, if it is written like a key's id. */
  readonly clientId: KeyId | undefined;
  /** Set once a secret of the key was shown. */
  key?: ProvenKey | undefined;
}

/** The one client that every key and unknown id is: metadata gives no authority, and both cost the same time. */
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
    throw temporarily(`too many failed attempts; try again in ${wait} seconds`, 429);
  }

  return {
    begin: (ctx, shown) => void exchanges.set(ctx, { clientId: isId('ak', shown) ? shown : undefined }),
    is: (ctx) => exchanges.has(ctx),
    keyOf,
    refuse,

    async authenticate(ctx, secret) {
      const exchange = exchanges.get(ctx);
      if (!exchange) return false;
      let proven: Awaited<ReturnType<Prove>>;
      try {
        proven = await prove(exchange.clientId, secret);
      } catch (cause) {
        logger.error({ error: cause }, 'A token was refused, since API keys cannot be looked up.');
        throw temporarily('the server cannot look up keys at the moment', 503, cause);
      }
      // No guess, so it counts as none; and who has the secret may know.
      if (proven === 'paused') throw new errors.UnauthorizedClient(pausedKey);
      exchange.key = proven;
      return proven ? true : refuse(ctx, exchange.clientId ?? '');
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import { SightlineError } from '../contract/index.ts';
import type {
  AuthorizationRequests,
  AuthorizationServer,
  AuthorizationServerOptions,
  IssuerHost,
} from '../contract/index.ts';
import { createAttempts } from './attempts.ts';
import { tokenClaims } from './claims.ts';
import { createEndpoints, documentCacheSeconds } from './endpoints.ts';
import { createKeyProof } from './exchange.ts';
import { createIssuanceLog } from './issuance-log.ts';
import { createProvider, tokenLifetime } from './provider.ts';
import { createSigningKeys } from './signing-keys.ts';

/** Until people can authorize clients. */
const noRequests: AuthorizationRequests = {
  find: async () => undefined,
  approve: async () => {
    throw new SightlineError('not_found', 'There is no such authorization request.');
  },
  deny: async () => {
    throw new SightlineError('not_found', 'There is no such authorization request.');
  },
};

/** How often each instance looks whether another has replaced the signing keys, or whether it is due itself. */
const refreshMs = 60_000;
const day = 86_400_000;

export type AuthorizationServerHost = Omit<IssuerHost, 'authorizationServer'>;

/** Mints tokens: oidc-provider for the protocol, our storage for keys and signing keys. */
export function createAuthorizationServer(
  options: AuthorizationServerOptions,
  host: AuthorizationServerHost,
): AuthorizationServer {
  const { storage, logger, now, resource, authUrl } = host;
  const keys = createSigningKeys({
    storage,
    vault: host.vault,
    now,
    schedule: {
      rotateEvery: options.signingKeyDays * day,
      publishBefore: 2 * documentCacheSeconds * 1000 + 2 * refreshMs,
      publishAfter: 2 * tokenLifetime * 1000,
    },
    onRead: useKeys,
  });
  const issuances = createIssuanceLog(storage, logger, now);
  const attempts = createAttempts(now);
  const prove = createKeyProof(storage);
  const addresses = new WeakMap<IncomingMessage, string>();

  type TokenEndpoint = (request: IncomingMessage, response: ServerResponse) => void;
  let token: { readonly kid: string; readonly endpoint: TokenEndpoint } | undefined;
  let jwks = '{"keys":[]}';
  let timer: NodeJS.Timeout | undefined;
  let refreshing = Promise.resolve();
  let failure: string | undefined = 'not started';

  /** The Provider is bound to its signing key; when another key is current a new one takes its place between two requests. */
  function useKeys(): void {
    jwks = JSON.stringify({ keys: keys.published() });
    const signingKey = keys.current();
    if (token?.kid === signingKey.kid) return;
    const provider = createProvider({
      issuer: authUrl,
      resource,
      signingKey,
      prove,
      attempts,
      addressOf: (request) => addresses.get(request) ?? request.socket.remoteAddress ?? '',
      issued: (key) => issuances.add(key),
      logger,
    });
    const callback = provider.callback();
    token = { kid: signingKey.kid, endpoint: (request, response) => void callback(request, response) };
  }

  async function refresh(): Promise<void> {
    try {
      await keys.refresh();
      failure = undefined;
    } catch (error) {
      failure = 'the signing keys cannot be read from storage';
      logger.error({ error }, 'The signing keys could not be refreshed; those in memory stay in use.');
    }
  }

  const endpoints = createEndpoints({
    issuer: authUrl,
    jwks: () => jwks,
    token: (request, response) => {
      if (token) token.endpoint(request, response);
      else response.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end();
    },
  });

  return {
    issuer: authUrl,
    trust: {
      issuer: authUrl,
      algorithms: ['ES256'],
      keys: keys.verificationKey,
      type: 'at+jwt',
      claims: tokenClaims,
    },
    authorizationRequests: noRequests,
    handle(request, response, address) {
      if (address !== undefined) addresses.set(request, address);
      return endpoints(request, response);
    },

    async start(signal) {
      signal.throwIfAborted();
      await keys.refresh();
      signal.throwIfAborted();
      failure = undefined;
      timer = setInterval(() => {
        refreshing = refresh();
      }, refreshMs).unref();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await refreshing;
      failure = 'stopped';
      await issuances.flush();
    },
    health: async () => (failure === undefined ? { ok: true } : { ok: false, detail: failure }),
  };
}

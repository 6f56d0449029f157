import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Provider from 'oidc-provider';
import { isId, SightlineError, type IssuerHost } from '../../contract/core/index.ts';
import type {
  AuthorizationServer,
  AuthorizationServerOptions,
  ExternalTokenClaims,
} from '../../contract/issuer/index.ts';
import type { AuditLog } from '../../contract/storage/index.ts';
import { tokenClaims, type Account } from './claims.ts';
import { createAdapter } from './adapter.ts';
import { createAttempts } from '../../limits/attempts.ts';
import { createClients } from './clients/index.ts';
import { internet, type Network } from './clients/document-fetch.ts';
import { createAuthorizationRequests } from './consent.ts';
import { createEndpoints, documentCacheSeconds, type Answer } from './endpoints.ts';
import { createKeyProof, createKeyExchange } from './key-exchange.ts';
import { createReach, temporarily } from './error-page.ts';
import { createGrantRecords } from './grant-records.ts';
import { createAssertionGrant, withAssertionGrant } from './grants/id-jag.ts';
import { createHousekeeping, createKeyRefresh, refreshMs } from './upkeep.ts';
import { authorizationServerMetadata, tokenLifetime } from './metadata.ts';
import { peopleConfiguration } from './people-grants.ts';
import { createProvider } from './provider.ts';
import { createSigningKeys } from './signing-keys.ts';

const day = 86_400_000;

export interface AuthorizationServerHost extends Omit<IssuerHost, 'authorizationServer'> {
  /** Where issued tokens are recorded; one that cannot be is not given out. */
  readonly audit: AuditLog;
  /** The account of an identity that a provider vouches for. Rejects with `forbidden` where there is none. */
  readonly admit: (claims: ExternalTokenClaims) => Promise<Account>;
}

/** Mints tokens. Clients' documents and keys are fetched through `network`. */
export function createAuthorizationServer(
  options: AuthorizationServerOptions,
  host: AuthorizationServerHost,
  network: Network = internet,
): AuthorizationServer {
  const { storage, audit, logger, now, resource, authUrl, vault } = host;
  const addresses = new WeakMap<IncomingMessage, string>();
  const addressOf = (request: IncomingMessage) => addresses.get(request) ?? request.socket.remoteAddress ?? '';
  const signingKeys = createSigningKeys({
    storage,
    vault,
    now,
    schedule: {
      rotateEvery: options.signingKeyDays * day,
      publishBefore: 2 * documentCacheSeconds * 1000 + 2 * refreshMs,
      publishAfter: 2 * tokenLifetime * 1000,
    },
    onRead: useKeys,
  });
  const attempts = createAttempts({
    now,
    buckets: () => storage.directory.buckets,
    failed: (error) => logger.warn({ error }, 'Wrong secrets could not be counted with those at other gateways.'),
  });
  const keys = createKeyExchange({ prove: createKeyProof(storage), attempts, addressOf, logger });
  const clients = createClients({
    config: options.clients,
    issuer: authUrl,
    repository: {
      register: (client, mostUnused) => storage.directory.clients.register(client, mostUnused),
      find: (id) => storage.directory.clients.find(id),
      markUsed: (id, at) => storage.directory.clients.markUsed(id, at),
    },
    buckets: () => storage.directory.buckets,
    now,
    logger,
    caller: () => (Provider.ctx ? addressOf(Provider.ctx.req) : ''),
    network,
  });
  const grants = createGrantRecords(storage, now);
  const reach = createReach(logger);
  const successorKey = vault.derive('oauth-refresh-successor');
  const successor = (token: string) => createHmac('sha256', successorKey).update(token).digest('base64url');
  const adapter = createAdapter({
    artifacts: () => storage.directory.artifacts,
    findClient: async (id) => {
      const client = await clients.find(id);
      return client && (assertion ? withAssertionGrant(client) : client);
    },
    revokeGrant: (id) => grants.end(id),
    successor,
    reach,
    vault,
    now,
    logger,
  });
  const people = options.people
    ? peopleConfiguration({
        issuer: authUrl,
        directory: () => storage.directory,
        clients,
        reach,
        cookieKey: vault.derive('oauth-cookies'),
        now,
      })
    : undefined;
  const { assertions = [] } = options;
  const assertion =
    people && assertions.length > 0
      ? createAssertionGrant({
          issuer: authUrl,
          resource,
          trusts: assertions,
          admit: host.admit,
          grants,
          artifacts: () => storage.directory.artifacts,
          reach,
          now,
          logger,
        })
      : undefined;
  const configured = new Set(options.clients.registered.map(({ clientId }) => clientId));
  const housekeeping = createHousekeeping(storage, now, logger);

  let current: { readonly kid: string; readonly provider: Provider; readonly run: Answer } | undefined;
  let jwks = '{"keys":[]}';
  let life: 'not started' | 'started' | 'stopped' = 'not started';
  const keyRefresh = createKeyRefresh(() => signingKeys.refresh(), logger);

  /** The Provider is bound to its signing key; when another key is current a new one takes its place between two requests. */
  function useKeys(): void {
    jwks = JSON.stringify({ keys: signingKeys.published() });
    const signingKey = signingKeys.current();
    if (current?.kid === signingKey.kid) return;
    const provider = createProvider({
      issuer: authUrl,
      resource,
      signingKey,
      keys,
      adapter,
      successor,
      people,
      assertion,
      isConfigured: (id) => configured.has(id),
      issued: (token) => {
        const { organizationId, subject, target } = token;
        try {
          audit.reserveNow(organizationId)({
            at: now(),
            event: 'token.issued',
            subject,
            requestId: randomUUID(),
            target,
            outcome: 'ok',
          });
        } catch (cause) {
          throw temporarily('the token cannot be recorded now', 503, cause);
        }
        if (isId('gra', target)) void storage.workspace(organizationId).grants.markUsed(target, now());
      },
      logger,
    });
    const callback = provider.callback();
    current = { kid: signingKey.kid, provider, run: (request, response) => void callback(request, response) };
  }

  const endpoints = createEndpoints({
    issuer: authUrl,
    resource,
    metadata: async () =>
      JSON.stringify(authorizationServerMetadata(authUrl, options, options.people ? await clients.metadata() : {})),
    jwks: () => jwks,
    protocol: (request, response) => {
      if (current) current.run(request, response);
      else response.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end();
    },
    people: options.people,
    addressOf,
    now,
    register: (request, response) => void clients.register(request, response, addressOf(request)),
  });

  return {
    issuer: authUrl,
    trust: {
      issuer: authUrl,
      algorithms: ['ES256'],
      keys: signingKeys.verificationKey,
      type: 'at+jwt',
      claims: tokenClaims,
    },
    authorizationRequests: createAuthorizationRequests({
      provider: () => {
        if (current) return current.provider;
        throw new SightlineError('unavailable', 'The service is starting.', { retryAfterSeconds: 1 });
      },
      issuer: authUrl,
      grants,
      resource,
      clients,
      artifacts: () => storage.directory.artifacts,
      reach,
      now,
    }),
    handle(request, response, address) {
      if (address !== undefined) addresses.set(request, address);
      return endpoints(request, response);
    },

    async start(signal) {
      signal.throwIfAborted();
      await signingKeys.refresh();
      signal.throwIfAborted();
      life = 'started';
      keyRefresh.start();
      housekeeping.start();
    },
    async stop() {
      await keyRefresh.stop();
      await housekeeping.stop();
      life = 'stopped';
    },
    async health() {
      if (life !== 'started') return { ok: false, detail: life };
      return keyRefresh.failing ? { ok: false, detail: 'the signing keys cannot be read from storage' } : { ok: true };
    },
  };
}

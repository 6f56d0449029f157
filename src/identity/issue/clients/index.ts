import type { IncomingMessage, ServerResponse } from 'node:http';
import { hashSecret, SightlineError, isId, type IssuerHost, equalHashes } from '../../../contract/core/index.ts';
import type { AuthorizationServerConfig, AuthorizationClient } from '../../../contract/issuer/index.ts';
import type { ClientRepository, BucketRepository } from '../../../contract/storage/index.ts';
import { createDocumentFetch, createFetchBudget, internet, type Network } from './document-fetch.ts';
import { createUrlRules, redirectUriFault } from './urls.ts';
import { createWayOut, createDocuments } from './documents.ts';
import {
  authMethods,
  type ClientMetadata,
  grantTypes,
  clientMetadataSchema,
  clientMetadata,
  displayName,
} from './metadata.ts';
import { answer, createRegistration, type Register } from './registration.ts';
import { apiKeyClient } from '../key-exchange.ts';

/** Replaces the library's comparison, to which the hash that it holds would be as good as the secret. */
export function clientSecretMatches(client: { readonly clientSecret?: string | undefined }, shown: string): boolean {
  return client.clientSecret !== undefined && equalHashes(hashSecret(shown), client.clientSecret);
}

/** The clients that the configuration lists. Throws `config_invalid` where one could never be used. */
function configuredClients(
  registered: AuthorizationServerConfig['clients']['registered'],
): ReadonlyMap<string, ClientMetadata> {
  const clients = new Map<string, ClientMetadata>();
  for (const { clientId, clientName, clientSecret, redirectUris } of registered) {
    if (clients.has(clientId)) throw invalid(clientId, 'is registered twice');
    if (/^(?:ak|dcr)_/.test(clientId)) throw invalid(clientId, 'begins like an id that is given out here');
    if (clientId === apiKeyClient.client_id) throw invalid(clientId, 'has an id that stands for all API keys');
    for (const uri of redirectUris) {
      const fault = redirectUriFault(uri);
      if (fault !== undefined) throw invalid(clientId, `cannot be redirected to ${uri}: redirect URIs ${fault}`);
    }
    const name = displayName(clientName);
    if (name === '') throw invalid(clientId, 'has no name that can be shown');
    clients.set(clientId, {
      ...clientMetadata(clientId, name, redirectUris, { grant_types: [...grantTypes] }),
      ...(clientSecret === undefined
        ? { token_endpoint_auth_method: 'none' }
        : { token_endpoint_auth_method: 'client_secret_basic', client_secret: hashSecret(clientSecret) }),
    });
  }
  return clients;
}

function invalid(clientId: string, fault: string): SightlineError {
  return new SightlineError('config_invalid', `The OAuth client ${clientId} of the configuration ${fault}.`);
}

export const registrationPath = '/oauth2/register';

interface ClientsOptions extends Pick<IssuerHost, 'now' | 'logger'> {
  readonly config: AuthorizationServerConfig['clients'];
  readonly issuer: string;
  readonly repository: ClientRepository;
  readonly buckets: () => Pick<BucketRepository, 'read' | 'pour'>;
  /** Client address of the current request; its fetched documents count against it. */
  readonly caller: () => string;
  readonly network?: Network;
}

/** The OAuth clients that may ask people for access. API keys (`ak_…`) are none of them. */
export interface Clients {
  /** With a hash as its secret (`clientSecretMatches`). Rejects with an error of oidc-provider for a bad document. */
  find(id: string): Promise<ClientMetadata | undefined>;
  /** The registration endpoint; it answers every request, and 404 where registration is switched off. */
  readonly register: Register;
  /** For the consent page. Rejects as `find` does. */
  describe(id: string): Promise<AuthorizationClient | undefined>;
  /** A person authorized this client: if it registered itself, its registration is kept from now on. */
  markUsed(id: string): Promise<void>;
  /** All that oidc-provider ever fetches, the keys of clients: `configuration.fetch`. */
  readonly fetch: (input: string | URL | Request) => Promise<Response>;
  /** What the authorization server's metadata says of clients (RFC 8414, RFC 7591, Client ID Metadata Documents). */
  readonly metadata: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Throws `config_invalid` where a configured client could never be used. */
export function createClients(options: ClientsOptions): Clients {
  const { config, issuer, repository, now, logger, caller, network = internet } = options;
  const { metadataDocuments, registration } = config;
  const rules = createUrlRules(metadataDocuments.allowedHosts);
  const fetchDocument = createDocumentFetch({ rules, network, budget: createFetchBudget({ now, caller }) });
  const configured = configuredClients(config.registered);
  const documents = createDocuments({
    fetch: fetchDocument,
    rules,
    copies: wellKnownDocuments,
    pinned: metadataDocuments.pinned,
    now,
    logger,
  });
  const copied = [...wellKnownDocuments.keys()].map((id) => new URL(id)).filter(rules);
  const hasWayOut = createWayOut({
    // With a budget of its own, which strangers cannot use up.
    fetch: createDocumentFetch({ rules, network, budget: createFetchBudget({ now, caller: () => '' }) }),
    urls: copied,
    now,
    logger,
  });

  /** A client that is told of documents and finds that its own is not read does not register itself any more. */
  const offersDocuments = async (): Promise<boolean> => {
    if (metadataDocuments.enabled !== 'auto') return metadataDocuments.enabled;
    return !registration.enabled || copied.length === 0 || hasWayOut();
  };

  /** A client that registered itself, by the id it was given. */
  async function registered(id: string): Promise<ClientMetadata | undefined> {
    const row = isId('dcr', id) ? await repository.find(id) : undefined;
    if (!row) return undefined;
    try {
      return clientMetadataSchema.parse(JSON.parse(row.metadata));
    } catch (error) {
      logger.error({ clientId: id, error }, 'The stored metadata of a client cannot be read.');
      return undefined;
    }
  }

  async function locate(id: string): Promise<Located | undefined> {
    const ours = configured.get(id);
    if (ours) return { known: 'configuration', metadata: ours };
    if (!id.startsWith('https://')) {
      const metadata = await registered(id);
      return metadata && { known: 'registration', metadata };
    }
    const metadata = metadataDocuments.enabled !== false ? await documents(id) : undefined;
    return metadata && { known: 'document', metadata };
  }

  return {
    find: async (id) => (await locate(id))?.metadata,
    register: registration.enabled
      ? createRegistration({
          repository,
          buckets: options.buckets,
          unusedClients: registration.unusedClients,
          mayFetch: metadataDocuments.enabled !== false ? rules : undefined,
          now,
          logger,
        })
      : noRegistration,
    async describe(id) {
      const located = await locate(id);
      if (!located) return undefined;
      const { known, metadata } = located;
      const client = { id, name: metadata.client_name, known };
      return known === 'document' ? { ...client, host: new URL(id).host } : client;
    },
    async markUsed(id) {
      if (isId('dcr', id)) await repository.markUsed(id, now());
    },
    async fetch(input) {
      const { text, headers } = await fetchDocument(new URL(input instanceof Request ? input.url : input));
      const control = headers['cache-control'];
      return new Response(text, control === undefined ? {} : { headers: { 'cache-control': control } });
    },
    metadata: async () => ({
      token_endpoint_auth_methods_supported: authMethods,
      ...((await offersDocuments()) ? { client_id_metadata_document_supported: true } : {}),
      ...(registration.enabled ? { registration_endpoint: `${issuer}${registrationPath}` } : {}),
    }),
  };
}

interface Located {
  readonly known: AuthorizationClient['known'];
  readonly metadata: ClientMetadata;
}

async function noRegistration(_request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('Access-Control-Allow-Origin', '*');
  answer(response, 404, { error: 'invalid_request', error_description: 'clients cannot register themselves here' });
}

const registers = { response_types: ['code'], token_endpoint_auth_method: 'none' } as const;
const refreshes = { ...registers, grant_types: ['authorization_code', 'refresh_token'] } as const;
/** Any port of these, as RFC 8252 §7.3 has it. */
const callbacks = ['http://127.0.0.1/callback', 'http://localhost/callback'];

/** What is read of the documents that clients published between September and November 2026. */
const documents = [
  {
    client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
    client_name: 'Claude Code',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://vscode.dev/oauth/client-metadata.json',
    client_name: 'Visual Studio Code',
    // Another port takes the place of 33418 where that is taken.
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    ...refreshes,
  },
  // For servers that name their issuer in the answer (RFC 9207), as ours does; for others it has one a server.
  {
    client_id: 'https://chatgpt.com/oauth/codex/client.json',
    client_name: 'Codex',
    redirect_uris: callbacks,
    ...refreshes,
  },
  {
    client_id: 'https://opencode.ai/oauth/opencode/client.json',
    client_name: 'opencode',
    redirect_uris: [...callbacks, 'http://127.0.0.1/mcp/oauth/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://zed.dev/oauth/client-metadata.json',
    client_name: 'Zed',
    redirect_uris: ['http://127.0.0.1/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://goose-docs.ai/oauth/client-metadata.json',
    client_name: 'Goose',
    redirect_uris: ['http://localhost/oauth_callback'],
    ...registers,
    grant_types: ['authorization_code'],
  },
];

/** By URL, for when a document cannot be had: hosts refuse some clouds, and some gateways reach nothing outside. */
const wellKnownDocuments: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  documents.map((document) => [document.client_id, document]),
);

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../../contract/core/index.ts';
import type { AuthorizationClient, AuthorizationServerConfig } from '../../../contract/issuer/index.ts';
import type { BucketRepository, ClientRepository } from '../../../contract/storage/index.ts';
import { configuredClients } from './configured.ts';
import { createDocumentFetch } from './document-fetch.ts';
import { createUrlRules } from './document-urls.ts';
import { createDocuments } from './documents.ts';
import { createFetchBudget } from './fetch-budget.ts';
import { authMethods, type ClientMetadata } from './metadata.ts';
import { internet, type Network } from './network.ts';
import { createRegistered } from './registered.ts';
import { answer } from './registration-http.ts';
import { createRegistration, type Register } from './registration.ts';
import { createUse } from './used.ts';
import { wellKnownDocuments } from './well-known-documents/index.ts';

export type { ClientMetadata } from './metadata.ts';
export { clientSecretMatches } from './secrets.ts';

export const registrationPath = '/oauth2/register';

export interface ClientsOptions {
  readonly config: AuthorizationServerConfig['clients'];
  readonly issuer: string;
  readonly repository: ClientRepository;
  readonly buckets: () => Pick<BucketRepository, 'read' | 'pour'>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Network address of who sent the request that is under way: whom fetched documents are counted against. */
  readonly caller: () => string;
  readonly network?: Network;
}

/** The OAuth clients that may ask people for access. API keys (`ak_…`) are none of them. */
export interface Clients {
  /**
   * What oidc-provider is told of a client, its secret as a hash (`clientSecretMatches`); undefined where there is none.
   * Rejects with an error of oidc-provider where the id is a URL whose document is no good or cannot be had.
   */
  find(id: string): Promise<ClientMetadata | undefined>;
  /** The registration endpoint; it answers every request, and 404 where registration is switched off. */
  readonly register: Register;
  /** For the consent page. Rejects as `find` does. */
  describe(id: string): Promise<AuthorizationClient | undefined>;
  /** A person authorized this client. */
  markUsed(id: string): Promise<void>;
  /** All that oidc-provider ever fetches, the keys of clients: `configuration.fetch`. */
  readonly fetch: (input: string | URL | Request) => Promise<Response>;
  /** What the authorization server's metadata says of clients (RFC 8414, RFC 7591, Client ID Metadata Documents). */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Throws `config_invalid` where a configured client could never be used. */
export function createClients(options: ClientsOptions): Clients {
  const { config, issuer, repository, now, logger, caller, network = internet } = options;
  const { metadataDocuments, registration } = config;
  const rules = createUrlRules(metadataDocuments.allowedHosts);
  const fetchDocument = createDocumentFetch({ rules, network, budget: createFetchBudget({ now, caller }) });
  const configured = configuredClients(config.registered);
  const registered = createRegistered(repository, logger);
  const documents = createDocuments({ fetch: fetchDocument, rules, pinned: wellKnownDocuments, now, logger });

  async function locate(id: string): Promise<Located | undefined> {
    const ours = configured.get(id);
    if (ours) return { known: 'configuration', metadata: ours };
    if (!id.startsWith('https://')) {
      const metadata = await registered(id);
      return metadata && { known: 'registration', metadata };
    }
    const metadata = metadataDocuments.enabled ? await documents(id) : undefined;
    return metadata && { known: 'document', metadata };
  }

  return {
    find: async (id) => (await locate(id))?.metadata,
    register: registration.enabled
      ? createRegistration({
          repository,
          buckets: options.buckets,
          unusedClients: registration.unusedClients,
          mayFetch: metadataDocuments.enabled ? rules : undefined,
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
    markUsed: createUse(repository, now),
    async fetch(input) {
      const { text, headers } = await fetchDocument(new URL(input instanceof Request ? input.url : input));
      const control = headers['cache-control'];
      return new Response(text, control === undefined ? {} : { headers: { 'cache-control': control } });
    },
    metadata: {
      token_endpoint_auth_methods_supported: authMethods,
      ...(metadataDocuments.enabled ? { client_id_metadata_document_supported: true } : {}),
      ...(registration.enabled ? { registration_endpoint: `${issuer}${registrationPath}` } : {}),
    },
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

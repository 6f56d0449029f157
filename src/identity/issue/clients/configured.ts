import { hashSecret, SightlineError } from '../../../contract/core/index.ts';
import { type AuthorizationServerConfig } from '../../../contract/issuer/index.ts';
import { apiKeyClient } from '../key-exchange.ts';
import { clientMetadata, displayName } from './coercion.ts';
import { grantTypes, type ClientMetadata } from './metadata.ts';
import { redirectUriFault } from './redirect-uris.ts';

/** The clients that the configuration lists. Throws `config_invalid` where one could never be used. */
export function configuredClients(
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

import { errors } from 'oidc-provider';
import {
  clientMetadata,
  displayName,
  keyAuthentication,
  readClaims,
  usableRedirectUri,
  type Claims,
} from './coercion.ts';
import type { UrlRules } from './document-urls.ts';
import type { ClientMetadata } from './metadata.ts';

/**
 * Makes a client of a Client ID Metadata Document (draft-ietf-oauth-client-id-metadata-document §4). Redirect URIs that
 * may not be used are left out; a document without any, like every other misfit, throws.
 */
export function clientOfDocument(id: string, document: unknown, mayFetch: UrlRules): ClientMetadata {
  const claims = readClaims(document);
  if (!hasId(document, id)) {
    throw new errors.InvalidClientMetadata('client_id of the document must be the URL of the document');
  }
  if (claims.client_secret !== undefined) {
    throw new errors.InvalidClientMetadata('a public document must not hold a client_secret');
  }
  const name = displayName(claims.client_name ?? '');
  if (name === '') throw new errors.InvalidClientMetadata('client_name is missing or empty');
  const redirectUris = claims.redirect_uris.filter(usableRedirectUri);
  if (redirectUris.length === 0) {
    throw new errors.InvalidClientMetadata('redirect_uris holds none that answers may be sent to');
  }
  return { ...clientMetadata(id, name, redirectUris, claims), ...authentication(claims, mayFetch) };
}

function hasId(document: unknown, id: string): boolean {
  return typeof document === 'object' && document !== null && 'client_id' in document && document.client_id === id;
}

/** Without a word about it `none`: there is no way to share a secret with a document, §4.1. */
function authentication(claims: Claims, mayFetch: UrlRules): ReturnType<typeof keyAuthentication> {
  const method = claims.token_endpoint_auth_method ?? 'none';
  if (method === 'private_key_jwt') return keyAuthentication(claims, mayFetch);
  if (method === 'none' || claims.token_endpoint_auth_methods_supported?.includes('none') === true) {
    return { token_endpoint_auth_method: 'none' };
  }
  throw new errors.InvalidClientMetadata('token_endpoint_auth_method must be none or private_key_jwt in a document');
}

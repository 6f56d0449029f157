import { scopes } from '../contract/index.ts';
import { tokenPath } from './provider.ts';

export const jwksPath = '/oauth2/jwks';
export const authorizePath = '/oauth2/authorize';

/**
 * RFC 8414 metadata, which serves as OpenID discovery too. It offers what there is: the client credentials grant.
 * `authorization_endpoint` stands there because the official MCP clients refuse a document without it; what it answers is
 * that signing in with a browser is not available, and the empty `response_types_supported` says so beforehand.
 */
export function authorizationServerMetadata(issuer: string): object {
  return {
    issuer,
    token_endpoint: `${issuer}${tokenPath}`,
    jwks_uri: `${issuer}${jwksPath}`,
    authorization_endpoint: `${issuer}${authorizePath}`,
    scopes_supported: scopes,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    response_modes_supported: [],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
  };
}

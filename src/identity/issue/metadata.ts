import { scopes, type AssertionTrust, type AuthorizationServerOptions } from '../../contract/issuer/index.ts';
import type { Clients } from './clients/index.ts';

/** Paths below the issuer. */
export const authorizePath = '/oauth2/authorize';
export const tokenPath = '/oauth2/token';
export const revocationPath = '/oauth2/revoke';
export const jwksPath = '/oauth2/jwks';
export const assertionGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Seconds of an access token. */
export const tokenLifetime = 3600;
const day = 86_400;
/** In seconds. */
export const lifetimes = {
  ClientCredentials: tokenLifetime,
  AccessToken: tokenLifetime,
  /** From the redirect to the token request. */
  AuthorizationCode: 60,
  /** From the first redirect to the consent, with a sign-in at an identity provider between. */
  Interaction: 3600,
  /** Sliding: each use renews it. */
  RefreshToken: 90 * day,
  /** A grant ends by being revoked, or with the last of its refresh tokens. */
  Grant: 3650 * day,
  /** Kept nowhere. */
  Session: 3600,
} as const;

/** RFC 8414 metadata, which serves as OpenID discovery too. It offers what there is. */
export function authorizationServerMetadata(
  issuer: string,
  options: Pick<AuthorizationServerOptions, 'people' | 'assertions'>,
  clients: Awaited<ReturnType<Clients['metadata']>>,
): object {
  return {
    issuer,
    token_endpoint: `${issuer}${tokenPath}`,
    jwks_uri: `${issuer}${jwksPath}`,
    // The official MCP clients refuse a document without it, also where only API keys are exchanged.
    authorization_endpoint: `${issuer}${authorizePath}`,
    scopes_supported: scopes,
    ...(options.people ? forPeople(issuer, options.assertions ?? [], clients) : forKeys),
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
  };
}

/** No response types: the authorization endpoint refuses every request. */
const forKeys = {
  grant_types_supported: ['client_credentials'],
  response_types_supported: [],
  response_modes_supported: [],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
};

/** What of the library's signature algorithms a client may authenticate with. */
export const clientSigningAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;

function forPeople(
  issuer: string,
  assertions: readonly AssertionTrust[],
  clients: Awaited<ReturnType<Clients['metadata']>>,
): object {
  const grants = ['authorization_code', 'refresh_token', 'client_credentials'];
  return {
    grant_types_supported: assertions.length > 0 ? [...grants, assertionGrant] : grants,
    ...(assertions.length > 0
      ? { authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'] }
      : {}),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    authorization_response_iss_parameter_supported: true,
    ...clients,
    token_endpoint_auth_signing_alg_values_supported: clientSigningAlgorithms,
    revocation_endpoint: `${issuer}${revocationPath}`,
    revocation_endpoint_auth_methods_supported: clients['token_endpoint_auth_methods_supported'],
    revocation_endpoint_auth_signing_alg_values_supported: clientSigningAlgorithms,
  };
}

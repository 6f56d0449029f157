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

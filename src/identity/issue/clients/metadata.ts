import { z } from 'zod';

export const authMethods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
export type AuthMethod = (typeof authMethods)[number];

export const grantTypes = ['authorization_code', 'refresh_token'] as const;

const text = z.string().optional();

/** A public key (RFC 7517). Members of no use to a signature are dropped; one that holds its private part is refused. */
const jwk = z.object({
  kty: z.string(),
  kid: text,
  use: text,
  alg: text,
  crv: text,
  x: text,
  y: text,
  n: text,
  e: text,
  d: z.undefined().optional(),
});

export const jwksSchema = z.object({ keys: z.array(jwk).min(1).max(20) });

/**
 * A client in the words of RFC 7591. Nothing in it gives authority, which is what a person consented to; so there is no
 * `scope`, which would stand in the way of a client that asks for more later.
 */
export const clientMetadataSchema = z.strictObject({
  client_id: z.string().min(1),
  client_name: z.string().min(1),
  application_type: z.enum(['native', 'web']),
  redirect_uris: z.array(z.string()).min(1).readonly(),
  response_types: z.tuple([z.literal('code')]).readonly(),
  grant_types: z.array(z.enum(grantTypes)).min(1).readonly(),
  token_endpoint_auth_method: z.enum(authMethods),
  /** SHA-256 of the secret, see `clientSecretMatches`. */
  client_secret: z.string().optional(),
  jwks_uri: z.string().optional(),
  jwks: jwksSchema.optional(),
});

export type ClientMetadata = z.output<typeof clientMetadataSchema>;

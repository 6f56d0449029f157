import { z } from 'zod';
import { errors } from 'oidc-provider';
import { applicationType, redirectUriFault } from './urls.ts';

export const authMethods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
type AuthMethod = (typeof authMethods)[number];

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

const jwksSchema = z.object({ keys: z.array(jwk).min(1).max(20) });

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

const strings = z.array(z.string());

/** What is read of what clients say about themselves; everything else is dropped unread. */
const claims = z.object({
  client_name: z.string().max(1_000).nullish(),
  redirect_uris: strings.min(1).max(50),
  response_types: strings.nullish(),
  grant_types: strings.nullish(),
  token_endpoint_auth_method: z.string().nullish(),
  token_endpoint_auth_methods_supported: strings.nullish(),
  jwks_uri: z.string().nullish(),
  jwks: jwksSchema.nullish(),
  client_secret: z.unknown().optional(),
});

export type Claims = z.output<typeof claims>;

export function readClaims(value: unknown): Claims {
  const read = claims.safeParse(value);
  if (read.success) return read.data;
  const key = read.error.issues[0]?.path[0];
  throw new errors.InvalidClientMetadata(
    typeof key === 'string' ? `${key} is missing or not of its type` : 'client metadata is a JSON object',
  );
}

/** For people to read: one line, which turns or overwrites nothing around it. Empty where nothing is to be seen. */
export function displayName(name: string): string {
  const line = name
    .normalize('NFC')
    // Of what is neither control nor space, fillers of scripts and the empty Braille pattern show nothing.
    .replace(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]+/gu, ' ')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .trim();
  if (!/[^\p{M} ]/u.test(line)) return '';
  return Array.from(line).slice(0, 100).join('').trim();
}

/** Throws unless answers may be sent to each. */
export function requireRedirectUris(uris: readonly string[]): readonly string[] {
  for (const uri of uris) {
    const fault = redirectUriFault(uri);
    if (fault !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris ${fault}`);
  }
  return uris;
}

/** What of the claims every kind of client has; the ways to authenticate differ. */
export function clientMetadata(
  id: string,
  name: string,
  redirectUris: readonly string[],
  { response_types: responses, grant_types: grants }: Pick<Claims, 'response_types' | 'grant_types'>,
): Omit<ClientMetadata, 'token_endpoint_auth_method'> {
  if (responses && !responses.includes('code')) {
    throw new errors.InvalidClientMetadata('response_types must include code');
  }
  // RFC 7591 §2: without a word about grants, authorization_code alone.
  const granted = grantTypes.filter((grant) => (grants ?? ['authorization_code']).includes(grant));
  if (!granted.includes('authorization_code')) {
    throw new errors.InvalidClientMetadata('grant_types must include authorization_code');
  }
  return {
    client_id: id,
    client_name: name,
    application_type: applicationType(redirectUris),
    redirect_uris: [...new Set(redirectUris)],
    response_types: ['code'],
    grant_types: granted,
  };
}

/** How a client that has keys or nothing proves itself: `none`, or by a key of its own. */
export function keyAuthentication(
  { jwks_uri: uri, jwks }: Claims,
  mayFetch: (url: URL) => boolean,
): Pick<ClientMetadata, 'token_endpoint_auth_method' | 'jwks_uri' | 'jwks'> {
  if (uri != null && jwks != null) throw new errors.InvalidClientMetadata('jwks and jwks_uri exclude each other');
  if (jwks != null) return { token_endpoint_auth_method: 'private_key_jwt', jwks };
  const url = uri == null ? null : URL.parse(uri);
  if (!url) throw new errors.InvalidClientMetadata('private_key_jwt needs jwks or jwks_uri');
  if (!mayFetch(url)) throw new errors.InvalidClientMetadata('jwks_uri is not a URL that is fetched here');
  return { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: url.href };
}

export function authMethod(method: string): AuthMethod {
  const known = authMethods.find((one) => one === method);
  if (known) return known;
  throw new errors.InvalidClientMetadata(`token_endpoint_auth_method must be one of ${authMethods.join(', ')}`);
}

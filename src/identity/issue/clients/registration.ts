import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'oidc-provider';
import { generateSecret, hashSecret, newId, type Logger } from '../../../contract/core/index.ts';
import { scopes } from '../../../contract/issuer/index.ts';
import { type ClientRepository } from '../../../contract/storage/index.ts';
import {
  authMethod,
  clientMetadata,
  displayName,
  keyAuthentication,
  readClaims,
  requireRedirectUris,
  type Claims,
} from './coercion.ts';
import type { UrlRules } from './document-urls.ts';
import type { ClientMetadata } from './metadata.ts';
import { answer, readBody, refuse, RegistrationRefused } from './registration-http.ts';
import { createRegistrationLimit, type RegistrationLimitOptions } from './registration-limit.ts';

export interface RegistrationOptions extends RegistrationLimitOptions {
  readonly repository: Pick<ClientRepository, 'register'>;
  readonly unusedClients: number;
  /** Where a client may keep its keys; undefined where nothing is fetched. */
  readonly mayFetch: UrlRules | undefined;
  readonly logger: Logger;
}

/** Answers a request to the registration endpoint (RFC 7591), whatever its method. `address` is the caller's. */
export type Register = (request: IncomingMessage, response: ServerResponse, address?: string) => Promise<void>;

export function createRegistration(options: RegistrationOptions): Register {
  const { repository, unusedClients, mayFetch, now, logger } = options;
  const limit = createRegistrationLimit(options);

  async function register(request: IncomingMessage, address: string): Promise<object> {
    const wait = await limit(address);
    if (wait > 0) {
      throw new RegistrationRefused(429, 'slow_down', `too many registrations; try again in ${wait} seconds`, wait);
    }
    const client = clientOfRegistration(newId('dcr', now().getTime()), await readBody(request), mayFetch);
    const secret = client.token_endpoint_auth_method.startsWith('client_secret_') ? generateSecret('dcs') : undefined;
    const kept = secret === undefined ? client : { ...client, client_secret: hashSecret(secret) };
    const createdAt = now();
    if (
      !(await repository.register({ id: client.client_id, metadata: JSON.stringify(kept), createdAt }, unusedClients))
    ) {
      logger.warn({ unusedClients }, 'No more OAuth clients can register: too many registrations were never used.');
      throw new RegistrationRefused(503, 'temporarily_unavailable', 'too many clients have registered lately', 3_600);
    }
    logger.info({ clientId: client.client_id, clientName: client.client_name, address }, 'An OAuth client registered.');
    return {
      ...client,
      scope: scopes.join(' '),
      client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
      ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    };
  }

  return async (request, response, address = request.socket.remoteAddress ?? '') => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'POST');
      response.setHeader('Access-Control-Allow-Headers', 'Content-Type, MCP-Protocol-Version');
      response.setHeader('Access-Control-Max-Age', '3600');
      response.writeHead(204).end();
      return;
    }
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
    try {
      if (request.method !== 'POST') {
        response.setHeader('Allow', 'POST, OPTIONS');
        throw new RegistrationRefused(405, 'invalid_request', 'a client registers by POST');
      }
      answer(response, 201, await register(request, address));
    } catch (error) {
      if (!(error instanceof RegistrationRefused || error instanceof errors.InvalidClientMetadata)) {
        logger.error({ error }, 'An OAuth client could not be registered.');
      }
      refuse(response, error);
    }
  };
}

/** Throws `invalid_redirect_uri` or `invalid_client_metadata`. */
export function clientOfRegistration(id: string, body: unknown, mayFetch: UrlRules | undefined): ClientMetadata {
  const claims = readClaims(body);
  const name = displayName(claims.client_name ?? '') || 'Unnamed application';
  const common = clientMetadata(id, name, requireRedirectUris(claims.redirect_uris), claims);
  return { ...common, ...authentication(claims, mayFetch) };
}

function authentication(claims: Claims, mayFetch: UrlRules | undefined): ReturnType<typeof keyAuthentication> {
  // RFC 7591 §2: without a word about it, a secret by HTTP Basic.
  const method = authMethod(claims.token_endpoint_auth_method ?? 'client_secret_basic');
  if (method !== 'private_key_jwt') return { token_endpoint_auth_method: method };
  return keyAuthentication(claims, mayFetch ?? (() => false));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'oidc-provider';
import {
  requestWithin,
  generateSecret,
  hashSecret,
  newId,
  type IssuerHost,
  type Logger,
} from '../../../contract/core/index.ts';
import { scopes } from '../../../contract/issuer/index.ts';
import type { ClientRepository, BucketRepository } from '../../../contract/storage/index.ts';
import {
  authMethod,
  clientMetadata,
  displayName,
  keyAuthentication,
  readClaims,
  requireRedirectUris,
  type Claims,
  type ClientMetadata,
} from './metadata.ts';
import type { UrlRules } from './urls.ts';
import { callerOf } from '../../../limits/network.ts';
import { createThrottle } from '../../../limits/rate-limit.ts';

/** A team behind one address connects in a morning; a thousand registrations take one address most of a day. */
const perMinute = 1;
const burst = 30;
const eachMs = 60_000 / perMinute;
const size = burst * eachMs;

interface RegistrationLimitOptions extends Pick<IssuerHost, 'now'> {
  /** A function, since storage may open after construction. */
  readonly buckets: () => Pick<BucketRepository, 'read' | 'pour'>;
}

/** Seconds until the address may register, or 0, which counts. Counted over all gateways. */
function createRegistrationLimit({ buckets, now }: RegistrationLimitOptions): (address: string) => Promise<number> {
  // Before it, so that a flood is none of reads of the storage.
  const here = createThrottle({ perMinute, burst, now });
  return async (address) => {
    const caller = callerOf(address);
    const wait = here(caller);
    if (wait > 0) return wait;
    const name = `registration ${hashSecret(caller)}`;
    const time = now();
    const emptyAt = (await buckets().read(new Map([[name, size]]), time)).get(name) ?? time;
    const tooMuchMs = emptyAt.getTime() - time.getTime() - (burst - 1) * eachMs;
    if (tooMuchMs > 0) return Math.ceil(tooMuchMs / 1_000);
    await buckets().pour(new Map([[name, { amount: eachMs, size }]]), time);
    return 0;
  };
}

interface RegistrationOptions extends RegistrationLimitOptions {
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
      throw new RegistrationRefused(503, 'temporarily_unavailable', 'too many clients have registered lately', 900);
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
    if (answersPreflight(request, response, 'POST')) return;
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
function clientOfRegistration(id: string, body: unknown, mayFetch: UrlRules | undefined): ClientMetadata {
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

const maxBodyBytes = 16_384;

class RegistrationRefused extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  constructor(status: number, code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new errors.InvalidClientMetadata('client metadata is sent as application/json');
  }
  const body = await read(request);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new errors.InvalidClientMetadata('client metadata is a JSON object', { cause });
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const body = await requestWithin(request, maxBodyBytes).catch(() => {
    throw new RegistrationRefused(400, 'invalid_client_metadata', 'the request ended before its body did');
  });
  if (body !== undefined) return body;
  throw new RegistrationRefused(413, 'invalid_client_metadata', `client metadata has at most ${maxBodyBytes} bytes`);
}

/** Any origin may call: no cookie is involved. The header turns off oidc-provider's rule of registered origins. */
export function answersPreflight(request: IncomingMessage, response: ServerResponse, method: string): boolean {
  response.setHeader('Access-Control-Allow-Origin', '*');
  if (request.method !== 'OPTIONS') {
    response.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
    return false;
  }
  response.writeHead(204, {
    'access-control-allow-methods': method,
    'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'access-control-max-age': '3600',
  });
  response.end();
  return true;
}

export function answer(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}

function refuse(response: ServerResponse, error: unknown): void {
  // The body may not have been read to its end.
  if (error instanceof RegistrationRefused && error.status === 413) response.setHeader('Connection', 'close');
  if (error instanceof RegistrationRefused) {
    if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(error.retryAfterSeconds));
    return answer(response, error.status, { error: error.code, error_description: error.message });
  }
  if (error instanceof errors.InvalidClientMetadata) {
    return answer(response, 400, { error: error.error, error_description: error.error_description });
  }
  response.setHeader('Retry-After', '2');
  answer(response, 503, {
    error: 'temporarily_unavailable',
    error_description: 'the server cannot keep a registration at the moment',
  });
}

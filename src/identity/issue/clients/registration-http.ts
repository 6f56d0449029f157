import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'oidc-provider';

const maxBodyBytes = 16_384;

export class RegistrationRefused extends Error {
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

export async function readBody(request: IncomingMessage): Promise<unknown> {
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
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > maxBodyBytes) break;
      chunks.push(part);
    }
  } catch {
    throw new RegistrationRefused(400, 'invalid_client_metadata', 'the request ended before its body did');
  }
  if (bytes <= maxBodyBytes) return Buffer.concat(chunks);
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

export function refuse(response: ServerResponse, error: unknown): void {
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

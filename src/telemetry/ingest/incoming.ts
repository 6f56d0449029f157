import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type OrganizationId, hashSecret } from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import { OtlpRefusal } from './answers.ts';
import { codings, type Coding } from './body.ts';
import type { Encoding } from './decode.ts';

/** A request whose body has not been read. */
export interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly url?: string | undefined;
  readonly body: Readable;
  /** Called once the sender is known and has its share of memory. */
  admitted(): void;
  /** The message in the body, and how it is compressed. */
  message(body: Buffer): { readonly bytes: Buffer; readonly coding: Coding | undefined };
}

export function ofHttp(request: IncomingMessage, response: ServerResponse, waitsToContinue: boolean): Incoming {
  const { headers, url } = request;
  return {
    headers,
    url,
    body: request,
    admitted: () => void (waitsToContinue && response.writeContinue()),
    message: (bytes) => ({ bytes, coding: codings.get(codingOf(headers['content-encoding'])) }),
  };
}

const longestToken = 512;

/**
 * Whose telemetry this is: by the ingest token alone, never by what is in the body. Looked up for every request, so that a
 * revoked token ends with the next one.
 */
export async function authenticate(
  incoming: Pick<Incoming, 'headers' | 'url'>,
  directory: Pick<Directory, 'ingestTokenByHash'>,
): Promise<OrganizationId> {
  const token = tokenOf(incoming);
  if (token === undefined) {
    const what =
      incoming.headers.authorization === undefined
        ? 'An ingest token is needed.'
        : 'No token is read in Authorization.';
    throw unauthenticated(
      `${what} Send x-api-key: TOKEN, Authorization: Bearer TOKEN, or it as the password of Basic.`,
      'none',
    );
  }
  const found = token.length > longestToken ? undefined : await directory.ingestTokenByHash(hashSecret(token));
  if (found !== undefined) return found.organizationId;
  throw token.startsWith('it_') && token.length <= longestToken
    ? unauthenticated('The ingest token is not valid, or was revoked.')
    : unauthenticated(
        'What was sent as the token is no ingest token. Those begin with it_ and have 46 characters; sightline ingest show prints one.',
        'foreign',
      );
}

function tokenOf({ headers, url = '' }: Pick<Incoming, 'headers' | 'url'>): string | undefined {
  const { authorization } = headers;
  const key = headers['x-api-key'] ?? ofQuery(url);
  const token = authorization === undefined ? key : ofAuthorization(authorization);
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Of a webhook that sends no headers; addresses come into the logs of proxies, so nothing else is sent that way. */
function ofQuery(url: string): string | undefined {
  const [path, query = ''] = url.split('?', 2);
  return path === '/v1/changes'
    ? (new URLSearchParams(query.slice(0, 2 * longestToken)).get('token') ?? undefined)
    : undefined;
}

function ofAuthorization(value: string): string | undefined {
  // Some SDKs send the %20 of OTEL_EXPORTER_OTLP_HEADERS as it is.
  const match = /^(bearer|basic)(?: +|%20)(\S+) *$/i.exec(value.slice(0, 2 * longestToken));
  const [, scheme, credentials] = match ?? [];
  if (scheme === undefined || credentials === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

function unauthenticated(message: string, kind = ''): OtlpRefusal {
  return new OtlpRefusal(401, message, { 'www-authenticate': 'Bearer realm="otlp"' }, kind);
}

export function encodingOf(contentType: string | undefined): Encoding | undefined {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const utf8 = parameters.every((parameter) => !/^\s*charset=(?!"?utf-?8"?\s*$)/.test(parameter));
  switch (type.trim()) {
    case 'application/x-protobuf':
    case 'application/protobuf':
    case 'application/x-google-protobuf':
      return 'protobuf';
    case 'application/json':
      return utf8 ? 'json' : undefined;
    default:
      return undefined;
  }
}

function codingOf(header: string | undefined): string {
  return header?.trim().toLowerCase() ?? '';
}

const taken = 'gzip, deflate, zstd, identity';

/** Before the body comes. gRPC says the coding of its messages in a header of its own. */
export function refuseUnknownCoding({
  'content-encoding': ofBody,
  'grpc-encoding': ofMessages,
}: IncomingHttpHeaders): void {
  if ([ofBody, ofMessages?.toString()].every((coding) => codings.has(codingOf(coding)))) return;
  throw new OtlpRefusal(415, `The content encoding must be one of ${taken}.`, { 'accept-encoding': taken }, 'encoding');
}

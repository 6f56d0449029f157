import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ClientGone } from '../contract/core/index.ts';
import { nestsDeeperThan, opensAtMost } from '../contract/core/json.ts';
import { RequestFailure, rpcCode } from './protocol.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxDepth: number;
  readonly bodyTimeoutMs: number;
}

const nothing = Buffer.alloc(0);

/** The body, or a promise of it where it has not all come. Throws or rejects with 408, 413, 415 or a JSON-RPC parse error. */
export function readMessage(request: IncomingMessage, limits: BodyLimits): unknown {
  checkContentType(request);
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBodyBytes) throw tooLarge(limits);
  // Mounted behind a body parser: 'end' has passed and would never come again.
  if (request.readableEnded) throw new Error('the request body was read before it reached the MCP handler');
  if (request.destroyed) throw new ClientGone();
  const body = arrived(request, limits);
  return body === undefined
    ? arriving(request, limits).then((arrivedLater) => parse(arrivedLater, limits))
    : parse(body, limits);
}

/** A body that has come while the caller was identified, as nearly all have: nothing needs to be listened for. */
function arrived(request: IncomingMessage, { maxBodyBytes }: BodyLimits): Buffer | undefined {
  if (!request.complete || request.readableLength > maxBodyBytes) return undefined;
  // Up to Node 24 one read gives all that is buffered, from Node 26 on one piece of it.
  const pieces: Buffer[] = [];
  for (let piece: unknown = request.read(); piece instanceof Buffer; piece = request.read()) pieces.push(piece);
  return joined(pieces);
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first = nothing] = pieces;
  return pieces.length > 1 ? Buffer.concat(pieces) : first;
}

/** The body of a request that is still being sent. Its listeners go with the request. */
function arriving(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  let size = 0;
  let settled = false;
  const settle = (): void => {
    settled = true;
    clearTimeout(timer);
  };
  const fail = (error: Error): void => {
    settle();
    reject(error);
  };
  const timer = setTimeout(() => fail(late()), limits.bodyTimeoutMs);
  // Each request closes once it is answered.
  const gone = (): void => {
    if (!settled) fail(new ClientGone());
  };
  const take = (chunk: Buffer): void => {
    if (settled) return;
    size += chunk.length;
    if (size > limits.maxBodyBytes) fail(tooLarge(limits));
    else pieces.push(chunk);
  };
  const end = (): void => {
    if (settled) return;
    settle();
    resolve(joined(pieces));
  };
  request.on('data', take).on('end', end).on('close', gone).on('error', gone);
  return promise;
}

function parse(body: Buffer, { maxDepth }: BodyLimits): unknown {
  // As most are, and then neither characters nor nesting need a closer look.
  const plain = isAscii(body) ? body.toString('latin1') : undefined;
  if (plain !== undefined && opensAtMost(plain, maxDepth)) return parseText(plain);
  if (!isUtf8(body)) throw new RequestFailure(400, rpcCode.parseError, 'The body is not valid UTF-8.');
  if (nestsDeeperThan(body, maxDepth)) {
    throw new RequestFailure(400, rpcCode.invalidRequest, `The body nests deeper than ${maxDepth} levels.`);
  }
  return parseText(body.toString('utf8'));
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestFailure(400, rpcCode.parseError, 'The body is not valid JSON.');
  }
}

function late(): RequestFailure {
  return new RequestFailure(408, 408, 'The body did not arrive in time.', { close: true });
}

function tooLarge({ maxBodyBytes }: BodyLimits): RequestFailure {
  return new RequestFailure(413, 413, `The body is larger than ${maxBodyBytes} bytes.`, {
    close: true,
    data: { code: 'payload_too_large', max_bytes: maxBodyBytes },
  });
}

function checkContentType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  const encoding = request.headers['content-encoding'];
  const json =
    type === 'application/json' ||
    (type !== undefined && /^application\/json\s*(;\s*charset="?utf-?8"?\s*)?$/i.test(type.trim()));
  if (json && (encoding === undefined || encoding.toLowerCase() === 'identity')) return;
  throw new RequestFailure(415, 415, 'The body must be application/json in UTF-8, uncompressed.', { close: true });
}

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { nestsDeeperThan } from '../contract/json-depth.ts';
import { ClientGone, RequestFailure } from './failure.ts';
import { rpcCode } from './protocol.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxDepth: number;
  readonly bodyTimeoutMs: number;
}

/** Reads and parses the body, or throws 408, 413, 415 or a JSON-RPC parse error. Call it once the caller is known. */
export async function readMessage(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  checkContentType(request);
  const body = await readBody(request, limits);
  if (!isUtf8(body)) throw new RequestFailure(400, rpcCode.parseError, 'the body is not valid UTF-8');
  if (nestsDeeperThan(body, limits.maxDepth)) {
    throw new RequestFailure(400, rpcCode.invalidRequest, `the body nests deeper than ${limits.maxDepth} levels`);
  }
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestFailure(400, rpcCode.parseError, 'the body is not valid JSON');
  }
}

function checkContentType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  const encoding = request.headers['content-encoding'];
  const json =
    type === 'application/json' ||
    (type !== undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type.trim()));
  if (json && (encoding === undefined || encoding.toLowerCase() === 'identity')) return;
  throw new RequestFailure(415, 415, 'the body must be application/json in UTF-8, uncompressed', { close: true });
}

function readBody(request: IncomingMessage, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<Buffer> {
  const tooLarge = (): RequestFailure =>
    new RequestFailure(413, 413, `the body is larger than ${maxBodyBytes} bytes`, {
      close: true,
      data: { code: 'payload_too_large', max_bytes: maxBodyBytes },
    });
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge());
  if (request.readableEnded) {
    // Mounted behind a body parser: 'end' has passed and would never come again.
    return Promise.reject(new Error('the request body was read before it reached the MCP handler'));
  }
  if (request.destroyed) return Promise.reject(new ClientGone());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error !== undefined) reject(error);
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBodyBytes) settle(tooLarge());
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(undefined);
    const onClose = (): void => settle(new ClientGone());
    const timer = setTimeout(
      () => settle(new RequestFailure(408, 408, 'the body did not arrive in time', { close: true })),
      bodyTimeoutMs,
    );
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

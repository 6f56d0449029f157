import { Refusal } from './answers.ts';
import type { IncomingMessage } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { ClientGone } from '../../contract/core/index.ts';
import { nestsDeeperThan } from '../../contract/core/json.ts';

interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyMs: number;
}

/** The body as it came: what a signature is of. Rejects with 408, 413 or 415. */
export function readBody(request: IncomingMessage, { bodyBytes, bodyMs }: BodyLimits): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    return Promise.reject(new Refusal(415, 'invalid_argument', 'The body must not be compressed.'));
  }
  const tooLarge = () => new Refusal(413, 'payload_too_large', `The body is larger than ${bodyBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: Error | undefined): void => {
      clearTimeout(late);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      if (error === undefined) resolve(Buffer.concat(chunks, size));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bodyBytes) settle(tooLarge());
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(undefined);
    const onGone = (): void => settle(new ClientGone());
    const late = setTimeout(
      () => settle(new Refusal(408, 'invalid_argument', 'The body did not come in time.')),
      bodyMs,
    );
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** The JSON of a body. Throws 400 for what is none, or nests deeper than `depth`. */
export function parseBody(body: Buffer, depth: number): unknown {
  if (nestsDeeperThan(body, depth)) {
    throw new Refusal(400, 'invalid_argument', `The body nests deeper than ${depth} levels.`);
  }
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8'));
  } catch {
    // Said below, without the parser's words, which quote the body.
  }
  throw new Refusal(400, 'invalid_argument', 'The body is not JSON in UTF-8.');
}

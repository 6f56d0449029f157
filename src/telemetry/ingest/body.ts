import { ClientGone, errorCode } from '../../contract/core/index.ts';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip as gunzipCallback } from 'node:zlib';
import { OtlpRefusal, retryLater } from './answers.ts';
import type { Share } from '../../limits/budget.ts';

const gunzip = promisify(gunzipCallback);

export interface BodyLimits {
  /** Before and after decompression. */
  readonly bytes: number;
  readonly totalMs: number;
  /** Without a byte. */
  readonly idleMs: number;
}

/** The body as it came, counted while it comes, since senders often do not say how long it is. */
export function readBody(request: IncomingMessage, limits: BodyLimits, share: Share): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.bytes) return Promise.reject(tooLarge(limits));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let reserved = 0;
    let lastByte = performance.now();
    const started = lastByte;
    const slow = setInterval(
      () => {
        const now = performance.now();
        if (now - lastByte > limits.idleMs || now - started > limits.totalMs) {
          finish(new OtlpRefusal(408, 'The body came too slowly.'));
        }
      },
      Math.max(10, Math.min(1000, limits.idleMs / 4)),
    );
    const onData = (chunk: Buffer) => {
      lastByte = performance.now();
      size += chunk.length;
      if (size > limits.bytes) return finish(tooLarge(limits));
      if (size > reserved) {
        const more = Math.max(size - reserved, 64 * 1024);
        if (!share.take(more)) return finish(outOfMemory());
        reserved += more;
      }
      chunks.push(chunk);
    };
    const onEnd = () => finish(undefined);
    const onGone = () => finish(new ClientGone());
    const finish = (error: Error | undefined) => {
      clearInterval(slow);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      // A late reset of the connection must not find the request without a listener.
      request.on('error', () => undefined);
      if (error === undefined)
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
      else {
        request.pause();
        reject(error);
      }
    };
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** Inflates on the thread pool; stops at the limit, however much more a bomb would give. */
export async function inflate(body: Buffer, limits: BodyLimits, share: Share): Promise<Buffer> {
  if (body.length < 18) throw new OtlpRefusal(400, 'The body is not gzip.');
  // The last four bytes tell the size of an honest body of one member, which all senders make; others get a second try.
  const told = body.readUInt32LE(body.length - 4);
  const expected = told <= limits.bytes && told <= body.length * mostCompression ? told : limits.bytes;
  let most = Math.max(1, expected);
  for (;;) {
    if (!share.take(most)) throw outOfMemory();
    try {
      return await gunzip(body, { maxOutputLength: most, chunkSize: Math.max(64, Math.min(most, largestChunk)) });
    } catch (error) {
      if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw new OtlpRefusal(400, 'The body is not gzip.');
      if (most >= limits.bytes) throw tooLarge(limits);
      most = limits.bytes;
    }
  }
}

/** Deflate cannot do better. */
const mostCompression = 1032;
const largestChunk = 4 * 1024 * 1024;

function tooLarge(limits: BodyLimits): OtlpRefusal {
  return new OtlpRefusal(413, `The body is larger than ${limits.bytes} bytes, before or after decompression.`);
}

function outOfMemory(): OtlpRefusal {
  return retryLater(503, 'The gateway is receiving too much telemetry at once.', 1);
}

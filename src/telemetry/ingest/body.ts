import { ClientGone, errorCode } from '../../contract/core/index.ts';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, gunzip, inflate as zlibInflate, zstdDecompress } from 'node:zlib';
import { OtlpRefusal, retryLater } from './answers.ts';
import type { Allowance, Share } from '../../limits/budget.ts';

export interface BodyLimits {
  /** Before and after decompression. */
  readonly bytes: number;
  readonly totalMs: number;
  /** Without a byte. */
  readonly idleMs: number;
}

/** The body as it came, counted while it comes, since senders often do not say how long it is. */
export function readBody(request: Readable, declared: number, limits: BodyLimits, share: Share): Promise<Buffer> {
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

/** How a body is compressed, by the name of its content coding (RFC 9110 §8.4.1). */
export type Coding = 'gzip' | 'deflate' | 'zstd';

export const codings: ReadonlyMap<string, Coding | undefined> = new Map([
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  // The Collector's name of the same format.
  ['zlib', 'deflate'],
  ['zstd', 'zstd'],
]);

interface OneShot {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

interface Codec {
  readonly decompress: (body: Buffer, options: OneShot) => Promise<Buffer>;
  readonly options: object;
  /** Bytes that the decoder itself may take. */
  readonly window: number;
}

// A zstd frame may ask for a window of 2 GiB; 8 MiB is what every decoder has to have (RFC 8878 §3.1.1.1.2).
const zstdWindowLog = 23;
const codecs: Readonly<Record<Coding, Codec>> = {
  gzip: { decompress: promisify(gunzip), options: {}, window: 0 },
  deflate: { decompress: promisify(zlibInflate), options: {}, window: 0 },
  zstd: {
    decompress: promisify(zstdDecompress),
    options: { params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } },
    window: 2 ** zstdWindowLog,
  },
};

/** Inflates on the thread pool; stops at the limit, however much more a bomb would give. */
export async function inflate(body: Buffer, coding: Coding, limits: BodyLimits, share: Share): Promise<Buffer> {
  const { decompress, options, window } = codecs[coding];
  let most = Math.max(1, Math.min(limits.bytes, toldSize(body, coding) ?? body.length * usualCompression));
  if (!share.take(window)) throw outOfMemory();
  for (;;) {
    if (!share.take(most)) throw outOfMemory();
    try {
      const chunkSize = Math.max(64, Math.min(most, largestChunk));
      return await decompress(body, { ...options, maxOutputLength: most, chunkSize });
    } catch (error) {
      if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE')
        throw new OtlpRefusal(400, `The body is not ${coding}.`, {}, coding);
      if (most >= limits.bytes) throw tooLarge(limits);
      most = limits.bytes;
    }
  }
}

/** The last four bytes of gzip tell the size of an honest body of one member, which all senders make. */
function toldSize(body: Buffer, coding: Coding): number | undefined {
  if (coding !== 'gzip' || body.length < 18) return undefined;
  const told = body.readUInt32LE(body.length - 4);
  return told <= body.length * mostCompression ? told : undefined;
}

/** Deflate cannot do better. */
const mostCompression = 1032;
/** Telemetry rarely does better; what does is tried a second time. */
const usualCompression = 32;
const largestChunk = 4 * 1024 * 1024;

function tooLarge(limits: BodyLimits): OtlpRefusal {
  return new OtlpRefusal(413, `The body is larger than ${limits.bytes} bytes, before or after decompression.`);
}

function outOfMemory(): OtlpRefusal {
  return retryLater(503, 'The gateway is receiving too much telemetry at once.', 1);
}

export interface ReceiverLimits {
  readonly body: BodyLimits;
  /** Memory of unanswered requests. */
  readonly total: Allowance;
  readonly organization: Allowance;
  /** Acknowledged bytes that may wait on the disk for the warehouse. */
  readonly behindTotal: number;
  readonly behindOrganization: number;
}

const mebibyte = 1024 * 1024;

export const receiverLimits: ReceiverLimits = {
  body: { bytes: 64 * mebibyte, totalMs: 60_000, idleMs: 10_000 },
  total: { bytes: 384 * mebibyte, requests: 512 },
  organization: { bytes: 192 * mebibyte, requests: 128 },
  behindTotal: 8192 * mebibyte,
  behindOrganization: 2048 * mebibyte,
};

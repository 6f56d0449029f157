import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { RequestId } from './message.ts';

/** RFC 1952 §2.3: deflate, no time, best compression, an unknown system. */
const gzipHeader = '\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff';

/**
 * A result that is the same for everybody, made and compressed before the first request. The id of the request, which alone is
 * not known then, stands at the end of the message, so that nothing has to be compressed with it.
 */
export class PreparedResult {
  readonly json: Buffer;
  /** Of the message up to the id: a gzip stream that goes on. */
  readonly #begun: string;
  readonly #crc: number;
  readonly #length: number;

  constructor(result: object) {
    const json = JSON.stringify(result);
    this.json = Buffer.from(json);
    const message = Buffer.from(`{"jsonrpc":"2.0","result":${json},"id":`);
    // The flush ends the stream at a whole byte (RFC 1951 §3.2.4), from which it can go on.
    const deflated = deflateRawSync(message, { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
    this.#begun = gzipHeader + deflated.toString('latin1');
    this.#crc = crc32(message);
    this.#length = message.length;
  }

  /** The whole message as gzip, each byte a character: a short text goes out in one write with its headers. */
  compressed(id: RequestId): string {
    const rest = Buffer.from(`${JSON.stringify(id)}}`);
    const { length } = rest;
    // One last block that is stored as it is.
    const block = `\x01${bytes(length, 2)}${bytes(~length, 2)}${rest.toString('latin1')}`;
    return this.#begun + block + bytes(crc32(rest, this.#crc), 4) + bytes(this.#length + length, 4);
  }
}

/** A number's lowest bytes, the lowest first. */
function bytes(value: number, count: 2 | 4): string {
  const low = String.fromCharCode(value & 0xff, (value >>> 8) & 0xff);
  return count === 2 ? low : low + String.fromCharCode((value >>> 16) & 0xff, value >>> 24);
}

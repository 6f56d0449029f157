import { constants, crc32, deflateRawSync } from 'node:zlib';
import { HeadroomBuffer } from './headroom-buffer.ts';
import { maxIdLength } from './message.ts';
import type { RequestId } from './message.ts';

/** RFC 1952 §2.3: deflate, no time, best compression, an unknown system. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
/** RFC 1951 §3.2.4: a last block that is stored as it is. Its length and that with each bit turned follow. */
const storedBlock = 1;
/** An id as JSON, each of its characters an escape at worst, and what surrounds it. */
const mostTail = 6 * maxIdLength + 32;

/**
 * A result that is the same for everybody, made and compressed before the first request. The id of the request, which alone is
 * not known then, stands at the end of the message, so that nothing has to be compressed with it.
 */
export class PreparedResult {
  readonly json: Buffer;
  /** Of the message up to the id: a gzip stream that goes on. */
  readonly #begun: Buffer;
  readonly #crc: number;
  readonly #length: number;
  /** Begins with `#begun`, has room for the rest, and is nobody's. */
  #free: HeadroomBuffer | undefined;

  constructor(result: object) {
    const json = JSON.stringify(result);
    this.json = Buffer.from(json);
    const message = Buffer.from(`{"jsonrpc":"2.0","result":${json},"id":`);
    // The flush ends the stream at a whole byte (RFC 1951 §3.2.4), from which it can go on.
    const deflated = deflateRawSync(message, { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
    this.#begun = Buffer.concat([gzipHeader, deflated]);
    this.#crc = crc32(message);
    this.#length = message.length;
  }

  /** The whole message as gzip, in memory that is the caller's until it is given back. */
  compressed(id: RequestId): HeadroomBuffer {
    const packed = this.#free ?? this.#begin();
    this.#free = undefined;
    const { memory, bodyAt } = packed;
    const rest = `${JSON.stringify(id)}}`;
    const at = bodyAt + this.#begun.length + 5;
    const length = memory.write(rest, at);
    memory[at - 5] = storedBlock;
    memory.writeUInt16LE(length, at - 4);
    memory.writeUInt16LE(~length & 0xffff, at - 2);
    memory.writeUInt32LE(crc32(rest, this.#crc), at + length);
    memory.writeUInt32LE(this.#length + length, at + length + 4);
    packed.length = at + length + 8 - bodyAt;
    return packed;
  }

  /** What `compressed` gave, when nobody reads it any more. */
  giveBack(packed: HeadroomBuffer): void {
    this.#free = packed;
  }

  #begin(): HeadroomBuffer {
    const packed = new HeadroomBuffer(this.#begun.length + mostTail);
    this.#begun.copy(packed.memory, packed.bodyAt);
    return packed;
  }
}

/*
 * What travels between the gateway and an engine process, both ways:
 *
 *   u32 length of the rest · u32 request id · u8 kind · u32 length of the header · header (JSON) · payload (bytes)
 *
 * Rows and encoded batches are payload: neither side parses them on the way.
 */

export const frameKind = { request: 1, part: 2, reply: 3, failure: 4, cancel: 5, leave: 6 } as const;

export interface Frame {
  readonly id: number;
  readonly kind: number;
  readonly header: string;
  readonly payload: Buffer;
}

/** No frame is longer: the largest load is far below, and a longer one can only come from a confused peer. */
export const maxFrameBytes = 1 << 29;

const prefixBytes = 13;

/** The pieces of one frame, to be written one after the other. */
export function frame(id: number, kind: number, header: object, payload: readonly Uint8Array[] = []): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  let payloadBytes = 0;
  for (const piece of payload) payloadBytes += piece.byteLength;
  const start = Buffer.allocUnsafe(prefixBytes + text.length);
  start.writeUInt32LE(prefixBytes - 4 + text.length + payloadBytes, 0);
  start.writeUInt32LE(id, 4);
  start.writeUInt8(kind, 8);
  start.writeUInt32LE(text.length, 9);
  text.copy(start, prefixBytes);
  return [start, ...payload];
}

/** Puts the bytes of a stream together into frames. Throws on bytes that are not frames. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  #prefix = Buffer.alloc(4);
  #prefixFilled = 0;
  #body: Buffer | undefined;
  #bodyFilled = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#body === undefined) {
        const taken = chunk.copy(this.#prefix, this.#prefixFilled, at, at + 4 - this.#prefixFilled);
        this.#prefixFilled += taken;
        at += taken;
        if (this.#prefixFilled < 4) return;
        const length = this.#prefix.readUInt32LE(0);
        if (length < prefixBytes - 4 || length > maxFrameBytes) throw new Error(`a frame of ${length} bytes`);
        this.#prefixFilled = 0;
        this.#bodyFilled = 0;
        // Of its own memory and not from the pool: decoded columns lie on it at multiples of eight.
        this.#body = Buffer.allocUnsafeSlow(length);
      }
      const taken = chunk.copy(this.#body, this.#bodyFilled, at);
      this.#bodyFilled += taken;
      at += taken;
      if (this.#bodyFilled === this.#body.length) {
        const body = this.#body;
        this.#body = undefined;
        this.#onFrame(readBody(body));
      }
    }
  }
}

function readBody(body: Buffer): Frame {
  const headerEnd = 9 + body.readUInt32LE(5);
  if (headerEnd > body.length) throw new Error('a frame whose header is longer than itself');
  return {
    id: body.readUInt32LE(0),
    kind: body.readUInt8(4),
    header: body.toString('utf8', 9, headerEnd),
    payload: body.subarray(headerEnd),
  };
}

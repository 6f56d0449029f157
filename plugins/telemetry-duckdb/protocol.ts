import type { Socket } from 'node:net';

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
const maxFrameBytes = 1 << 29;

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

/** Writes the pieces of one frame in one go. */
export function writeFrame(socket: Socket, pieces: readonly Uint8Array[]): void {
  if (pieces.length > 1) socket.cork();
  for (const piece of pieces) socket.write(piece);
  socket.uncork();
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

/** What the gateway asks of an engine process, and what it answers. The header of a frame is one of these. */

/** Queries of one organization that run at once: they share two threads, and more would only share them thinner. */
export const queriesAtOnce = 4;

export type Request =
  | { readonly op: 'hello' }
  /**
   * Payload of the answer: json_serialize_sql's text of the statement. Where that is a tree, and none larger than
   * `maxTreeBytes`, two lines follow: the tree of the SQL that the engine writes of it, and that SQL.
   */
  | { readonly op: 'parse'; readonly sql: string }
  | ({ readonly op: 'query'; readonly sql: string } & RowLimits)
  | { readonly op: 'committed'; readonly log: string }
  /** Payload: the encoded batches, of these lengths. */
  | {
      readonly op: 'load';
      readonly log: string;
      readonly segment: number;
      readonly offset: number;
      readonly lengths: readonly number[];
    }
  | { readonly op: 'retain'; readonly beforeMs: number }
  | { readonly op: 'newest' }
  /** The caller is about to leave. */
  | { readonly op: 'release' }
  /** From a gateway that needs a seat; neither request counts the caller as a user. */
  | { readonly op: 'idle' }
  /** Asks its users to leave unless they are using it. */
  | { readonly op: 'make_room' };

export interface RowLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly maxCellBytes: number;
}

export interface Hello {
  readonly pid: number;
  readonly version: string;
}

/** Of a tree's JSON: a third of it for as many trace ids as fit a statement. Bounds what is spent on one. */
export const maxTreeBytes = 1024 * 1024;

/** Header of every part of a result and of its end; `columns` comes with the first frame, `end` with the last. */
export interface RowsHeader {
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly end?: { readonly truncated?: 'rows' | 'bytes'; readonly cutCells: number };
}

export interface Committed {
  readonly position?: { readonly segment: number; readonly offset: number };
}

export interface Retained {
  readonly deleted: number;
}

/** Of all rows; without a time where there are none. */
export interface Newest {
  readonly ms?: number;
}

export interface Released {
  /** Whether somebody else still uses the engine. */
  readonly shared: boolean;
}

export interface Idle {
  /** For so long it had nothing to do; 0 while it has. */
  readonly ms: number;
}

export type FailureKind =
  | 'engine'
  /** Stopped on our demand. */
  | 'interrupted'
  /** Waited too long for its turn. */
  | 'busy'
  /** More or less than one statement, or not a SELECT. */
  | 'not_select'
  /** A batch that will not load at any other time either. */
  | 'bad_batch';

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

/** How an engine process ended, where that says something. */
export const exitCode = {
  /** The file cannot be opened or read. */
  unreadable: 65,
  full: 66,
  /** All seats of the data directory are taken. */
  crowded: 67,
  /** Another engine process has the file and answers. */
  taken: 69,
  /** The type stripper took the address space; the cache is warm now. */
  again: 75,
} as const;

/** The argument of an engine process, as JSON. */
export interface EngineSettings {
  readonly socket: string;
  readonly file: string;
  readonly temporary: string;
  readonly memoryLimitMb: number;
  readonly threads: number;
  /** How many engines there may be on the data directory, and where they hold their places. */
  readonly seats: { readonly folder: string; readonly count: number };
}

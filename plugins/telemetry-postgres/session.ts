import type { PoolClient } from 'pg';
import type { Duplex } from 'node:stream';
import type { Lease } from './lease.ts';
import { FrameReader, type Messages } from './wire/frames.ts';
import { SharingSocket } from './wire/socket.ts';

/** Reads what arrives in a session in the driver's place. */
export interface Reader extends Messages {
  /** The connection ended. */
  closed(error: Error): void;
}

/** Of one message, so of one row. */
export const longestMessageBytes = 16 << 20;

/** One connection, and what it holds from one lease to the next. */
export class Session {
  readonly client: PoolClient;
  readonly stream: Duplex;
  /** Names of our own statements that its server has read. */
  readonly prepared = new Set<string>();
  /** Names of callers' statements that its server keeps, oldest first. */
  readonly statements = new Set<string>();
  /** The tenant whose statements ran in it since it was cleaned; undefined where nobody's did. */
  tenant: string | undefined;
  /** Who uses it now. */
  lease: Lease | undefined;
  /** Takes the messages from the driver while it is there. No message is ever read in part by the one and in part by the other. */
  reader: Reader | undefined;
  /** When it came back last. */
  restsSince = 0;
  /** Its connection is of no more use. */
  ended = false;
  readonly #frames = new FrameReader(longestMessageBytes);
  readonly #driver: Messages;

  /** @param onEnd its connection ended. */
  constructor(client: PoolClient, onEnd: (session: Session, error: Error) => void) {
    this.client = client;
    // What encrypts has taken the place of the plain one before a client is ready.
    const { stream } = client.connection;
    this.stream = stream;
    const listeners = stream.listeners('data');
    this.#driver = {
      message: (_, bytes, start, end) => {
        const frame = bytes.subarray(start - 5, end);
        for (const listener of listeners) Reflect.apply(listener, stream, [frame]);
        return this.reader === undefined;
      },
      unreadable: () => stream.destroy(new Error('no message of PostgreSQL')),
    };
    stream.removeAllListeners('data');
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
    if (stream instanceof SharingSocket) stream.shares = true;
    const end = (error: Error): void => {
      this.reader?.closed(error);
      if (this.ended) return;
      this.ended = true;
      onEnd(this, error);
    };
    client.on('error', end);
    client.on('end', () => end(new Error('the connection ended')));
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    // Nothing that comes after what ended the connection means anything.
    while (rest.length > 0 && !this.stream.destroyed) {
      const read = this.#frames.read(rest, this.reader ?? this.#driver);
      if (read === rest.length) return;
      rest = rest.subarray(read);
    }
  }
}

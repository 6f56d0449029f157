import type { Duplex } from 'node:stream';
import type { PoolClient } from 'pg';
import { within } from '../../src/contract/core/index.ts';
import { cancel, SharingSocket } from './wire/socket.ts';
import { settleSession } from './steps.ts';
import { FrameReader, type Messages } from './wire/frames.ts';

/** How long a server is waited for that was asked to stop something. */
const cancelMs = 1_000;

const resetMs = 5_000;

/** The use of a session by one. */
export class Lease {
  readonly session: Session;
  /** Undefined where it is for a question of our own. */
  readonly tenant: string | undefined;
  readonly #ends: LeaseEnds;
  #end: Promise<void> | undefined;
  /** Called when the lease is taken away. Set by its user. */
  onAbandon: (() => void) | undefined;

  constructor(session: Session, ends: LeaseEnds, tenant: string | undefined) {
    this.session = session;
    this.tenant = tenant;
    this.#ends = ends;
    session.lease = this;
  }

  get client(): PoolClient {
    return this.session.client;
  }

  /** Nothing ran, or what did has left nothing: the session is kept for its tenant. */
  release(): void {
    if (this.#end !== undefined) return;
    this.#end = done;
    this.#back();
  }

  /**
   * Nothing runs. Where `rolledBack` says that nothing of a transaction is left, the session is kept for its tenant; else it
   * is cleaned of everything, or closed.
   */
  giveBack(rolledBack: Promise<boolean> = notSaid): Promise<void> {
    this.#end ??= this.#giveBack(rolledBack);
    return this.#end;
  }

  /** Something may run: the server is asked to stop it, and the connection is closed. */
  abandon(): Promise<void> {
    this.#end ??= this.#destroy();
    return this.#end;
  }

  async #giveBack(rolledBack: Promise<boolean>): Promise<void> {
    try {
      const kept = (await within(resetMs, rolledBack)) && this.session.tenant !== undefined;
      if (!kept) {
        await within(resetMs, this.client.query('ROLLBACK'));
        await this.#discard();
      }
      this.#back();
    } catch {
      this.#close();
    }
  }

  /** Rejects where the session cannot be cleaned; its connection is closed then. */
  async clean(): Promise<void> {
    try {
      await this.#discard();
    } catch (error) {
      this.#end ??= done;
      this.#close();
      throw error;
    }
  }

  async #discard(): Promise<void> {
    await within(resetMs, this.client.query('DISCARD ALL'));
    await settle(this.client);
    this.session.tenant = undefined;
    this.session.prepared.clear();
    this.session.statements.clear();
  }

  async #destroy(): Promise<void> {
    try {
      this.onAbandon?.();
      await cancel(this.client, cancelMs);
    } finally {
      this.#close();
    }
  }

  #back(): void {
    this.session.lease = undefined;
    this.#ends.back(this.session);
  }

  #close(): void {
    this.session.lease = undefined;
    // A peer that is gone would never answer a farewell.
    this.session.stream.destroy();
    this.#ends.close(this.session);
  }
}

const notSaid = Promise.resolve(false);

const done = Promise.resolve();

/** Reads what arrives in a session in the driver's place. */
export interface Reader extends Messages {
  /** The connection ended. */
  closed(error: Error): void;
}

/** Of one message, so of one row. */
export const longestMessageBytes = 16 << 20;

export class Session {
  readonly client: PoolClient;
  readonly stream: Duplex;
  /** Names of our own statements that its server has read. */
  readonly prepared = new Set<string>();
  /** Names of callers' statements that its server keeps, oldest first. */
  readonly statements = new Set<string>();
  /** The tenant whose statements ran in it since it was cleaned; undefined where nobody's did. */
  tenant: string | undefined;
  lease: Lease | undefined;
  /** Takes the messages from the driver while it is there. No message is ever read in part by the one and in part by the other. */
  reader: Reader | undefined;
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

/** Where a session goes when its lease ends. */
export interface LeaseEnds {
  /** It is at rest. */
  readonly back: (session: Session) => void;
  readonly close: (session: Session) => void;
}

/** Closes what cannot be settled. */
export async function settle(client: PoolClient): Promise<void> {
  try {
    await within(resetMs, client.query(settleSession));
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

import type { PoolClient } from 'pg';
import { cancel } from './cancel.ts';
import type { Session } from './session.ts';
import { settleSession } from './steps.ts';

/** Where a session goes when its lease ends. */
export interface LeaseEnds {
  /** It is at rest. */
  readonly back: (session: Session) => void;
  readonly close: (session: Session) => void;
}

/** How long a server is waited for that was asked to stop something. */
const cancelMs = 1_000;
const resetMs = 5_000;

/** The use of a session by one. */
export class Lease {
  readonly session: Session;
  readonly #ends: LeaseEnds;
  #end: Promise<void> | undefined;
  /** Called when the lease is taken away, so that whoever uses it hears of it. */
  onAbandon: (() => void) | undefined;

  constructor(session: Session, ends: LeaseEnds) {
    this.session = session;
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

/** Closes what cannot be settled. */
export async function settle(client: PoolClient): Promise<void> {
  try {
    await within(resetMs, client.query(settleSession));
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

const notSaid = Promise.resolve(false);
const done = Promise.resolve();

/** Rejects after `ms`. */
export async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the connection does not answer')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

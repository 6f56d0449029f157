import { Stopped, type Logger } from '../../src/contract/core/index.ts';
import { Pool, type ClientConfig } from 'pg';
import type { ConnectionOptions } from 'node:tls';
import { Lease, Session, settle, type LeaseEnds } from './session.ts';
import { Resting } from './resting.ts';
import { SharingSocket } from './wire/socket.ts';

export type { Lease } from './session.ts';

export interface ConnectionsOptions {
  readonly client: ClientConfig;
  readonly ssl: boolean | ConnectionOptions;
  readonly max: number;
  /** Of them, how many all tenants use at once, and how many one: the others are for our own questions and other tenants. */
  readonly tenants?: { readonly all: number; readonly each: number };
  readonly idleMs: number;
  readonly connectMs: number;
  readonly logger: Logger;
}

interface Waiting {
  readonly tenant: string | undefined;
  /** One is being opened because of it. */
  opening: boolean;
  /** False where it no longer waits. */
  readonly have: (lease: Lease) => boolean;
  readonly fail: (error: unknown) => void;
}

/**
 * One login's connections to one database. The driver's pool opens and counts them; who gets one is decided here, so that a
 * call has a session that its tenant used before at once, and gives it back as fast.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  readonly #sessions = new Set<Session>();
  readonly #resting: Resting;
  /** Each is one that no session at rest is fit for. */
  readonly #waiting: Waiting[] = [];
  readonly #ends: LeaseEnds;
  #opening = 0;

  constructor(options: ConnectionsOptions) {
    const { client, ssl, max, idleMs, connectMs, logger } = options;
    this.#options = options;
    this.#pool = new Pool({
      application_name: 'sightline',
      keepAlive: true,
      ...client,
      ssl,
      max,
      connectionTimeoutMillis: connectMs,
      stream: () => new SharingSocket(),
    });
    // Without a listener, a connection that the server ends would end the gateway.
    this.#pool.on('error', (error) => logger.debug({ error }, 'an idle connection ended'));
    this.#pool.on('connect', (connected) => connected.on('error', () => {}));
    this.#resting = new Resting(idleMs, (session) => this.#close(session));
    this.#ends = { back: (session) => this.#back(session), close: (session) => this.#close(session) };
  }

  get open(): number {
    return this.#pool.totalCount;
  }

  get inUse(): number {
    return this.#leases().length;
  }

  /** A session for one use that is free, and need not be cleaned. */
  take(tenant: string | undefined): Lease | undefined {
    const session = this.#mayHave(tenant) ? this.#resting.takeFor(tenant) : undefined;
    return session === undefined ? undefined : this.#lend(session, tenant);
  }

  /**
   * A session for one use. Rejects when none is free in time, or with the signal's reason when it is aborted.
   * @param tenant whose statement will run in it; left out for our own.
   * @param waitMs how long one in use is waited for at most, if not as long as for a new connection.
   */
  async lease(signal: AbortSignal, tenant?: string, waitMs?: number): Promise<Lease> {
    signal.throwIfAborted();
    if (this.#pool.ending) throw new Stopped('closing');
    return this.take(tenant) ?? (await this.#wait(signal, tenant, waitMs));
  }

  async #wait(signal: AbortSignal, tenant: string | undefined, waitMs?: number): Promise<Lease> {
    const { promise, resolve, reject } = Promise.withResolvers<Lease>();
    let waits = true;
    const leave = (): boolean => {
      if (!waits) return false;
      waits = false;
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      const at = this.#waiting.indexOf(waiting);
      if (at !== -1) this.#waiting.splice(at, 1);
      return true;
    };
    const waiting: Waiting = {
      tenant,
      opening: false,
      have(lease) {
        const wanted = leave();
        if (wanted) resolve(lease);
        return wanted;
      },
      fail: (error) => leave() && reject(error),
    };
    const abort = (): void => waiting.fail(signal.reason);
    const late = waitMs === undefined ? new Error('no connection was free in time') : new Stopped('timeout');
    const timer = setTimeout(() => waiting.fail(late), waitMs ?? this.#options.connectMs);
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.push(waiting);
    this.#serve();
    return await promise;
  }

  /**
   * For those who wait, in their order, a new connection as long as there may be more, and only then a session that served
   * another tenant, the one that rested for the longest. The other way round, tenants who take turns would share one session
   * for ever, and have it cleaned and made ready again at every turn; a connection is opened once, and then is there.
   */
  #serve(): void {
    for (;;) {
      const waiting = this.#waiting.find(({ opening, tenant }) => !opening && this.#mayHave(tenant));
      if (waiting === undefined) return;
      if (this.#pool.totalCount < this.#options.max) {
        waiting.opening = true;
        void this.#open(waiting);
        continue;
      }
      const session = this.#resting.takeOldest();
      if (session === undefined) return;
      this.#give(session, waiting);
    }
  }

  async #open(waiting: Waiting): Promise<void> {
    this.#opening += 1;
    try {
      const client = await this.#pool.connect();
      await settle(client).catch((error: unknown) => {
        client.release(true);
        throw error;
      });
      this.#opening -= 1;
      const session = new Session(client, (ended, error) => this.#ended(ended, error));
      this.#sessions.add(session);
      this.#back(session);
    } catch (error) {
      this.#opening -= 1;
      // A server that takes no more connections may still serve by those it has.
      const session = this.#waiting.includes(waiting) ? this.#resting.takeOldest() : undefined;
      if (session === undefined) waiting.fail(error);
      else this.#give(session, waiting);
    }
    // It may have gone to another than the one it was opened for.
    let others = this.#opening;
    for (const next of this.#waiting) {
      if (next.opening) others -= 1;
      if (others < 0) next.opening = false;
    }
    this.#serve();
  }

  /** Gives it to the first waiter; if it would need cleaning, not to one whose own connection is being opened. */
  #back(session: Session): void {
    if (session.ended || this.#pool.ending) {
      this.#close(session);
      return;
    }
    const { tenant } = session;
    const next = this.#waiting.find((waiting) =>
      waiting.opening ? tenant === undefined || tenant === waiting.tenant : this.#mayHave(waiting.tenant),
    );
    if (next === undefined) this.#resting.add(session);
    else this.#give(session, next);
  }

  /** Who gets a session that must be cleaned first can leave meanwhile. */
  #give(session: Session, waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at !== -1) this.#waiting.splice(at, 1);
    const lease = new Lease(session, this.#ends, waiting.tenant);
    const { tenant } = session;
    const hand = (): void => {
      const left = session.tenant;
      session.tenant = waiting.tenant;
      if (waiting.have(lease)) return;
      session.tenant = left;
      lease.release();
    };
    if (tenant === undefined || tenant === waiting.tenant) hand();
    else void lease.clean().then(hand, waiting.fail);
  }

  /** Whether the tenant may use one more, with those that are being opened for it or others. */
  #mayHave(tenant: string | undefined): boolean {
    const { tenants } = this.#options;
    if (tenant === undefined || tenants === undefined) return true;
    let [all, own] = [0, 0];
    const count = (user: string | undefined): void => {
      if (user !== undefined) all += 1;
      if (user === tenant) own += 1;
    };
    for (const { lease } of this.#sessions) count(lease?.tenant);
    for (const { opening, tenant: user } of this.#waiting) if (opening) count(user);
    return all < tenants.all && own < tenants.each;
  }

  #lend(session: Session, tenant: string | undefined): Lease {
    session.tenant = tenant;
    return new Lease(session, this.#ends, tenant);
  }

  #ended(session: Session, error: Error): void {
    if (!this.#resting.remove(session)) return;
    this.#options.logger.debug({ error }, 'an idle connection ended');
    this.#close(session);
  }

  /** The pool ends the connection, and counts it no more. */
  #close(session: Session): void {
    session.ended = true;
    if (!this.#sessions.delete(session)) return;
    session.client.release(true);
    this.#serve();
  }

  #leases(): readonly Lease[] {
    return [...this.#sessions].flatMap(({ lease }) => lease ?? []);
  }

  /** Ends what runs, then every connection. */
  async end(): Promise<void> {
    const ended = this.#pool.ending ? undefined : this.#pool.end();
    for (const { fail } of this.#waiting.splice(0)) fail(new Stopped('closing'));
    this.#resting.closeAll();
    await Promise.all(this.#leases().map(async (lease) => await lease.abandon()));
    await ended;
  }
}

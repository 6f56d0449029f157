import { Pool, type ClientConfig, type PoolClient } from 'pg';
import { TLSSocket, type ConnectionOptions } from 'node:tls';
import type { Logger } from '../../src/contract/index.ts';
import { cancel } from './cancel.ts';
import { Stopped } from './failures.ts';

export interface ConnectionsOptions {
  readonly client: ClientConfig;
  readonly ssl: boolean | ConnectionOptions;
  readonly max: number;
  readonly idleMs: number;
  readonly connectMs: number;
  readonly logger: Logger;
}

/** How long a server is waited for that was asked to stop something. */
const cancelMs = 1_000;
const resetMs = 5_000;

/** What a session holds from one lease to the next. */
export interface Session {
  /** The tenant whose statements ran in it since it was cleaned; undefined where nobody's did. */
  tenant: string | undefined;
  /** Names of our own statements that its server has read. */
  readonly prepared: Set<string>;
  /** Who uses it now. */
  lease: Lease | undefined;
  /** Sees what arrives in it. */
  reader: { arrived(chunk: Buffer): void } | undefined;
}

/** One login's connections to one database. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  readonly #sessions = new Map<PoolClient, Session>();

  constructor(options: ConnectionsOptions) {
    const { client, ssl, max, idleMs, connectMs, logger } = options;
    this.#options = options;
    this.#pool = new Pool({
      application_name: 'sightline',
      keepAlive: true,
      ...client,
      ssl,
      max,
      idleTimeoutMillis: idleMs,
      connectionTimeoutMillis: connectMs,
    });
    // Without a listener, a connection that the server ends would end the gateway.
    this.#pool.on('error', (error) => logger.debug({ err: error }, 'an idle connection ended'));
    this.#pool.on('connect', (connected) => connected.on('error', () => {}));
    this.#pool.on('remove', (removed) => this.#sessions.delete(removed));
  }

  get open(): number {
    return this.#pool.totalCount;
  }

  get inUse(): number {
    return this.#leases().length;
  }

  /**
   * A connection for one use. Rejects when none is free in time, or with the signal's reason when it is aborted.
   * @param tenant whose statement will run in it; left out for our own.
   * @param waitMs how long one is waited for at most, if not as long as the pool waits.
   */
  async lease(signal: AbortSignal, tenant?: string, waitMs?: number): Promise<Lease> {
    signal.throwIfAborted();
    // One that is free, and need not be cleaned, is there at once. Only who waits has to hear meanwhile that it is not wanted.
    const free = this.#pool.idleCount > 0 && !this.#servesOthersThan(tenant);
    const connecting = this.#connect(tenant);
    const lease = free ? await connecting : await this.#whileWanted(connecting, signal, waitMs);
    if (!signal.aborted) return lease;
    lease.release();
    throw signal.reason;
  }

  async #whileWanted(connecting: Promise<Lease>, signal: AbortSignal, waitMs?: number): Promise<Lease> {
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const timer = waitMs === undefined ? undefined : setTimeout(() => aborted.reject(new Stopped('timeout')), waitMs);
    try {
      return await Promise.race([connecting, aborted.promise]);
    } catch (error) {
      connecting.then((late) => late.release()).catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** One in which no other tenant's statement has left anything: another's is cleaned before it is used. */
  async #connect(tenant: string | undefined): Promise<Lease> {
    const client = await this.#pool.connect();
    const session = this.#sessions.get(client) ?? this.#newSession(client);
    const lease = new Lease(client, session, this.#options.ssl);
    if (session.tenant !== undefined && session.tenant !== tenant) await lease.clean();
    session.tenant = tenant;
    session.lease = lease;
    return lease;
  }

  #newSession(client: PoolClient): Session {
    const session: Session = { tenant: undefined, prepared: new Set(), lease: undefined, reader: undefined };
    this.#sessions.set(client, session);
    client.connection.stream.on('data', (chunk: Buffer) => session.reader?.arrived(chunk));
    return session;
  }

  #servesOthersThan(tenant: string | undefined): boolean {
    for (const session of this.#sessions.values()) {
      if (session.tenant !== undefined && session.tenant !== tenant) return true;
    }
    return false;
  }

  #leases(): readonly Lease[] {
    return [...this.#sessions.values()].flatMap(({ lease }) => lease ?? []);
  }

  /** Ends what runs, then every connection. */
  async end(): Promise<void> {
    const stopped = this.#leases().map(async (lease) => await lease.abandon());
    await Promise.all(stopped);
    if (!this.#pool.ending) await this.#pool.end();
  }
}

export class Lease {
  readonly client: PoolClient;
  readonly session: Session;
  readonly #ssl: boolean | ConnectionOptions;
  #end: Promise<void> | undefined;
  /** Called when the lease is taken away, so that whoever uses it hears of it. */
  onAbandon: (() => void) | undefined;

  constructor(client: PoolClient, session: Session, ssl: boolean | ConnectionOptions) {
    this.client = client;
    this.session = session;
    this.#ssl = ssl;
  }

  /** Nothing ran, or what did has left nothing: the connection goes back, and its session is kept for its tenant. */
  release(): void {
    if (this.#end !== undefined) return;
    this.#end = done;
    this.#release();
  }

  /**
   * Nothing runs: the connection goes back. Where `rolledBack` says that nothing of a transaction is left, the session is
   * kept for its tenant; else it is cleaned of everything, or closed.
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
      this.#release();
    } catch {
      this.#close();
    }
  }

  /** Rejects where the session cannot be cleaned; its connection is closed then. */
  async clean(): Promise<void> {
    try {
      await this.#discard();
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  async #discard(): Promise<void> {
    await within(resetMs, this.client.query('DISCARD ALL'));
    this.session.tenant = undefined;
    this.session.prepared.clear();
  }

  async #destroy(): Promise<void> {
    try {
      this.onAbandon?.();
      // As the connection itself is, whether `ssl` or the URL said so.
      const encrypted = this.client.connection.stream instanceof TLSSocket;
      await cancel(this.client, encrypted ? this.#ssl || true : false, cancelMs);
    } finally {
      this.#close();
    }
  }

  #release(): void {
    this.session.lease = undefined;
    this.client.release();
  }

  #close(): void {
    this.session.lease = undefined;
    // A peer that is gone would never answer a farewell.
    this.client.connection.stream.destroy();
    this.client.release(true);
  }
}

const notSaid = Promise.resolve(false);
const done = Promise.resolve();

/** Rejects after `ms`. */
async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
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

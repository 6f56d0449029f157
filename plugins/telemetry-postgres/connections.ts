import { Pool, type ClientConfig, type PoolClient } from 'pg';
import { TLSSocket, type ConnectionOptions } from 'node:tls';
import type { Logger } from '../../src/contract/index.ts';
import { cancel } from './cancel.ts';
import { Shares } from './shares.ts';

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

/** One login's connections to one database. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  readonly #leases = new Set<Lease>();
  readonly #shares: Shares;

  constructor(options: ConnectionsOptions) {
    const { client, ssl, max, idleMs, connectMs, logger } = options;
    this.#options = options;
    // A quarter of the connections is always for others.
    this.#shares = new Shares(Math.max(1, Math.floor((max * 3) / 4)));
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
  }

  get open(): number {
    return this.#pool.totalCount;
  }

  get inUse(): number {
    return this.#leases.size;
  }

  /**
   * A connection for one use. Rejects when none is free in time, or with the signal's reason when it is aborted. Of all
   * connections nobody has more than three quarters at once, if it is said whom they are for.
   */
  async lease(signal: AbortSignal, who?: string): Promise<Lease> {
    if (who === undefined) return await this.#lease(signal, () => {});
    await this.#shares.take(who, signal);
    const giveBack = () => this.#shares.giveBack(who);
    try {
      return await this.#lease(signal, giveBack);
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  async #lease(signal: AbortSignal, giveBack: () => void): Promise<Lease> {
    signal.throwIfAborted();
    const connecting = this.#pool.connect();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const client = await Promise.race([connecting, aborted.promise]);
      const lease = new Lease(client, this.#options.ssl, () => {
        this.#leases.delete(lease);
        giveBack();
      });
      this.#leases.add(lease);
      return lease;
    } catch (error) {
      connecting.then((late) => late.release()).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends what runs, then every connection. */
  async end(): Promise<void> {
    const stopped = [...this.#leases].map(async (lease) => await lease.abandon());
    await Promise.all(stopped);
    if (!this.#pool.ending) await this.#pool.end();
  }
}

export class Lease {
  readonly client: PoolClient;
  readonly #ssl: boolean | ConnectionOptions;
  readonly #returned: () => void;
  #end: Promise<void> | undefined;
  /** Called when the lease is taken away, so that whoever uses it hears of it. */
  onAbandon: (() => void) | undefined;

  constructor(client: PoolClient, ssl: boolean | ConnectionOptions, returned: () => void) {
    this.client = client;
    this.#ssl = ssl;
    this.#returned = returned;
  }

  /** Nothing runs: the connection goes back without anything that a statement may have left in it, or is closed. */
  giveBack(): Promise<void> {
    this.#end ??= this.#reset();
    return this.#end;
  }

  /** Something may run: the server is asked to stop it, and the connection is closed. */
  abandon(): Promise<void> {
    this.#end ??= this.#destroy();
    return this.#end;
  }

  async #reset(): Promise<void> {
    const reset = this.client.query('ROLLBACK').then(() => this.client.query('DISCARD ALL'));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the connection does not answer')), resetMs);
    });
    try {
      await Promise.race([reset, late]);
      this.client.release();
    } catch {
      this.#close();
    } finally {
      clearTimeout(timer);
      this.#returned();
    }
  }

  async #destroy(): Promise<void> {
    try {
      this.onAbandon?.();
      // As the connection itself is, whether `ssl` or the URL said so.
      const encrypted = this.client.connection.stream instanceof TLSSocket;
      await cancel(this.client, encrypted ? this.#ssl || true : false, cancelMs);
    } finally {
      this.#close();
      this.#returned();
    }
  }

  #close(): void {
    // A peer that is gone would never answer a farewell.
    this.client.connection.stream.destroy();
    this.client.release(true);
  }
}

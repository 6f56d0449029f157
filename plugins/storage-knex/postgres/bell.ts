import { Client } from 'pg';
import type { Bell } from '../dialect.ts';
import type { ServerSettings } from '../config.ts';
import { clientConfig } from './client.ts';

const channel = 'sightline';
/** What waits for a connection; beyond it names are lost, and found by looking. */
const mostWaiting = 1_000;
const firstPauseMs = 100;
const longestPauseMs = 10_000;
/** A connection that died without a word is found out after so long. */
const probeMs = 20_000;

/**
 * LISTEN and NOTIFY on a connection of their own, which is opened with the first use and replaced when it ends. Names are
 * rung outside of the transactions that they tell of: a NOTIFY within would make all commits of the server follow each other.
 */
export class PostgresBell implements Bell {
  readonly #settings: ServerSettings;
  readonly #waiting = new Set<string>();
  #hear: ((name?: string) => void) | undefined;
  /** Open, or about to be. */
  #client: Client | undefined;
  #open = false;
  #sending = false;
  #pauseMs = firstPauseMs;
  #retry: NodeJS.Timeout | undefined;
  #probe: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
  }

  get heard(): boolean {
    return this.#open;
  }

  ring(name: string): void {
    if (this.#closed) return;
    if (this.#waiting.size < mostWaiting) this.#waiting.add(name);
    this.#connect();
    void this.#send();
  }

  listen(hear: (name?: string) => void): void {
    this.#hear = hear;
    this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#probe);
    const client = this.#client;
    this.#client = undefined;
    this.#open = false;
    await client?.end().catch(() => undefined);
  }

  #connect(): void {
    if (this.#client !== undefined || this.#retry !== undefined || this.#closed) return;
    const client = new Client(clientConfig(this.#settings, this.#settings.statementMs));
    this.#client = client;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload, processId }) => {
      if (processId !== ownProcess(client)) this.#hear?.(payload);
    });
    this.#begin(client).catch(() => this.#lose(client));
  }

  async #begin(client: Client): Promise<void> {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    if (this.#client !== client) return;
    this.#open = true;
    this.#pauseMs = firstPauseMs;
    this.#probe = setInterval(() => void this.#ask(client, 'SELECT 1', []), probeMs).unref();
    // What was rung before this one listened is not told again.
    this.#hear?.();
    await this.#send();
  }

  async #send(): Promise<void> {
    const client = this.#client;
    if (client === undefined || !this.#open || this.#sending) return;
    this.#sending = true;
    while (this.#waiting.size > 0 && this.#open && this.#client === client) {
      const names = [...this.#waiting];
      this.#waiting.clear();
      await this.#ask(client, 'SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name', [channel, names]);
    }
    this.#sending = false;
  }

  async #ask(client: Client, text: string, values: readonly (string | readonly string[])[]): Promise<void> {
    try {
      await client.query(text, [...values]);
    } catch {
      this.#lose(client);
    }
  }

  #lose(client: Client): void {
    client.connection.stream.destroy();
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#open = false;
    clearInterval(this.#probe);
    if (this.#closed || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#connect();
    }, this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}

/** The server's process behind the connection, which the driver's types leave out. */
function ownProcess(client: Client): unknown {
  return Reflect.get(client, 'processID');
}

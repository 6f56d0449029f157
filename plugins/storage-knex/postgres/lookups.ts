import { Client } from 'pg';
import type { Row } from '../dialect.ts';
import type { Link, LookupStatement } from '../server/lookups.ts';
import { lookupMs, type ServerSettings } from '../server/settings.ts';
import { clientConfig } from './client.ts';
import { isLost, told } from './errors.ts';
import { everyone, prepareSession, reachSetting } from './session.ts';

/** For look-ups, which come before an organization is known: its policies let every row through. */
export async function openLink(settings: ServerSettings): Promise<Link> {
  // Each look-up is sent when it is asked, and is answered in its turn.
  const client = new Client({ ...clientConfig(settings, undefined), query_timeout: lookupMs, pipeline: true });
  const link = new PostgresLink(client);
  try {
    await client.connect();
    await prepareSession(client, settings.statementMs);
    await client.query(`SET ${reachSetting} = '${everyone}'; SET default_transaction_read_only = on`);
    return link;
  } catch (error) {
    link.abandon();
    throw told(error);
  }
}

class PostgresLink implements Link {
  usable = true;
  readonly #client: Client;
  readonly #texts = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
    client.on('error', () => this.abandon());
    client.on('end', () => (this.usable = false));
  }

  async first({ name, sql }: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    try {
      const { rows } = await this.#client.query<Row>({ name, text: this.#text(sql), values: [...values] });
      return rows[0];
    } catch (caught) {
      const error = told(caught);
      if (isLost(error)) this.abandon();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.usable) return;
    this.usable = false;
    await this.#client.end();
  }

  abandon(): void {
    this.usable = false;
    this.#client.connection.stream.destroy();
  }

  #text(sql: string): string {
    let text = this.#texts.get(sql);
    if (text === undefined) {
      let position = 0;
      text = sql.replaceAll('?', () => `$${(position += 1)}`);
      this.#texts.set(sql, text);
    }
    return text;
  }
}

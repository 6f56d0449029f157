import { DatabaseError } from 'pg';
import type { Finding } from '../../../src/contract/telemetry/index.ts';
import type { Connections } from '../connections.ts';
import { tokenSetting } from '../steps.ts';

/** What came of trying something: rows as text, or the SQLSTATE it was refused with. */
export type Outcome =
  | { readonly allowed: true; readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly allowed: false; readonly state: string; readonly message: string };

const attemptMs = 4_000;

/** Tries statements as the gateway's login, in a transaction that may write and is rolled back whatever comes of it. */
export class Prober {
  readonly #connections: Connections;
  readonly #signal: AbortSignal;

  constructor(connections: Connections, signal: AbortSignal) {
    this.#connections = connections;
    this.#signal = signal;
  }

  /** Rejects where the server cannot be asked at all. */
  async attempt(
    text: string,
    options: { readonly token?: string; readonly values?: readonly string[] } = {},
  ): Promise<Outcome> {
    const lease = await this.#connections.lease(this.#signal);
    const stop = () => void lease.abandon();
    this.#signal.addEventListener('abort', stop, { once: true });
    const { client } = lease;
    try {
      await client.query('BEGIN READ WRITE');
      await client.query(
        // An index asks for the tenant before it looks; a scan of a table without rows never does.
        "SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config($2, $3, true), pg_catalog.set_config('enable_seqscan', 'off', true)",
        [String(attemptMs), tokenSetting, options.token ?? ''],
      );
      const { rows } = await client.query<(string | null)[]>({
        text,
        values: [...(options.values ?? [])],
        rowMode: 'array',
      });
      return { allowed: true, rows };
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code === undefined) throw error;
      return { allowed: false, state: error.code, message: error.message };
    } finally {
      this.#signal.removeEventListener('abort', stop);
      await lease.giveBack();
    }
  }

  /** Names in the first column, of a question about the catalog that may always be asked. */
  async names(text: string, values: readonly string[] = []): Promise<readonly string[]> {
    const outcome = await this.attempt(text, { values });
    if (!outcome.allowed) throw new Error(`the catalog could not be asked: ${outcome.state}`);
    return outcome.rows.flatMap(([name]) => (typeof name === 'string' ? [name] : []));
  }
}

/** Asked of the catalog: names of what should not be. */
export interface Question {
  readonly check: string;
  readonly sql: string;
  readonly values?: readonly string[];
  readonly ok: string;
  readonly status: 'warn' | 'fail';
  readonly wrong: (names: string) => string;
  /** One for all, or a statement for each of the first five. */
  readonly hint: string | ((name: string) => string);
}

export async function answered(prober: Prober, question: Question): Promise<Finding> {
  const { check, sql, values, ok, status, wrong, hint } = question;
  const names = await prober.names(sql, values);
  if (names.length === 0) return { check, status: 'ok', detail: ok };
  const statements = typeof hint === 'string' ? hint : eachOf(names, hint);
  return { check, status, detail: wrong(some(names)), hint: statements };
}

export function eachOf(names: readonly string[], statement: (name: string) => string): string {
  return names.slice(0, 5).map(statement).join(' ');
}

export function some(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
}

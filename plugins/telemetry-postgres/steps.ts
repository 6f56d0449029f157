import { createHash, createHmac } from 'node:crypto';
import type { Tenant } from '../../src/contract/telemetry/index.ts';
import type { Step } from './wire/packets.ts';

export const tokenSetting = 'otel.token';
/** The window of a statement, for views whose tables are sorted or partitioned by something else than the time itself. */
export const windowSettings = { start: 'otel.window_start', end: 'otel.window_end' } as const;

/**
 * `expiry|hmac|tenant`, which the views' function verifies. SQL can replace a setting, but not sign another tenant: the key
 * is SHA-256 of the secret, which only the function's owner reads.
 */
export function signToken(tenant: Tenant, secret: string, expires: Date): string {
  const expiry = Math.floor(expires.getTime() / 1_000);
  const key = createHash('sha256').update(secret, 'utf8').digest();
  const signature = createHmac('sha256', key).update(`${expiry}|${tenant}`, 'utf8').digest('hex');
  return `${expiry}|${signature}|${tenant}`;
}

const mostTokens = 10_000;

/** A token serves a tenant's statements for a fifth of its life, so that what is sent lives for at least the rest. */
export class TenantTokens {
  readonly #secret: string;
  readonly #lifeMs: number;
  readonly #now: () => Date;
  readonly #kept = new Map<Tenant, { readonly token: string; readonly until: number }>();

  constructor(secret: string, lifeMs: number, now: () => Date) {
    this.#secret = secret;
    this.#lifeMs = lifeMs;
    this.#now = now;
  }

  for(tenant: Tenant): string {
    const at = this.#now().getTime();
    const kept = this.#kept.get(tenant);
    if (kept !== undefined && at < kept.until && kept.until - at <= this.#lifeMs / 5) return kept.token;
    const token = signToken(tenant, this.#secret, new Date(at + this.#lifeMs));
    if (this.#kept.size >= mostTokens) this.#kept.clear();
    this.#kept.set(tenant, { token, until: at + this.#lifeMs / 5 });
    return token;
  }
}

/** The same for every session, so that a statement means the same whatever the server's or the role's defaults. */
const fixed = {
  search_path: 'pg_catalog, pg_temp',
  TimeZone: 'UTC',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  client_min_messages: 'error',
  // Of tables that nobody has analyzed yet, and of what is derived, the planner expects one row where there are thousands: then
  // loops within loops never end. A hash costs little even where it is right.
  enable_nestloop: 'off',
  // A plan that needs a loop all the same counts as so dear that the server would compile it, for seconds.
  jit: 'off',
} as const;

/** What a session says of itself whose own settings are these. Another list would have another value. */
const settled = { name: 'otel.settled', value: '1' };

const set = (name: string, value: string, local: boolean): string =>
  `pg_catalog.set_config('${name}', '${value}', ${local})`;

/**
 * Once a session, and again when it was cleaned. That it was done is seen in each transaction, and not taken for granted: a
 * pooler may have put another session in its place.
 */
export const settleSession = `SELECT ${[...Object.entries(fixed), [settled.name, settled.value] as const].map(([name, value]) => set(name, value, false)).join(', ')}`;

/** Whatever is left to the session is set for the transaction where it does not say that it is settled. */
const settings = [
  `pg_catalog.set_config('statement_timeout', $1, true)`,
  `pg_catalog.set_config('idle_in_transaction_session_timeout', $2, true)`,
  `pg_catalog.set_config('${tokenSetting}', $3, true)`,
  `pg_catalog.set_config('${windowSettings.start}', $4, true)`,
  `pg_catalog.set_config('${windowSettings.end}', $5, true)`,
  // Of the settings themselves the one that says which functions are meant.
  `CASE WHEN pg_catalog.current_setting('${settled.name}', true) = '${settled.value}' AND pg_catalog.current_setting('search_path') = '${fixed.search_path}' THEN NULL ELSE pg_catalog.concat(${Object.entries(
    fixed,
  )
    .map(([name, value]) => set(name, value, true))
    .join(', ')}) END`,
].join(', ');

const mostKept = 1_000;
/** The gateway stops a statement itself when its time is up; the server's own time-out comes at most so much later. */
const timeoutStepMs = 100;

/** The ends of a window as a statement is sent with them. */
export interface SentWindow {
  readonly start?: string;
  readonly end?: string;
}

/** What a session does before a caller's statement: a transaction that cannot write, and whose settings end with it. */
export class StepsBefore {
  readonly #kept = new Map<string, readonly Step[]>();

  of(timeoutMs: number, token: string, { start = '', end = '' }: SentWindow = {}): readonly Step[] {
    const timeout = Math.max(1, Math.ceil(timeoutMs / timeoutStepMs)) * timeoutStepMs;
    const key = `${timeout} ${token} ${start} ${end}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    if (this.#kept.size >= mostKept) this.#kept.clear();
    const steps = [begin, { ...settle, values: [`${timeout}ms`, `${timeout + 10_000}ms`, token, start, end] }];
    this.#kept.set(key, steps);
    return steps;
  }
}

const begin: Step = { name: 'sightline_begin', text: 'BEGIN READ ONLY', values: [] };
/** A function of all of them: they are carried out, and one small value is sent back. */
const settle = { name: 'sightline_settings', text: `SELECT pg_catalog.num_nulls(${settings})` };

/** And after it: nothing of the transaction stays, not even a setting that was meant for the session. */
export const stepsAfter: readonly Step[] = [{ name: 'sightline_end', text: 'ROLLBACK', values: [] }];

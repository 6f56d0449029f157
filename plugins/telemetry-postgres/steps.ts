import type { Step } from './portal.ts';
import { tokenSetting } from './token.ts';

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
} as const;

const settings = [
  ...Object.entries(fixed).map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`),
  `pg_catalog.set_config('statement_timeout', $1, true)`,
  `pg_catalog.set_config('idle_in_transaction_session_timeout', $2, true)`,
  `pg_catalog.set_config('${tokenSetting}', $3, true)`,
].join(', ');

/** What a session does before a caller's statement: a transaction that cannot write, and whose settings end with it. */
export function stepsBefore(timeoutMs: number, token: string): readonly Step[] {
  const timeout = Math.max(1, Math.ceil(timeoutMs));
  return [begin, { ...settle, values: [`${timeout}ms`, `${timeout + 10_000}ms`, token] }];
}

const begin: Step = { name: 'sightline_begin', text: 'BEGIN READ ONLY', values: [] };
const settle = { name: 'sightline_settings', text: `SELECT ${settings}` };

/** And after it: nothing of the transaction stays, not even a setting that was meant for the session. */
export const stepAfter: Step = { name: 'sightline_end', text: 'ROLLBACK', values: [] };

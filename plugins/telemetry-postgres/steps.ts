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
  return [
    { text: 'BEGIN READ ONLY', values: [] },
    { text: `SELECT ${settings}`, values: [`${timeout}ms`, `${timeout + 10_000}ms`, token] },
  ];
}

import type { Client } from 'pg';
import pg from 'pg';
import type { Reach } from '../dialect.ts';
import { abandonedMs } from '../server/settings.ts';

/** The organization whose rows the policies show (dialect.ts): its id. */
export const reachSetting = 'sightline.organization';

/** In its place where the directory looks across organizations; no id is written so. */
export const everyone = '*';

/** The same for a transaction that takes as long as it takes, such as an import that waits for its file. */
const abandonedLongMs = 60_000;

/** Once for each connection. Nothing weaker than a commit on the disk is taken, and nothing stronger weakened. */
export async function prepareSession(client: Client, statementMs: number | undefined): Promise<void> {
  await client.query(`
    SET statement_timeout = ${statementMs ?? 0};
    SET idle_in_transaction_session_timeout = ${statementMs === undefined ? abandonedLongMs : abandonedMs};
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`);
}

export function beginReading(reach: Reach): string {
  return `BEGIN READ ONLY; SELECT ${reaching(reach)}`;
}

/** The organization's lock comes before the first statement, each of which sees what was committed by then. */
export function beginWriting(reach: Reach): string {
  const lock = reach === 'directory' ? '' : `, ${lockOf(reach)}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${reaching(reach)}${lock}`;
}

/** Held until the transaction ends. Two names that share a number only wait for each other. */
export function lockOf(name: string): string {
  return `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(name)}, 5174))`;
}

/** For the rest of the transaction. */
export function reaching(reach: Reach): string {
  return `set_config('${reachSetting}', ${pg.escapeLiteral(reach === 'directory' ? everyone : reach)}, true)`;
}

import type { Finding } from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../literals.ts';
import { some, type Prober } from './attempt.ts';

/** Tables that the views read, through other views too, with their partitions and what they are partitions of. */
const below = `
  WITH RECURSIVE below(oid) AS (
    SELECT pg_catalog.unnest($1::regclass[])::oid
    UNION
    SELECT next.oid FROM below AS b CROSS JOIN LATERAL (
      SELECT d.refobjid FROM pg_catalog.pg_rewrite AS r
      JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
      WHERE r.ev_class = b.oid
      UNION SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = b.oid
      UNION SELECT inhparent FROM pg_catalog.pg_inherits WHERE inhrelid = b.oid
    ) AS next(oid)
  )`;

/** Where telemetry lies without the views before it. `views` are quoted names. */
export async function probeTables(
  prober: Prober,
  login: string,
  views: readonly string[],
): Promise<readonly Finding[]> {
  return [await beneath(prober, login, views), await others(prober, login, views)];
}

async function beneath(prober: Prober, login: string, views: readonly string[]): Promise<Finding> {
  const reachable = await prober.names(
    `${below}
     SELECT oid::regclass::text FROM below WHERE NOT oid = ANY ($1::regclass[])
       AND (pg_catalog.has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE') OR pg_catalog.has_table_privilege(oid, 'DELETE, TRUNCATE'))
     ORDER BY 1`,
    [arrayOf(views)],
  );
  return reachable.length > 0
    ? {
        check: 'tables beneath',
        status: 'fail',
        detail: `SQL can read or write ${some(reachable)} without the views.`,
        hint: revoked(reachable, login),
      }
    : { check: 'tables beneath', status: 'ok', detail: 'SQL reaches the tables by the views alone.' };
}

/** What else there is to read may be a copy of the telemetry, or another way to it. */
async function others(prober: Prober, login: string, views: readonly string[]): Promise<Finding> {
  const readable = await prober.names(
    `${below}
     SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c
     JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
       AND n.nspname !~ '^pg_(toast|temp)' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
       AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AND NOT EXISTS (SELECT FROM below WHERE below.oid = c.oid)
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY 1`,
    [arrayOf(views)],
  );
  return readable.length > 0
    ? {
        check: 'other tables',
        status: 'warn',
        detail: `Past the gate, SQL can read ${some(readable)}.`,
        hint: revoked(readable, login),
      }
    : { check: 'other tables', status: 'ok', detail: 'SQL can read nothing but the views.' };
}

function revoked(tables: readonly string[], login: string): string {
  return tables
    .slice(0, 5)
    .map((table) => `REVOKE ALL ON ${table} FROM PUBLIC, ${quoteName(login)};`)
    .join(' ');
}

/** Names as an array of the server's. */
export function arrayOf(names: readonly string[]): string {
  return `{${names.map((name) => JSON.stringify(name)).join(',')}}`;
}

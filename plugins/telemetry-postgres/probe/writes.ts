import type { Finding } from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../literals.ts';
import { some, type Prober } from './attempt.ts';

/** Tables and views of whatever schema that the login may change. */
export async function probeWrites(prober: Prober, login: string, degraded: boolean): Promise<Finding> {
  const writable = await prober.names(`
    SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname !~ '^pg_(toast|temp)' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND (pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE') OR pg_catalog.has_table_privilege(c.oid, 'DELETE, TRUNCATE'))
    ORDER BY 1`);
  const changed: string[] = [];
  for (const table of writable.slice(0, 5)) {
    const outcome = await prober.attempt(`DELETE FROM ${table} WHERE false`);
    if (outcome.allowed) changed.push(table);
  }
  if (writable.length === 0) return { check: 'writes', status: 'ok', detail: 'SQL can change no table.' };
  return {
    check: 'writes',
    status: degraded ? 'warn' : 'fail',
    detail: `SQL may change ${some(writable)}${changed.length > 0 ? '; an attempt succeeded' : ''}.`,
    hint: writable
      .slice(0, 5)
      .map((table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${table} FROM PUBLIC, ${quoteName(login)};`)
      .join(' '),
  };
}

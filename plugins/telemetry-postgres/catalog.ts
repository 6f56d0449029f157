import type { PhysicalColumns } from '../../src/contract/telemetry/index.ts';
import type { Connections } from './connections.ts';

type Cells = readonly (string | null)[];

/** Asks the server something of our own, outside of any tenant's boundary. Rejects when the signal is aborted. */
export async function ask(
  connections: Connections,
  text: string,
  values: readonly string[],
  signal: AbortSignal,
): Promise<readonly Cells[]> {
  const lease = await connections.lease(signal);
  const stop = () => void lease.abandon();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { rows } = await lease.client.query<(string | null)[]>({
      text,
      values: [...values],
      rowMode: 'array',
    });
    return rows;
  } finally {
    signal.removeEventListener('abort', stop);
    await lease.giveBack();
  }
}

export async function serverVersion(connections: Connections, signal: AbortSignal): Promise<string> {
  const [row] = await ask(connections, "SELECT current_setting('server_version')", [], signal);
  return row?.[0]?.split(' ', 1)[0] ?? '';
}

/** Columns of `schema.table`, whether or not the login may read it; of any table that fits where `{tenant}` stands in it. */
export function physicalColumns(connections: Connections, signal: AbortSignal): PhysicalColumns {
  const text = `
    SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = (
      SELECT c.oid FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname ~ $1 AND c.relname ~ $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      ORDER BY n.nspname, c.relname LIMIT 1)
    ORDER BY a.attnum`;
  return async (table) => {
    const dot = table.indexOf('.');
    const patterns = [table.slice(0, dot), table.slice(dot + 1)].map(pattern);
    const rows = await ask(connections, text, patterns, signal);
    if (rows.length === 0) return undefined;
    return new Map(rows.map(([name, type]) => [name ?? '', type ?? '']));
  };
}

function pattern(name: string): string {
  const parts = name.split('{tenant}').map((part) => part.replaceAll(/[^A-Za-z0-9_]/g, (char) => `\\${char}`));
  return `^${parts.join('[A-Za-z0-9_-]{1,64}')}$`;
}

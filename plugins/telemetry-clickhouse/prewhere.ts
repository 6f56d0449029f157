import type { ResolvedMapping } from '../../src/contract/telemetry/index.ts';
import type { Rows } from './quote.ts';
import { literal } from './quote.ts';

/** The FROM items of a mapping whose engine takes PREWHERE. Views, joins and whatever cannot be looked up are not among them. */
export async function prewhereSources(rows: Rows, { tables }: ResolvedMapping): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (!(await hasAnalyzer(rows))) return found;
  for (const { from } of Object.values(tables).flat()) {
    const path = /^((?<database>[^.\s()]+)\.)?(?<table>[^.\s()]+)$/.exec(from.replaceAll('`', ''))?.groups;
    if (path === undefined) continue;
    const engines = await rows(
      `SELECT DISTINCT engine FROM system.tables WHERE ${like('name', path['table'] ?? '')}
         AND ${path['database'] === undefined ? 'database = currentDatabase()' : like('database', path['database'])}`,
    );
    const takes = engines.every(
      ({ engine }) => typeof engine === 'string' && /MergeTree$|^(Distributed|Merge|Buffer)$/.test(engine),
    );
    if (engines.length > 0 && takes) found.add(from);
  }
  return found;
}

/**
 * Without its analyzer (before 24.3, with `enable_analyzer = 0` or an old `compatibility`) the engine computes PREWHERE and
 * a caller's predicate in one go, and errors of the latter tell of other tenants' rows.
 */
async function hasAnalyzer(rows: Rows): Promise<boolean> {
  const found = await rows(
    "SELECT value FROM system.settings WHERE name IN ('allow_experimental_analyzer', 'enable_analyzer')",
  );
  return found.length > 0 && found.every(({ value }) => value === '1');
}

/** A name, or with `{tenant}` in it every name of that form. */
function like(column: string, name: string): string {
  if (!name.includes('{tenant}')) return `${column} = ${literal(name)}`;
  const pattern = name.replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`).replaceAll('{tenant}', '[A-Za-z0-9_-]+');
  return `match(${column}, ${literal(`^${pattern}$`)})`;
}

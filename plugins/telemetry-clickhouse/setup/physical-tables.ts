import {
  tableNames,
  type PhysicalColumns,
  type ResolvedMapping,
  type TableSource,
} from '../../../src/contract/telemetry/index.ts';
import { literal, textOf, type Rows } from '../quote.ts';

/** A table of the warehouse that a mapping reads. */
export interface PhysicalTable {
  readonly database: string;
  readonly table: string;
  readonly source: TableSource;
  /** Whether that source reads nothing else, so that what it says of tenants holds for this table. */
  readonly alone: boolean;
  /** Where the rows of a Distributed table lie, on each shard. */
  readonly local?: { readonly database: string; readonly table: string };
}

/** The tables that a mapping reads, once each. `own`: the account's database, for tables that are not there to be looked up. */
export async function physicalTables(
  rows: Rows,
  columns: PhysicalColumns,
  { tables }: ResolvedMapping,
  own = 'default',
): Promise<readonly PhysicalTable[]> {
  const found = new Map<string, PhysicalTable>();
  for (const source of tableNames.flatMap((name) => tables[name] ?? [])) {
    const plain = /^[^\s()]+$/.test(source.from);
    for (const path of plain ? [source.from.replaceAll('`', '')] : pathsIn(source.from)) {
      if (found.has(path) || (await columns(path)) === undefined) continue;
      const [row] = await rows(
        `SELECT database, name, engine_full FROM system.tables WHERE concat(database, '.', name) = ${literal(path)}
           OR (database = currentDatabase() AND name = ${literal(path)})`,
      );
      const at = path.indexOf('.');
      const [database, table] =
        row === undefined
          ? [at === -1 ? own : path.slice(0, at), path.slice(at + 1)]
          : [textOf(row['database']), textOf(row['name'])];
      const local = localOf(textOf(row?.['engine_full']));
      found.set(path, {
        database,
        table,
        source,
        alone: plain,
        ...(local === undefined ? {} : { local }),
      });
    }
  }
  return [...found.values()];
}

/** Whatever in a FROM item reads like `database.table`. */
function pathsIn(from: string): readonly string[] {
  return [...new Set(from.replaceAll('`', '').match(/[^\s().,=]+\.[^\s().,=]+/g))];
}

function localOf(engine: string): PhysicalTable['local'] {
  const [, database, table] = /^Distributed\('[^']*', '([^']*)', '([^']*)'/.exec(engine) ?? [];
  return database === undefined || table === undefined ? undefined : { database, table };
}

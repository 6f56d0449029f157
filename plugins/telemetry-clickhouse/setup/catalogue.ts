import type { PhysicalColumns } from '../../../src/contract/telemetry/index.ts';
import { textOf } from '../quote.ts';
import type { Rows } from '../quote.ts';

/** A table that is there. */
export interface FoundTable {
  readonly database: string;
  readonly name: string;
  readonly engine: string;
  readonly rows: number;
  readonly columns: ReadonlyMap<string, string>;
}

const most = 200_000;
const own = "('system', 'INFORMATION_SCHEMA', 'information_schema')";

/** Every table that the account sees and that holds rows of its own or of its shards, the fullest first. */
export async function catalogue(rows: Rows): Promise<readonly FoundTable[]> {
  const tables = await rows(
    `SELECT database, name, engine, toUInt64(ifNull(total_rows, 0)) AS rows FROM system.tables
       WHERE database NOT IN ${own} AND NOT is_temporary AND NOT startsWith(name, '.inner')
         AND engine NOT IN ('MaterializedView', 'Null', 'Kafka', 'RabbitMQ', 'NATS', 'Dictionary', 'Set', 'Join')
       ORDER BY rows DESC, database, name`,
  );
  const columns = new Map<string, Map<string, string>>();
  for (const row of await rows(
    `SELECT database, table, name, type FROM system.columns WHERE database NOT IN ${own}
       ORDER BY database, table, position LIMIT ${most}`,
  )) {
    const path = `${textOf(row['database'])}.${textOf(row['table'])}`;
    const of = columns.get(path) ?? new Map<string, string>();
    columns.set(path, of.set(textOf(row['name']), textOf(row['type'])));
  }
  return tables.flatMap((row) => {
    const [database, name] = [textOf(row['database']), textOf(row['name'])];
    const of = columns.get(`${database}.${name}`);
    if (of === undefined) return [];
    return [{ database, name, engine: textOf(row['engine']), rows: Number(row['rows']), columns: of }];
  });
}

/** The columns of what was found, without asking again. */
export function columnsOf(tables: readonly FoundTable[]): PhysicalColumns {
  const byPath = new Map(tables.map(({ database, name, columns }) => [`${database}.${name}`, columns]));
  return async (path) => byPath.get(path);
}

import type { PhysicalColumns } from '../../../src/contract/telemetry/index.ts';
import { sentSettings } from '../client/settings.ts';
import { textOf, type Rows } from '../quote.ts';

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
    `SELECT database, table, name, type FROM system.columns WHERE database NOT IN ${own} AND default_kind != 'EPHEMERAL'
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

export interface ProfileSetting {
  readonly name: string;
  readonly value: string | number;
  /** The most that a statement may set it to. Without it, any value; absent `changeable`: none. */
  readonly max?: number;
  readonly changeable: boolean;
}

export interface ProfileLimits {
  /** Seconds. */
  readonly executionSeconds: number;
  /** Bytes a statement may use on each server. */
  readonly memoryBytes: number;
}

/** Readonly, with the settings that the gateway sends with each statement, and those alone. */
export function profileSettings({ executionSeconds, memoryBytes }: ProfileLimits): readonly ProfileSetting[] {
  const fixed = (name: string, value: string | number): ProfileSetting => ({ name, value, changeable: false });
  const free = (name: string, value: string | number, max?: number): ProfileSetting => ({
    name,
    value,
    changeable: true,
    ...(max === undefined ? {} : { max }),
  });
  return [
    fixed('readonly', 1),
    fixed('allow_ddl', 0),
    fixed('allow_introspection_functions', 0),
    fixed('use_query_cache', 0),
    free('max_execution_time', executionSeconds, executionSeconds),
    free('timeout_before_checking_execution_speed', 0),
    free('timeout_overflow_mode', 'throw'),
    free('max_memory_usage', memoryBytes, memoryBytes),
    free('max_result_rows', 0),
    free('max_result_bytes', 0),
    free('result_overflow_mode', 'throw'),
    free('max_block_size', 65_409),
    free('enable_http_compression', 0),
    ...Object.entries(sentSettings).map(([name, value]) => free(name, value)),
  ];
}

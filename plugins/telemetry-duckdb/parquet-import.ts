import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import {
  otelTables,
  tableNames,
  type ImportedStretch,
  type LogicalColumn,
  type TableName,
} from '../../src/contract/telemetry/index.ts';
import { emptyValue, newestFormat, schemaStatements, storedType } from './engine/schema.ts';

/** A database file made of Parquet files. No engine may have the file open; what was in it is gone. */
export async function importParquet(
  file: string,
  files: Readonly<Partial<Record<TableName, string>>>,
): Promise<readonly ImportedStretch[]> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(file, { force: true });
  const instance = await DuckDBInstance.create(file, { storage_compatibility_version: newestFormat });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    for (const statement of schemaStatements) await connection.run(statement);
    const stretches: ImportedStretch[] = [];
    for (const table of tableNames) {
      const path = files[table];
      if (path !== undefined) stretches.push(...(await importTable(connection, table, path)));
    }
    return stretches;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function importTable(connection: DuckDBConnection, table: TableName, path: string): Promise<ImportedStretch[]> {
  const source = `read_parquet('${path.replaceAll("'", "''")}')`;
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`);
  const present = new Set(described.getRows().map(([name]) => String(name)));
  const time = present.has('time') ? '"time"' : '"start_time"';
  const columns = otelTables[table].columns.map((column) => select(column, present));
  await connection.run(
    `INSERT INTO otel.${table} SELECT ${columns.join(', ')} FROM ${source} WHERE ${time} IS NOT NULL ORDER BY ${time}`,
  );
  const phase = present.has('phase') ? 'CAST(phase AS VARCHAR)' : "''";
  const rows = await connection.runAndReadAll(`SELECT phase, epoch_ms(min(t)), epoch_ms(max(t)) + 1, count(*) FROM (
  SELECT *, sum(is_first) OVER (PARTITION BY phase ORDER BY t) AS stretch FROM (
    SELECT ${phase} AS phase, CAST(${time} AS TIMESTAMP) AS t,
      CASE WHEN t - lag(t) OVER (PARTITION BY ${phase} ORDER BY t) <= INTERVAL 10 MINUTE THEN 0 ELSE 1 END AS is_first
    FROM ${source} WHERE ${time} IS NOT NULL
  )
) GROUP BY phase, stretch ORDER BY min(t)`);
  return rows.getRows().map((row) => {
    const [name, start, end, count] = stretch.parse(row);
    return { table, phase: name, start: new Date(start), end: new Date(end), rows: count };
  });
}

const number = z.bigint().transform(Number);
const stretch = z.tuple([z.string(), number, number, number]);

/** The file's own value, else one that follows from its other columns, else the one that stands for absent. */
function select(column: LogicalColumn, present: ReadonlySet<string>): string {
  const { name, type, nullable } = column;
  const value = derived(name, present);
  if (value === undefined) return `CAST(${nullable ? 'NULL' : empty(type)} AS ${storedType[type]})`;
  const cast = `CAST(${value} AS ${storedType[type]})`;
  return nullable || type === 'timestamp' ? cast : `coalesce(${cast}, ${empty(type)})`;
}

function derived(name: string, present: ReadonlySet<string>): string | undefined {
  if (present.has(name)) return `"${name}"`;
  if (name === 'time' && present.has('start_time')) return '"start_time"';
  if ((name === 'start_time' && present.has('end_time')) || name === 'observed_time') return '"time"';
  if (name === 'duration_nano' && present.has('end_time')) return 'epoch_ns("end_time") - epoch_ns("start_time")';
  if (name === 'end_time' && present.has('duration_nano')) return '"time" + to_microseconds(duration_nano // 1000)';
  if (name === 'resource_attributes' && present.has('pod_name')) {
    return `CASE WHEN pod_name IS NULL THEN MAP {} ELSE MAP {'k8s.pod.name': CAST(pod_name AS VARCHAR)} END`;
  }
  return undefined;
}

function empty(type: LogicalColumn['type']): string {
  return type === 'timestamp' ? 'NULL' : emptyValue[type];
}

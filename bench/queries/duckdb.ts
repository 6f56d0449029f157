import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { dialect } from '../../plugins/telemetry-duckdb/dialect.ts';
import { newestFormat, schemaStatements } from '../../plugins/telemetry-duckdb/engine/schema.ts';
import plugin from '../../plugins/telemetry-duckdb/index.ts';
import { inserts, type Data, type Words } from './spans.ts';
import type { Engine, Progress } from './stage.ts';
import { createWorkspace } from './tool.ts';

const { literal } = dialect.write;

const words: Words = {
  divide: (number, by) => `(${number} // ${by})`,
  md5: (text) => `md5(${text})`,
  text: (value) => `CAST(${value} AS VARCHAR)`,
  map: (entries) =>
    `MAP {${Object.entries(entries)
      .map(([key, value]) => `${literal(key)}: ${value}`)
      .join(', ')}}`,
  time: (micros) => `make_timestamp(${micros})`,
  numbers: (first, count) => `(SELECT range AS i FROM range(${first}, ${first + count})) AS numbers`,
};

/** The organization's file is made before its engine runs, which lets nobody else have it; then the client reads a copy. */
export const duckdb: Engine = {
  name: 'duckdb',
  async start(data, stack, progress) {
    const workspace = await createWorkspace({ plugin: 'duckdb' }, stack);
    const folder = join(workspace.directory, 'telemetry', workspace.organization);
    const file = join(folder, 'telemetry.duckdb');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await load(file, data, progress);
    const copy = join(workspace.directory, 'copy.duckdb');
    await copyFile(file, copy);
    const tool = await workspace.open();

    const { threads, memoryLimitMb } = plugin.configSchema.parse({});
    const instance = await DuckDBInstance.create(copy, {
      access_mode: 'READ_ONLY',
      threads: String(threads),
      memory_limit: `${memoryLimitMb}MB`,
      temp_directory: join(workspace.directory, 'copy.tmp'),
    });
    stack.defer(() => instance.closeSync());
    const connection = await instance.connect();
    stack.defer(() => connection.closeSync());
    return {
      title: `DuckDB ${dialect.version}, beside @duckdb/node-api with as many threads (${threads}) and as much memory (${memoryLimitMb} MB)`,
      words,
      write: dialect.write,
      own: {
        spans: 'otel.spans',
        conditions: [],
        ask: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
      },
      tool,
    };
  },
};

async function load(file: string, data: Data, progress: Progress): Promise<void> {
  const instance = await DuckDBInstance.create(file, { storage_compatibility_version: newestFormat });
  try {
    const connection = await instance.connect();
    for (const statement of schemaStatements) await connection.run(statement);
    let loaded = 0;
    for (const insert of inserts(words, data, { name: 'otel.spans', others: { events: '[]', links: '[]' } })) {
      loaded += (await connection.run(insert)).rowsChanged;
      progress(loaded);
    }
    await connection.run('CHECKPOINT');
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}

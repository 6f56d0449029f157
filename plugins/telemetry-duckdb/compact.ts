import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { SightlineError } from '../../src/contract/core/index.ts';
import { newestFormat } from './engine/schema.ts';

/**
 * Writes the file again, without gaps and in the newest format, and puts the copy in its place once it is whole and on the
 * disk. Undefined where there is none. While this runs no engine can open it.
 */
export async function compactFile(
  file: string,
): Promise<{ readonly before: number; readonly after: number } | undefined> {
  if (!existsSync(file)) return undefined;
  const draft = `${file}.compact`;
  rmSync(draft, { force: true });
  rmSync(`${draft}.wal`, { force: true });
  const instance = await DuckDBInstance.create(file).catch((cause: unknown) => {
    if (!/Could not set lock/i.test(String(cause))) throw cause;
    throw new SightlineError('conflict', 'The telemetry file is in use.', { hint: 'Stop the gateway first.', cause });
  });
  try {
    const connection = await instance.connect();
    // From here on the old file has no log beside it, which would be replayed into the new one.
    await connection.run('CHECKPOINT');
    const before = statSync(file).size;
    const [[own] = []] = (await connection.runAndReadAll('SELECT current_database()')).getRows();
    await connection.run(`ATTACH '${draft.replaceAll("'", "''")}' AS compacted (STORAGE_VERSION '${newestFormat}')`);
    await connection.run(`COPY FROM DATABASE "${String(own)}" TO compacted`);
    await connection.run('CHECKPOINT compacted');
    await connection.run('DETACH compacted');
    connection.closeSync();
    await synced(draft);
    renameSync(draft, file);
    await synced(dirname(file));
    return { before, after: statSync(file).size };
  } finally {
    instance.closeSync();
    rmSync(draft, { force: true });
  }
}

async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

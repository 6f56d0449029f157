import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Why the real engine cannot run here; undefined where it can. */
export function engineMissing(): string | undefined {
  try {
    const chdb = createRequire(require.resolve('chdb/package.json'));
    chdb.resolve(`@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`);
    return undefined;
  } catch {
    return `the ClickHouse engine (npm chdb) has no library for ${process.platform} ${process.arch}`;
  }
}

/** What chdb keeps from its own API: the engine's parser, and inserts of any format. */
export interface NativeEngine {
  DurableClassifyAsync(connection: unknown, sql: string): Promise<{ statementCount: number; queryClass: number }>;
  InsertRawAsyncConnection(
    connection: unknown,
    prefix: string,
    data: Buffer,
    countLines: boolean,
  ): Promise<{ rowsWritten: number; bytesWritten: number }>;
}

export function nativeEngine(): NativeEngine {
  const loader: { loadNative(): NativeEngine } = require(
    join(dirname(require.resolve('chdb/package.json')), 'dist/loader.js'),
  );
  return loader.loadNative();
}

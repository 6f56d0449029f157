import { existsSync, linkSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { EngineSettings } from '../protocol.ts';
import { newestFormat, schemaStatements } from './schema.ts';

export interface Database {
  /** A connection of its own for each query: an interrupt reaches that query alone. */
  connect(): Promise<DuckDBConnection>;
  close(): void;
}

/** The file could not be opened, and waiting does not help. */
export class OpenError extends Error {
  readonly full: boolean;
  constructor(message: string) {
    super(message);
    this.name = 'OpenError';
    this.full = isDiskFull(message);
  }
}

export function isDiskFull(message: string): boolean {
  return /No space left on device|Disk quota exceeded|File too large/i.test(message);
}

/** How long to wait for a dying engine process to give the file up. */
const lockPatienceMs = 8_000;

/** Opens the file. Undefined when another engine process has it and answers on the socket. */
export async function openDatabase(settings: EngineSettings): Promise<Database | undefined> {
  const begin = Date.now();
  for (;;) {
    try {
      if (!existsSync(settings.file)) await makeFile(settings.file);
      return await open(settings);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const locked = /Could not set lock on file/i.test(message);
      if (!locked || Date.now() - begin > lockPatienceMs) throw new OpenError(message);
    }
    if (await answers(settings.socket)) return undefined;
    await sleep(20);
  }
}

/**
 * Makes an empty file beside and links it in place whole: one that a crash, or another engine process at the same moment,
 * finds half made is no database, and would stay so.
 */
async function makeFile(file: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  const instance = await DuckDBInstance.create(draft, {
    enable_external_access: 'false',
    storage_compatibility_version: newestFormat,
  });
  instance.closeSync();
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another one was first.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function open(settings: EngineSettings): Promise<Database> {
  const instance = await DuckDBInstance.create(settings.file, {
    access_mode: 'READ_WRITE',
    threads: String(settings.threads),
    memory_limit: `${settings.memoryLimitMb}MB`,
    temp_directory: settings.temporary,
    max_temp_directory_size: '4GB',
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    allow_persistent_secrets: 'false',
    wal_autocheckpoint: '128MB',
    // A result without ORDER BY has no order; this spares memory.
    preserve_insertion_order: 'false',
  });
  try {
    const connection = await instance.connect();
    // What json_deserialize_sql writes of a lambda is `x -> …`.
    for (const setting of ["TimeZone='UTC'", 'max_expression_depth=250', "lambda_syntax='ENABLE_SINGLE_ARROW'"]) {
      await connection.run(`SET GLOBAL ${setting}`);
    }
    await connection.run('SET GLOBAL lock_configuration=true');
    for (const statement of schemaStatements) await connection.run(statement);
    connection.closeSync();
  } catch (error) {
    instance.closeSync();
    throw error;
  }
  return { connect: () => instance.connect(), close: () => instance.closeSync() };
}

async function answers(socketPath: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(socketPath);
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.setTimeout(500, () => finish(false));
  });
}

import { readFileSync, mkdirSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { exitCode, type EngineSettings } from '../protocol.ts';
import { openDatabase, OpenError } from './database.ts';
import { say } from './job.ts';
import { serve } from './server.ts';

/** The garbage collector closes an unreferenced database, which would release the lock. */
const held: DatabaseSync[] = [];

/**
 * Takes one of the seats that the engines of a data directory have, until this process ends: a lock of SQLite's on a file
 * for each, which the operating system drops however the process dies. False where all are taken.
 */
function takeSeat({ seats }: Pick<EngineSettings, 'seats'>): boolean {
  mkdirSync(seats.folder, { recursive: true, mode: 0o700 });
  for (let number = 1; number <= seats.count; number += 1) {
    const database = new DatabaseSync(join(seats.folder, `${number}.sqlite`));
    try {
      database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
      held.push(database);
      return true;
    } catch (error) {
      database.close();
      if (!isBusy(error)) throw error;
    }
  }
  return false;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/*
 * One organization's engine: opens its file, answers on a socket, ends when nobody is connected any more. Started under
 * an address-space limit, since DuckDB's own memory limit does not hold for single values. It imports files of the contract
 * and not its index, which loads zod: that doubles what a start costs.
 */

// The gateway that reads these may be gone while another one still uses this process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

// Ctrl-C in the gateway's terminal, and its end, are for the gateway: this process ends when nobody is connected.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

// The file, its log and what spills over are for this user alone.
process.umask(0o077);

await main(JSON.parse(process.argv[2] ?? '{}'));

async function main(settings: EngineSettings): Promise<void> {
  if (mustStartAgain()) process.exit(exitCode.again);
  try {
    if (!takeSeat(settings)) process.exit(exitCode.crowded);
    const database = await openDatabase(settings);
    if (database === undefined) process.exit(exitCode.taken);
    serve(database, settings.socket);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(error instanceof OpenError && error.full ? exitCode.full : exitCode.unreadable);
  }
}

/**
 * Node strips types with a WebAssembly module that reserves two gigabytes of addresses, most of what the limit grants.
 * Once the compile cache holds the stripped files the module is not loaded, so a first start only fills the cache.
 */
function mustStartAgain(): boolean {
  if (!import.meta.url.endsWith('.ts') || process.env['SIGHTLINE_ENGINE_WARM'] === '1') return false;
  if (getCompileCacheDir() === undefined) return false;
  const stripperBytes = 1.8e9;
  try {
    const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ', 1)[0]);
    if (pages * 4096 < 1.4e9 + stripperBytes / 2) return false;
  } catch {
    // No /proc: such a platform has no address-space limit either.
    return false;
  }
  flushCompileCache();
  return true;
}

import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';

const holderShape = z.object({ pid: z.number(), url: z.string(), startedAt: z.string() });
export type Holder = z.output<typeof holderShape>;

const locks = new Set<DatabaseSync>();

export interface Exclusive {
  /** Lets other processes know where the holder answers. */
  announce(url: string): void;
  release(): void;
}

const workersFile = 'workers.sqlite';
/** Workers whose primary died end at once, unless something keeps them busy. */
const orphansMs = 10_000;

/**
 * Takes the data directory for one gateway. The lock is SQLite's own on `lock.sqlite`: the operating system drops it when
 * the process dies, however it dies, so nothing goes stale. Waits a moment for workers that a killed primary left behind.
 * Throws `conflict`, naming the holder.
 */
export function holdExclusively(dataDirectory: string): Exclusive {
  const holderFile = join(dataDirectory, 'gateway.json');
  const statements = 'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE';
  const database = lock(dataDirectory, 'lock.sqlite', statements);
  try {
    if (existsSync(join(dataDirectory, workersFile))) {
      lock(dataDirectory, workersFile, `PRAGMA busy_timeout = ${orphansMs}; BEGIN EXCLUSIVE`).close();
    }
  } catch (error) {
    database.close();
    throw error;
  }
  // The garbage collector closes an unreferenced database, which would release the lock.
  locks.add(database);
  let held = true;
  return {
    announce(url) {
      const holder: Holder = { pid: process.pid, url, startedAt: new Date().toISOString() };
      writeFileSync(holderFile, JSON.stringify(holder), { mode: 0o600 });
    },
    release() {
      if (!held) return;
      held = false;
      rmSync(holderFile, { force: true });
      database.close();
      locks.delete(database);
    },
  };
}

/** Makes the holder's successor wait for this process: a worker may outlive its killed primary, and writes there. */
export function joinHold(dataDirectory: string): void {
  locks.add(lock(dataDirectory, workersFile, 'PRAGMA busy_timeout = 1000; BEGIN; SELECT 1 FROM sqlite_schema'));
}

function lock(dataDirectory: string, name: string, statements: string): DatabaseSync {
  const file = join(dataDirectory, name);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    chmodSync(file, 0o600);
    database.exec(statements);
    return database;
  } catch (cause) {
    database?.close();
    const holder = readHolder(dataDirectory);
    const who = holder ? `by process ${holder.pid}, which answers at ${holder.url}` : 'by another process';
    throw hasCode(cause, busy)
      ? new SightlineError('conflict', `The data directory ${dataDirectory} is in use ${who}.`, {
          cause,
          hint: 'Stop that gateway first, or give this one another directory with --data.',
        })
      : new SightlineError(
          'unavailable',
          `The data directory ${dataDirectory} cannot be locked${hasCode(cause, full) ? ': the disk is full' : ''}.`,
          { cause },
        );
  }
}

/** Who says to hold the directory; left behind by a process that was killed, so ask whether it answers. */
export function readHolder(dataDirectory: string): Holder | undefined {
  try {
    return holderShape.parse(JSON.parse(readFileSync(join(dataDirectory, 'gateway.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Result codes of SQLite. */
const busy = 5;
const full = 13;

/** By shape: an error of another realm is no `instanceof`. */
function hasCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === code;
}

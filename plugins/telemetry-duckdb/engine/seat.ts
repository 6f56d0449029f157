import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { EngineSettings } from '../protocol.ts';

/** A database that nobody refers to is closed by the garbage collector, and the lock is gone. */
const held: DatabaseSync[] = [];

/**
 * Takes one of the seats that the engines of a data directory have, until this process ends: a lock of SQLite's on a file
 * for each, which the operating system drops however the process dies. False where all are taken.
 */
export function takeSeat({ seats }: Pick<EngineSettings, 'seats'>): boolean {
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

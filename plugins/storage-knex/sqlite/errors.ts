import { reasons, type SightlineError } from '../../../src/contract/core/index.ts';
import type { Fault } from '../dialect.ts';
import { member, textMember, unusable } from '../errors.ts';
import { noWriteAhead, replaced } from './open.ts';

/** SQLite's primary result codes (sqlite.org/rescode.html); the extended ones carry them in the low byte. */
const result = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

/** The extended code by which the file beside the database, which grows when it is opened, says that the disk is full. */
const sharedMemoryCannotGrow = 4874;

/** By extended code: of a foreign key, a primary key, a unique index. */
const faults: ReadonlyMap<number | undefined, Fault> = new Map([
  [787, 'foreign_key'],
  [1555, 'duplicate'],
  [2067, 'duplicate'],
]);

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && ((code & 0xff) === result.busy || (code & 0xff) === result.locked);
}

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  return faults.get(resultCode(error));
}

/** Undefined for what neither SQLite nor the operating system said. */
export function explain(error: unknown, filename: string): SightlineError | undefined {
  if (resultCode(error) === undefined && textMember(error, 'code') === undefined) return undefined;
  const code = resultCode(error) ?? 0;
  const reason =
    systemReasons.get(textMember(error, 'code') ?? '') ??
    resultReasons.get(String(code)) ??
    resultReasons.get(String(code & 0xff));
  return unusable(
    `file ${filename}`,
    reason ?? ['the database refused the operation', 'The log has the details.'],
    error,
  );
}

const systemReasons = reasons({
  'EACCES EPERM': ['this user may not write there', 'Check the owner and mode of the file and of its folder.'],
  EROFS: ['the file system is read-only'],
  ENOENT: ['its folder does not exist'],
  ENOTDIR: ['a part of its path is not a folder'],
  EISDIR: ['it is a folder'],
  'ENOSPC EDQUOT': ['the disk is full', 'Free some space; what was stored is intact.'],
  'EMFILE ENFILE': ['too many files are open'],
  [replaced]: [
    'it was moved, deleted or replaced while this process had it open',
    'Stop the gateway. Then move the file back, or restore a copy again and remove the files -wal and -shm beside it.',
  ],
  [noWriteAhead]: ['it lies on a file system that SQLite cannot share', 'Put the data directory on a local disk.'],
});

const resultReasons = reasons({
  [`${result.busy} ${result.locked}`]: [
    'another process has kept it locked',
    'Look for a program that holds a transaction open on it.',
  ],
  [result.readOnly]: ['this user may not write to it', 'Check the owner and mode of the file and of its folder.'],
  [result.ioError]: ['the disk failed while reading or writing it', "Look at the operating system's log."],
  [result.corrupt]: ['it is damaged', 'Restore it from a backup, or save what is left with `sqlite3 FILE .recover`.'],
  [`${result.full} ${sharedMemoryCannotGrow}`]: ['the disk is full', 'Free some space; what was stored is intact.'],
  [result.cantOpen]: ['it cannot be opened', 'Check that the path is a file and that its folder can be written.'],
  [result.notADatabase]: ['it is not a SQLite database, or its beginning was overwritten', 'Restore it from a backup.'],
});

function resultCode(error: unknown): number | undefined {
  const code = member(error, 'errcode');
  return typeof code === 'number' ? code : undefined;
}

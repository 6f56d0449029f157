import { SightlineError } from '../../../src/contract/core/index.ts';
import type { Fault } from '../dialect.ts';

/** The `code` of a file that cannot be opened for several processes. */
export const noWriteAhead = 'SIGHTLINE_NO_WAL';

/** What an error of the driver or of the operating system is told by, also on another thread. */
export interface Failure {
  readonly message: string;
  readonly errcode?: number;
  readonly errstr?: string;
  readonly code?: string;
}

/** An error that crosses threads keeps its message alone. Told by its members, as in errors.ts. */
export function failureOf(error: unknown): Failure {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  return {
    message: String(error.message),
    ...('errcode' in error && typeof error.errcode === 'number' && { errcode: error.errcode }),
    ...('errstr' in error && typeof error.errstr === 'string' && { errstr: error.errstr }),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
  };
}

export function errorOf(failure: Failure): Error {
  return Object.assign(new Error(failure.message), failure);
}

/** SQLite's primary result codes (sqlite.org/rescode.html); the extended ones carry them in the low byte. */
const result = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const;

const extended = { foreignKey: 787, primaryKey: 1555, unique: 2067 } as const;

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && ((code & 0xff) === result.busy || (code & 0xff) === result.locked);
}

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  const code = resultCode(error);
  if (code === extended.foreignKey) return 'foreign_key';
  if (code === extended.primaryKey || code === extended.unique) return 'duplicate';
  return undefined;
}

/**
 * The file and the cause are for the operator alone. The engine's own words stay in `cause`. Undefined for
 * what neither SQLite nor the operating system said.
 */
export function explain(error: unknown, filename: string): SightlineError | undefined {
  if (resultCode(error) === undefined && systemCode(error) === undefined) return undefined;
  const [cause, hint] = reason(error);
  return new SightlineError('unavailable', 'The storage of this workspace cannot be used now.', {
    operatorMessage: [`The storage file ${filename} cannot be used: ${cause}.`, hint].filter(Boolean).join(' '),
    cause: error,
  });
}

function reason(error: unknown): readonly [cause: string, hint?: string] {
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM':
      return ['this user may not write there', 'Check the owner and mode of the file and of its folder.'];
    case 'EROFS':
      return ['the file system is read-only'];
    case 'ENOENT':
      return ['its folder does not exist'];
    case 'ENOTDIR':
      return ['a part of its path is not a folder'];
    case 'EISDIR':
      return ['it is a folder'];
    case 'ENOSPC':
    case 'EDQUOT':
      return ['the disk is full', 'Free some space; what was stored is intact.'];
    case 'EMFILE':
    case 'ENFILE':
      return ['too many files are open'];
    case noWriteAhead:
      return ['it lies on a file system that SQLite cannot share', 'Put the data directory on a local disk.'];
    default:
  }
  switch ((resultCode(error) ?? 0) & 0xff) {
    case result.busy:
    case result.locked:
      return ['another process has kept it locked', 'Look for a program that holds a transaction open on it.'];
    case result.readOnly:
      return ['this user may not write to it', 'Check the owner and mode of the file and of its folder.'];
    case result.ioError:
      return ['the disk failed while reading or writing it', "Look at the operating system's log."];
    case result.corrupt:
      return ['it is damaged', 'Restore it from a backup, or save what is left with `sqlite3 FILE .recover`.'];
    case result.full:
      return ['the disk is full', 'Free some space; what was stored is intact.'];
    case result.cantOpen:
      return ['it cannot be opened', 'Check that the path is a file and that its folder can be written.'];
    case result.notADatabase:
      return ['it is not a SQLite database, or its beginning was overwritten', 'Restore it from a backup.'];
    default:
      return ['the database refused the operation', 'The log has the details.'];
  }
}

// Told by their members and not by their class: under a test runner the driver's errors are of another realm.
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

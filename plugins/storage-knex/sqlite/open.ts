import { DatabaseSync } from 'node:sqlite';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';

/** The `code` of a file that cannot be opened for several processes. */
export const noWriteAhead = 'SIGHTLINE_NO_WAL';

/** The `code` of a file that is no longer where it was opened. */
export const replaced = 'SIGHTLINE_REPLACED';

/** Which file a connection opened. */
const opened = new WeakMap<DatabaseSync, string>();

interface OpenOptions {
  /** How long a statement may block the event loop for another process's lock. */
  readonly blockingMs: number;
  readonly readOnly: boolean;
}

/** Opens the file, making it readable by its owner alone; SQLite gives the files beside it the same mode. */
export function openDatabase(filename: string, { blockingMs, readOnly }: OpenOptions): DatabaseSync {
  if (!readOnly) create(filename);
  const database = new DatabaseSync(filename, { timeout: blockingMs, readOnly, enableForeignKeyConstraints: true });
  try {
    if (!readOnly) writeAhead(database);
    // An acknowledged write is on the disk, and not only with the operating system.
    database.exec('PRAGMA synchronous = FULL');
    // What is deleted is overwritten, and not only given free.
    database.exec('PRAGMA secure_delete = ON');
    // A planted view or trigger must not reach functions with effects.
    database.exec('PRAGMA trusted_schema = OFF');
    opened.set(database, fileAt(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Does not open an existing file: closing it would drop all POSIX locks of this process on it, which its other connections
 * hold. Throws the errors that opening would.
 */
function create(filename: string): void {
  if (statSync(filename, { throwIfNoEntry: false })?.isFile() === true) accessSync(filename, constants.W_OK);
  else closeSync(openSync(filename, 'a', 0o600));
}

/** Readers and the one writer do not wait for each other. Some network file systems cannot do it and answer another mode. */
function writeAhead(database: DatabaseSync): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') {
    throw Object.assign(new Error('the file system cannot hold a write-ahead log'), { code: noWriteAhead });
  }
  // After a burst the log is cut back to this instead of keeping its largest size.
  database.exec('PRAGMA journal_size_limit = 67108864');
}

/**
 * Throws where the path names another file than the one that was opened, or none. SQLite goes on writing into a file that was
 * deleted or moved away, and what it commits there is lost with the process.
 */
export function requireInPlace(connection: DatabaseSync): void {
  if (fileAt(connection) === opened.get(connection)) return;
  throw Object.assign(new Error('the file was replaced while it was open'), { code: replaced });
}

function fileAt(connection: DatabaseSync): string {
  const path = connection.location();
  const file = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  return `${file?.dev} ${file?.ino}`;
}

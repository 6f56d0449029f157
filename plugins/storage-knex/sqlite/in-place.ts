import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** The `code` of a file that is no longer where it was opened. */
export const replaced = 'SIGHTLINE_REPLACED';

/** Which file a connection opened. */
const opened = new WeakMap<DatabaseSync, string>();

export function noteFile(connection: DatabaseSync): void {
  opened.set(connection, fileAt(connection));
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

import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SightlineError, errorCode } from '../../contract/core/index.ts';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'it cannot be made there',
};

/** Throws `unavailable` with one sentence where this user may not use the directory; one that is not there yet is no refusal. */
export function requireAccess(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw refused(path, cause);
  }
}

/** Makes the data directory, for its owner alone. Throws `unavailable` with one sentence. */
export function prepareDirectory(path: string): void {
  try {
    // Recursive only where a parent is missing: Node's recursive mkdir never ends below /proc.
    if (!existsSync(path)) mkdirSync(path, { recursive: !existsSync(dirname(path)), mode: 0o700 });
    if (!statSync(path).isDirectory()) throw refusal(path, 'it is a file', undefined);
    requireAccess(path);
    chmodSync(path, 0o700);
  } catch (cause) {
    if (cause instanceof SightlineError) throw cause;
    throw refused(path, cause);
  }
}

/** Identifies the directory independently of its mount point; stored in it. Called only by the holder of its lock. */
export function directoryName(path: string): string {
  const file = join(path, 'directory.id');
  if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600, flush: true });
  return readFileSync(file, 'utf8').trim();
}

function refused(path: string, cause: unknown): SightlineError {
  return refusal(path, reasons[String(errorCode(cause))] ?? 'the operating system refused', cause);
}

function refusal(path: string, why: string, cause: unknown): SightlineError {
  return new SightlineError('unavailable', `The data directory ${path} cannot be used: ${why}.`, {
    cause,
    hint: 'Use it as its owner, or name another one with --data DIR or SIGHTLINE_DATA.',
  });
}

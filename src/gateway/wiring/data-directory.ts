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

/** Makes the data directory, for its owner alone. Throws `unavailable` with one sentence. */
export function prepareDirectory(path: string): void {
  try {
    // Recursive only where a parent is missing: Node's recursive mkdir never ends below /proc.
    if (!existsSync(path)) mkdirSync(path, { recursive: !existsSync(dirname(path)), mode: 0o700 });
    if (!statSync(path).isDirectory()) throw refusal(path, 'it is a file', undefined);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    chmodSync(path, 0o700);
  } catch (cause) {
    if (cause instanceof SightlineError) throw cause;
    throw refusal(path, reasons[String(errorCode(cause))] ?? 'the operating system refused', cause);
  }
}

/** Identifies the directory independently of its mount point; stored in it. Called only by the holder of its lock. */
export function directoryName(path: string): string {
  const file = join(path, 'directory.id');
  if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600, flush: true });
  return readFileSync(file, 'utf8').trim();
}

function refusal(path: string, why: string, cause: unknown): SightlineError {
  return new SightlineError('unavailable', `The data directory ${path} cannot be used: ${why}.`, {
    cause,
    hint: 'Name one you may write with --data DIR or SIGHTLINE_DATA.',
  });
}

import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes all of it at `position`; answers how many bytes that were. */
export async function writeAll(file: FileHandle, parts: readonly Uint8Array[], position: number): Promise<number> {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  let written = 0;
  let rest = parts;
  while (written < total) {
    const { bytesWritten } = await file.writev(rest, position + written);
    written += bytesWritten;
    if (written < total) rest = behind(rest, bytesWritten);
  }
  return total;
}

function behind(parts: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let skip = count;
  const index = parts.findIndex((part) => {
    if (part.length > skip) return true;
    skip -= part.length;
    return false;
  });
  const first = parts[index];
  return first === undefined ? [] : [first.subarray(skip), ...parts.slice(index + 1)];
}

/** Makes the directory, for the owner alone, so that it is still there after a power cut. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at));
}

/** A new file's name is durable only when its directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The operating system's or Node's code for the failure. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

import { mkdir, open, type FileHandle, readdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Which of a gateway's worker processes this is. A gateway of one process is worker 1 of 1. */
export interface WorkerPlace {
  readonly number: number;
  readonly of: number;
}

const named = /^worker-([1-9]\d{0,3})$/;

/**
 * A worker's log directory. The first worker uses the directory of a single-process gateway, so that the number of workers
 * may change between starts. Separate logs keep an answer from waiting for another process's disk write. The warehouse
 * keeps a position for each log, so that nothing is loaded twice, no matter which worker continues it.
 */
export function workerDirectory(ingest: string, { number }: WorkerPlace): string {
  return number === 1 ? ingest : join(ingest, `worker-${number}`);
}

export function isWorkerDirectory(name: string): boolean {
  return named.test(name);
}

/** Directories of workers that there are no more: what lies there is the first worker's to load. */
export async function leftDirectories(ingest: string, { number, of }: WorkerPlace): Promise<readonly string[]> {
  if (number !== 1) return [];
  const names = await readdir(ingest);
  return names.filter((name) => Number(named.exec(name)?.[1] ?? 0) > of).map((name) => join(ingest, name));
}

/** Removes a directory whose logs are all loaded; one in which something was put aside for the operator stays. */
export async function removeEmptied(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rmdir(join(directory, name)).catch(() => undefined);
  await rmdir(directory).catch(() => undefined);
}

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

/** Makes the directory, for the owner alone, so that it is still there after a power cut. False where it was there already. */
export async function makeDirectory(path: string): Promise<boolean> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return false;
  for (let at = path; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at));
  return true;
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

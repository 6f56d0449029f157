import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Which of a gateway's worker processes this is. A gateway of one process is worker 1 of 1. */
export interface WorkerPlace {
  readonly number: number;
  readonly of: number;
}

const named = /^worker-([1-9]\d{0,3})$/;

/**
 * Where a worker keeps its logs: the first where a gateway of one process does, so that their number may change between
 * starts. Each has logs of its own: an answer waits for its own disk write and for no other process, and since the
 * warehouse remembers a position for each log, nothing is loaded twice whoever goes on with it.
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

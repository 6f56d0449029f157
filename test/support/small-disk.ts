import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system in memory that is soon full. */
export interface SmallDisk {
  readonly directory: string;
  /** Writes a file until nothing more fits, and answers how to remove it. */
  fill(): Promise<() => Promise<void>>;
  release(): Promise<void>;
}

/**
 * Takes root, to mount it. Where it cannot be had, that is said in one line; with REQUIRE_SERVICES=1 it throws.
 * @param account whose it is, by name or number
 */
export async function smallDisk(megabytes: number, account = 'root'): Promise<SmallDisk | undefined> {
  // Short: a socket in a data directory has 108 bytes for its path.
  const directory = await mkdtemp(join(tmpdir(), 'sl-'));
  try {
    const { stdout } = await run('id', ['-u', account]);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700,uid=${stdout.trim()}`, 'tmpfs', directory]);
  } catch (error) {
    await rm(directory, { recursive: true });
    if (process.env['REQUIRE_SERVICES'] === '1') throw error;
    process.stderr.write('not run: what happens on a full disk, since it takes root to mount one\n');
    return undefined;
  }
  return {
    directory,
    async fill() {
      const ballast = join(directory, 'ballast');
      const file = await open(ballast, 'w');
      try {
        for (const block of [Buffer.alloc(1 << 20), Buffer.alloc(4096)]) {
          while ((await file.write(block).catch(() => ({ bytesWritten: 0 }))).bytesWritten > 0);
        }
      } finally {
        await file.close();
      }
      return () => rm(ballast);
    },
    async release() {
      await run('umount', ['--lazy', directory]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

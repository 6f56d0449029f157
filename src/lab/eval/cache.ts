import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';

/** A folder in the machine's temporary one for each set of data, kept for the next run; an incomplete one is rebuilt. */
export interface Cache {
  readonly directory: string;
  /** What was kept with the data, if they are whole. */
  read<Kept>(shape: z.ZodType<Kept>): Kept | undefined;
  /** Says that the data are whole. */
  write(kept: unknown): void;
}

export function openCache(key: readonly string[]): Cache {
  const parent = join(tmpdir(), `sightline-eval-${userInfo().uid}`);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const found = lstatSync(parent);
  // Anybody can make a folder of that name there first.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new SightlineError('unavailable', `${parent} is not a folder of this user.`);
  }
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 12);
  const directory = join(parent, name);
  const marker = join(directory, 'whole.json');
  if (!existsSync(marker)) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return {
    directory,
    read(shape) {
      if (!existsSync(marker)) return undefined;
      const parsed = shape.safeParse(JSON.parse(readFileSync(marker, 'utf8')));
      return parsed.success ? parsed.data : undefined;
    },
    write: (kept) => writeFileSync(marker, JSON.stringify(kept)),
  };
}

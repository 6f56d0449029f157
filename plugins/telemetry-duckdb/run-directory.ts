import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where sockets lie: `run` in the data directory, unless a socket's path there would be longer than the system allows. */
export function privateRunDirectory(dataDirectory: string): string {
  const beside = join(dataDirectory, 'run');
  const longest = socketIn(beside, `org_${'0'.repeat(26)}`);
  if (Buffer.byteLength(longest) <= 100) {
    mkdirSync(beside, { recursive: true, mode: 0o700 });
    return beside;
  }
  // The same for every gateway on this data directory, so that they find each other's engines.
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const directory = join(tmpdir(), `sightline-${name}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  // Anybody can make a folder of that name there first.
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`${directory} is not a private folder of this user`);
  }
  return directory;
}

export function socketIn(runDirectory: string, organizationId: string): string {
  return join(runDirectory, `${organizationId}${socketEnding}`);
}

export const socketEnding = '.sock';

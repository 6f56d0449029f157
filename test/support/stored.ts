import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../../src/contract/storage/index.ts';

const artifacts = ['AuthorizationCode', 'Grant', 'Interaction', 'RefreshToken', 'Session'];

/** All that a storage holds, to be searched for what must not be in it: its rows, and the files of its data directory. */
export async function storedBy(storage: Storage, directory: string): Promise<Buffer> {
  const rows = await storage.transfer.snapshot(artifacts, async (snapshot) => {
    const texts: string[] = [];
    for await (const batch of snapshot.batches()) texts.push(JSON.stringify(batch));
    return texts;
  });
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)));
  return Buffer.concat([...rows.map((row) => Buffer.from(row)), ...(await Promise.all(files))]);
}

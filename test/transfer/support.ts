import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import storageKnex from '../../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from '../contract/host.ts';
import { furnish } from '../contract/storage/furniture.ts';
import type { OrganizationId, Vault } from '../../src/contract/core/index.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { createVault } from '../../src/gateway/process/vault.ts';
import { exportWorkspace } from '../../src/records/transfer/export.ts';
import { importWorkspace } from '../../src/records/transfer/import.ts';

export const newMasterKey = (): string => randomBytes(32).toString('base64url');
export const vault: Vault = createVault([newMasterKey()]);
export { createVault, furnish, silentLogger };

/** A storage that is empty and started, in a place of its own. */
export interface Place {
  readonly storage: Storage;
  readonly directory: string;
  remove(): Promise<void>;
}

export async function newPlace(config: object = {}): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'sl-transfer-'));
  const storage = storageKnex.create(
    storageKnex.configSchema.parse({ client: 'sqlite', ...config }),
    testHost(directory),
  );
  await storage.start(AbortSignal.timeout(60_000));
  return {
    storage,
    directory,
    async remove() {
      await storage.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** One with something of everything. */
export async function furnished(): Promise<Place & { readonly organizations: readonly OrganizationId[] }> {
  const place = await newPlace();
  const organizations = await furnish(place.storage, (context) => vault.seal(Buffer.from('secret'), context));
  return { ...place, organizations };
}

let files = 0;

/** Exports to a file of its own. */
export async function exported(
  { storage, directory }: Pick<Place, 'storage' | 'directory'>,
  end = '',
): Promise<string> {
  const file = join(directory, `export-${(files += 1)}.jsonl${end}`);
  await exportWorkspace({ storage, vault, now: () => new Date(), file });
  return file;
}

export function imported({ storage }: Pick<Place, 'storage'>, file: string, keys: Vault = vault) {
  return importWorkspace({ storage, vault: keys, file });
}

/** The lines between the header and the end: what is in the export, and not when it was made. */
export async function rowsOf(file: string): Promise<readonly string[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').slice(1, -2);
}

/** An export with other lines, by somebody who has the master key: everything about it is right but its rows. */
export function signed(header: string, rows: readonly string[]): string {
  const parsed: unknown = JSON.parse(header);
  if (typeof parsed !== 'object' || parsed === null || !('key' in parsed)) throw new Error('no header');
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const [table]: readonly unknown[] = JSON.parse(row);
    counts[String(table)] = (counts[String(table)] ?? 0) + 1;
  }
  const before = [JSON.stringify({ ...parsed, counts }), ...rows, ''].join('\n');
  const digest = createHmac('sha256', vault.open(String(parsed.key), 'export'))
    .update(before)
    .digest('hex');
  return `${before}${JSON.stringify({ end: true, rows: rows.length, digest })}\n`;
}

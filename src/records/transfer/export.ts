import { createHmac, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { SightlineError, type Vault, errorCode } from '../../contract/core/index.ts';
import type { Storage, StorageSnapshot } from '../../contract/storage/index.ts';
import {
  digestAlgorithm,
  format,
  formatVersion,
  opens,
  sealContext,
  type End,
  type Header,
  type RowLine,
} from './format.ts';

/**
 * Of the issuer's artifacts these are moved: with a person's consent and refresh token the client goes on at the new
 * place as if nothing had happened, which is what a move is for. Codes and pages under way are a matter of minutes.
 */
const movedArtifacts = ['Grant', 'RefreshToken'];

const chunkBytes = 256 * 1024;

export interface ExportOptions {
  readonly storage: Pick<Storage, 'transfer'>;
  readonly vault: Vault;
  readonly now: () => Date;
  /** Gzipped where the name ends in `.gz`. */
  readonly file: string;
  /** 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

export interface Exported {
  readonly schema: string;
  readonly counts: Readonly<Record<string, number>>;
  /** Secrets in it that open neither here nor, with the same master key, after an import. */
  readonly unopened: number;
}

/** Writes everything the storage keeps, as of one moment, to a file that appears once it is complete. */
export async function exportWorkspace(options: ExportOptions): Promise<Exported> {
  const { storage, file } = options;
  if (existsSync(file)) {
    throw new SightlineError('invalid_argument', `The file ${file} exists already.`, { hint: 'Name another one.' });
  }
  const partial = `${file}.part`;
  return storage.transfer.snapshot(movedArtifacts, async (snapshot) => {
    const found = { unopened: 0 };
    try {
      await rm(partial, { force: true });
      // Hashes of passwords and keys are in it: for its owner alone.
      const target = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
      const source = Readable.from(chunksOf(snapshot, options, found), { objectMode: false });
      if (file.endsWith('.gz')) await pipeline(source, createGzip(), target);
      else await pipeline(source, target);
      await rename(partial, file);
      await syncFolder(dirname(file));
    } catch (error) {
      await rm(partial, { force: true });
      throw error instanceof SightlineError ? error : unwritable(file, error);
    }
    return { schema: storage.transfer.schema, counts: snapshot.counts, ...found };
  });
}

async function* chunksOf(
  snapshot: StorageSnapshot,
  { storage, vault, now, onProgress }: ExportOptions,
  found: { unopened: number },
): AsyncGenerator<Buffer> {
  const key = randomBytes(32);
  const digest = createHmac(digestAlgorithm, key);
  const { counts } = snapshot;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  let rows = 0;
  let text = line({
    format,
    version: formatVersion,
    schema: storage.transfer.schema,
    exportedAt: now().toISOString(),
    key: vault.seal(key, sealContext),
    counts,
  });
  for await (const batch of snapshot.batches()) {
    for (const row of batch.rows) {
      if (!opens(vault, batch.table, row)) found.unopened += 1;
      text += line([batch.table, batch.organizationId ?? null, row]);
      if (text.length > chunkBytes) {
        const chunk = Buffer.from(text);
        digest.update(chunk);
        yield chunk;
        text = '';
      }
    }
    rows += batch.rows.length;
    onProgress?.(total === 0 ? 1 : rows / total);
  }
  const rest = Buffer.from(text);
  digest.update(rest);
  yield rest;
  const { unopened } = found;
  if (unopened > 0) digest.update(`${unopened}\n`);
  yield Buffer.from(line({ end: true, rows, ...(unopened > 0 && { unopened }), digest: digest.digest('hex') }));
}

function line(value: Header | RowLine | End): string {
  return `${JSON.stringify(value)}\n`;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unwritable(file: string, cause: unknown): SightlineError {
  const code = errorCode(cause);
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new SightlineError('unavailable', `The file ${file} cannot be written${full ? ': the disk is full' : ''}.`, {
    hint: full
      ? 'Free some space, or name a file on another disk.'
      : 'Check that its folder exists and can be written.',
    cause,
  });
}

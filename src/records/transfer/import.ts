import { createHmac, timingSafeEqual, type Hmac } from 'node:crypto';
import { SightlineError, isId, type Vault } from '../../contract/core/index.ts';
import type { Storage, TransferBatch, TransferRow } from '../../contract/storage/index.ts';
import {
  bytesOf,
  damaged,
  digestAlgorithm,
  linesOf,
  opens,
  parseHeader,
  parseLine,
  sealContext,
  type End,
  type Header,
} from './format.ts';

const batchRows = 200;

/** Of JSON; databases bound what one statement may carry. */
const batchBytes = 1024 * 1024;

export interface ImportOptions {
  readonly storage: Pick<Storage, 'transfer'>;
  readonly vault: Vault;
  readonly file: string;
  /** 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

export interface Imported {
  readonly exportedAt: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** Takes an export in whole, into a storage that is empty. Whatever is wrong with it, nothing is written then. */
export async function importWorkspace({ storage, vault, file, onProgress }: ImportOptions): Promise<Imported> {
  const lines = linesOf(bytesOf(file));
  try {
    const first = await lines.next();
    if (first.done === true) throw damaged('it is empty');
    const header = parseHeader(first.value);
    requireSchema(header, storage.transfer.schema);
    const digest = createHmac(digestAlgorithm, openKey(header, vault));
    feed(digest, first.value);
    await storage.transfer.restore(batchesOf({ header, lines, digest, vault, onProgress }));
    return { exportedAt: header.exportedAt, counts: header.counts };
  } finally {
    await lines.return(undefined);
  }
}

interface Reading {
  readonly header: Header;
  /** Behind the header. */
  readonly lines: AsyncGenerator<Buffer>;
  readonly digest: Hmac;
  readonly vault: Vault;
  readonly onProgress: ((fraction: number) => void) | undefined;
}

/** Ends well only where the file does: the digest is right, and nothing follows it. */
async function* batchesOf({ header, lines, digest, vault, onProgress }: Reading): AsyncGenerator<TransferBatch> {
  const total = Object.values(header.counts).reduce((sum, count) => sum + count, 0);
  const found: Record<string, number> = {};
  let read = 0;
  let unopened = 0;
  let end: End | undefined;
  let pending: { table: string; organization: string | null; rows: TransferRow[]; bytes: number } | undefined;
  for await (const line of lines) {
    if (end !== undefined) throw damaged('something follows its end');
    const parsed = parseLine(line, read + 2);
    if (!Array.isArray(parsed)) {
      end = parsed;
      continue;
    }
    feed(digest, line);
    const [table, organization, row] = parsed;
    if (!opens(vault, table, row)) unopened += 1;
    const full = pending !== undefined && (pending.rows.length >= batchRows || pending.bytes > batchBytes);
    if (pending !== undefined && (full || pending.table !== table || pending.organization !== organization)) {
      yield batchOf(pending);
      pending = undefined;
    }
    pending ??= { table, organization, rows: [], bytes: 0 };
    pending.rows.push(row);
    pending.bytes += line.length;
    found[table] = (found[table] ?? 0) + 1;
    read += 1;
    if (read % 1_000 === 0) onProgress?.(Math.min(1, read / total));
  }
  if (end === undefined) throw damaged('it ends too early');
  if (end.unopened !== undefined) feed(digest, Buffer.from(String(end.unopened)));
  if (!timingSafeEqual(digest.digest(), Buffer.from(end.digest, 'hex'))) throw damaged('its digest is another one');
  const wrong = Object.entries(header.counts).find(([table, count]) => (found[table] ?? 0) !== count);
  if (wrong !== undefined || end.rows !== read || total !== read)
    throw damaged('it has more or fewer rows than it says');
  // One that does not open here, though it did there, would first be missed when it is needed.
  if (unopened > (end.unopened ?? 0)) throw keyMissing();
  if (pending !== undefined) yield batchOf(pending);
}

function batchOf({ table, organization, rows }: { table: string; organization: string | null; rows: TransferRow[] }) {
  if (organization === null) return { table, rows };
  if (!isId('org', organization)) throw damaged('it names an organization that cannot be one');
  return { table, organizationId: organization, rows };
}

function feed(digest: Hmac, line: Buffer): void {
  digest.update(line).update('\n');
}

function requireSchema(header: Header, schema: string): void {
  if (header.schema === schema) return;
  throw new SightlineError('invalid_argument', `The export has schema ${header.schema}, and this storage ${schema}.`, {
    hint: 'Export and import with the same version of Sightline, and upgrade before or after.',
  });
}

function keyMissing(): SightlineError {
  return new SightlineError('config_invalid', 'The export has secrets under a master key that is not here.', {
    hint: 'Bring the whole master.key of the exported workspace: while a key is replaced there are several in it.',
  });
}

function openKey(header: Header, vault: Vault): Uint8Array {
  try {
    return vault.open(header.key, sealContext);
  } catch (cause) {
    throw new SightlineError('config_invalid', 'The export was made under another master key.', {
      hint: 'Bring the master.key of the exported workspace to this data directory, or set SIGHTLINE_MASTER_KEY to it.',
      cause,
    });
  }
}

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { SightlineError, nestsDeeperThan, parseJson, errorCode, type Vault } from '../../contract/core/index.ts';
import type { TransferRow } from '../../contract/storage/index.ts';

const newline = 0x0a;

/*
 * An export is lines of JSON, gzipped where its name ends in `.gz`: a header, the rows, and an end with the digest of all
 * bytes before it. The digest is an HMAC under a key of the file's own, which stands in the header sealed with the master
 * key: who does not have that key can neither read an export's secrets nor change or make one.
 */

export const format = 'sightline-export';
/** Of the lines; what rows mean is said by the schema. */
export const formatVersion = 1;
export const sealContext = 'export';
export const digestAlgorithm = 'sha256';

/** Far above what any row of ours takes: a statement's result, a document. */
const longestLine = 64 * 1024 * 1024;

/** Lines of ours are flat. */
const deepestLine = 8;

const count = z.int().min(0);

const headerSchema = z.strictObject({
  format: z.literal(format),
  version: z.literal(formatVersion),
  schema: z.string().max(200),
  exportedAt: z.iso.datetime(),
  key: z.string().max(1_000),
  /** Rows by table. */
  counts: z.record(z.string().max(100), count),
});

/** Table, organization or null, row. */
const rowSchema = z.tuple([
  z.string(),
  z.string().nullable(),
  z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
]);

const endSchema = z.strictObject({
  end: z.literal(true),
  rows: count,
  /** Sealed values that did not open where it was written; absent for none, else a line of its own to the digest. */
  unopened: z.int().min(1).optional(),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});

export type Header = z.output<typeof headerSchema>;
export type RowLine = z.output<typeof rowSchema>;
export type End = z.output<typeof endSchema>;

/** What is kept sealed, and the context each was sealed under. */
const sealed: Readonly<Record<string, { readonly column: string; readonly context: (row: TransferRow) => string }>> = {
  signing_keys: { column: 'sealed_private_jwk', context: ({ kid }) => `signing-key:${String(kid)}` },
  ingest_tokens: { column: 'sealed', context: ({ id }) => `ingest-token:${String(id)}` },
  webhooks: { column: 'sealed_secret', context: ({ id }) => `webhook:${String(id)}` },
  alert_sources: { column: 'sealed', context: ({ id }) => `alert-source:${String(id)}` },
};

/** Sealed values are moved as they are. */
export function opens(vault: Vault, table: string, row: TransferRow): boolean {
  const known = sealed[table];
  if (known === undefined) return true;
  try {
    vault.open(String(row[known.column]), known.context(row));
    return true;
  } catch {
    return false;
  }
}

export function parseHeader(line: Buffer): Header {
  const value = parseJson(line.toString('utf8'));
  const begun = z.looseObject({ format: z.literal(format), version: z.number() }).safeParse(value);
  if (begun.success && begun.data.version !== formatVersion) {
    const message = `The export is of version ${begun.data.version}; this version of Sightline reads version ${formatVersion}.`;
    const hint = 'Import it with the version of Sightline that wrote it, then upgrade.';
    throw new SightlineError('invalid_argument', message, { hint });
  }
  const header = headerSchema.safeParse(value);
  if (header.success) return header.data;
  throw new SightlineError('invalid_argument', 'The file is no export of Sightline.', {
    hint: 'sightline export FILE writes one.',
  });
}

/** A row, or the end. */
export function parseLine(line: Buffer, number: number): RowLine | End {
  const value = parseJson(line.toString('utf8'));
  const end = endSchema.safeParse(value);
  if (end.success) return end.data;
  const row = rowSchema.safeParse(value);
  if (row.success) return row.data;
  throw damaged(`line ${number} is not as it was written`);
}

export function damaged(why: string, cause?: unknown): SightlineError {
  return new SightlineError('invalid_argument', `The export cannot be used: ${why}.`, {
    hint: 'It was cut short, damaged or changed. Nothing was written; take another copy.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The lines of a stream of bytes, without their ends. One that is not ended is refused, and so is one too long or deep to be ours. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const last = bytes.subarray(start, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      if (nestsDeeperThan(line, deepestLine)) throw damaged('a line of it nests too deep');
      yield line;
      parts = [];
      held = 0;
      start = end + 1;
    }
    const rest = bytes.subarray(start);
    if (rest.length === 0) continue;
    parts.push(rest);
    held += rest.length;
    if (held > longestLine) throw damaged('a line of it is too long');
  }
  if (held > 0) throw damaged('it ends within a line');
}

/** What is in the file, unpacked where it is gzipped. Throws SightlineErrors alone. */
export async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    const packed = await isGzipped(file);
    const source = createReadStream(file, { highWaterMark: 256 * 1024 });
    if (!packed) {
      yield* source;
      return;
    }
    const unpacked = createGunzip();
    // The reader gets its failure.
    pipeline(source, unpacked).catch(() => {});
    yield* unpacked;
  } catch (cause) {
    if (cause instanceof SightlineError) throw cause;
    const code = errorCode(cause);
    if (code === 'Z_BUF_ERROR') throw damaged('it ends too early', cause);
    if (typeof code === 'string' && code.startsWith('Z_'))
      throw damaged('what is packed in it cannot be unpacked', cause);
    const why = code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new SightlineError('invalid_argument', `The file ${file} ${why}.`, { cause });
  }
}

async function isGzipped(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

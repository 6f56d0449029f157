import { randomBytes } from 'node:crypto';
import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Logger } from '../../contract/core/index.ts';
import { tableNames } from '../../contract/telemetry/index.ts';
import type { EncodedBatch } from './columns.ts';
import { writeAll } from './files.ts';

/*
 * A record of the ingest log, in the byte order of the machine, each at a multiple of eight:
 *
 *   u64 marker · u32 CRC-32 of the header · u32 CRC-32 of the payload ·
 *   u32 payload bytes · u32 rows · u32 text bytes · u8 table · u8 flags · u16 0 · payload
 *
 * The marker is random and stands in the name of the segment. No sender knows it, so nothing in a payload is taken for a
 * record, wherever the reader looks for one. Version 0.1.0 wrote segments without a marker:
 *
 *   u32 'SLR1' · u32 CRC-32 of all that follows · u32 payload bytes · u32 rows · u32 text bytes · u8 table · u8 flags · u16 0 · payload
 *
 * A request's batches are one after another, and only the last is flagged: a tail without it was never acknowledged.
 */

/** Undefined for a segment of 0.1.0. */
export type Marker = Buffer | undefined;

const markerBytes = 8;
const headerBytes = 32;
const firstHeaderBytes = 24;
const firstMagic = 0x31524c53; // 'SLR1'
const flagLast = 1;
/** A batch is closed long before (limits.ts), so a larger length is damage. */
const mostPayload = 1 << 28;

interface Header {
  readonly rows: number;
  readonly textBytes: number;
  /** The last of its request. */
  readonly last: boolean;
  /** Where the payload lies; the next record starts at its end. */
  readonly from: number;
  readonly end: number;
  /** Of the payload, continued from `seed`. */
  readonly crc: number;
  readonly seed: number;
}

export interface LogRecord extends Header {
  readonly payload: Uint8Array;
}

/** Header and payload of each, ready to be written one behind the other. */
export function encodeRecords(batches: readonly EncodedBatch[], marker: Buffer): Uint8Array[] {
  return batches.flatMap(({ table, rows, textBytes, frame, crc }, index) => {
    const header = Buffer.alloc(headerBytes);
    marker.copy(header);
    header.writeUInt32LE(crc, 12);
    header.writeUInt32LE(frame.length, 16);
    header.writeUInt32LE(rows, 20);
    header.writeUInt32LE(textBytes, 24);
    header[28] = tableNames.indexOf(table);
    header[29] = index === batches.length - 1 ? flagLast : 0;
    header.writeUInt32LE(headerCrc(header), 8);
    return [header, frame];
  });
}

/** Bytes that `encodeRecords` makes of the batches. */
export function recordBytes(batches: readonly EncodedBatch[]): number {
  return batches.reduce((sum, { frame }) => sum + headerBytes + frame.length, 0);
}

/** Bytes of a segment of 0.1.0 that may still be checked in search of a record: a sender's text may look like headers there. */
export interface Search {
  left: number;
}

/** Of a segment of so many bytes. */
export function newSearch(bytes: number): Search {
  return { left: 4 * bytes };
}

/** Where the next whole record lies behind damage; undefined if there is none, or none is found with what `search` allows. */
export function nextRecord(bytes: Buffer, after: number, marker: Marker, search: Search): number | undefined {
  if (marker === undefined) return nextFirstRecord(bytes, after, search);
  for (let at = bytes.indexOf(marker, after + 8); at !== -1; at = bytes.indexOf(marker, at + 1)) {
    const record = at % 8 === 0 ? readRecord(bytes, at, marker) : undefined;
    if (record !== undefined && record !== 'damaged') return at;
  }
  return undefined;
}

function nextFirstRecord(bytes: Buffer, after: number, search: Search): number | undefined {
  for (let at = after + 8; at + firstHeaderBytes <= bytes.length; at += 8) {
    if (bytes.readUInt32LE(at) !== firstMagic) continue;
    const header = headerAt(bytes, at, undefined);
    if (header === undefined || header === 'damaged' || header.end > bytes.length) continue;
    search.left -= header.end - at;
    if (search.left < 0) return undefined;
    if (isWhole(bytes, header)) return at;
  }
  return undefined;
}

/** The record at `at`: undefined if the bytes end inside it, 'damaged' if they are not one. */
export function readRecord(bytes: Buffer, at: number, marker: Marker): LogRecord | 'damaged' | undefined {
  const header = headerAt(bytes, at, marker);
  if (header === undefined || header === 'damaged') return header;
  if (header.end > bytes.length) return undefined;
  return isWhole(bytes, header) ? { ...header, payload: bytes.subarray(header.from, header.end) } : 'damaged';
}

/** How far the record at `at` reaches by its header; `at` where there is none. */
export function recordEnd(bytes: Buffer, at: number, marker: Marker): number {
  const header = headerAt(bytes, at, marker);
  return header === undefined || header === 'damaged' ? at : header.end;
}

function isWhole(bytes: Buffer, { from, end, crc, seed }: Header): boolean {
  return crc32(bytes.subarray(from, end), seed) === crc;
}

function headerAt(bytes: Buffer, at: number, marker: Marker): Header | 'damaged' | undefined {
  const size = marker === undefined ? firstHeaderBytes : headerBytes;
  if (bytes.length - at < size) return undefined;
  const header = bytes.subarray(at, at + size);
  const isHeader =
    marker === undefined
      ? header.readUInt32LE(0) === firstMagic
      : header.subarray(0, markerBytes).equals(marker) && header.readUInt32LE(8) === headerCrc(header);
  // The rest of both headers is the same.
  const payload = header.readUInt32LE(size - 16);
  if (!isHeader || payload > mostPayload) return 'damaged';
  return {
    rows: header.readUInt32LE(size - 12),
    textBytes: header.readUInt32LE(size - 8),
    last: header[size - 3] === flagLast,
    from: at + size,
    end: at + size + payload,
    crc: header.readUInt32LE(size - 20),
    seed: marker === undefined ? crc32(header.subarray(8)) : 0,
  };
}

function headerCrc(header: Buffer): number {
  return crc32(header.subarray(12), crc32(header.subarray(0, markerBytes)));
}

/** A file of records, the newest of which is written to. */
export interface Segment {
  readonly number: number;
  /** Of its records. It stands in the file's name, where no damage of the file takes it away. */
  readonly marker: Marker;
  readonly search: Search;
  /** Bytes that are on the disk for good. */
  end: number;
}

/** The segments in a log's directory, oldest first; cuts a torn tail of the newest. */
export async function readSegments(path: string, logger: Logger): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (const file of await readdir(path)) {
    const [, number, marker] = /^(\d{12})(?:-([0-9a-f]{16}))?\.log$/.exec(file) ?? [];
    if (number === undefined) continue;
    const { size } = await stat(join(path, file));
    segments.push({
      number: Number(number),
      marker: marker === undefined ? undefined : Buffer.from(marker, 'hex'),
      search: newSearch(size),
      end: size,
    });
  }
  segments.sort((a, b) => a.number - b.number);
  const newest = segments.at(-1);
  if (newest !== undefined) newest.end = await cutTornTail(segmentPath(path, newest), newest, logger);
  return segments;
}

/** One that is begun, without its file. */
export function startedSegment(number: number): Segment {
  return { number, marker: randomBytes(markerBytes), search: newSearch(0), end: 0 };
}

export function segmentPath(directory: string, { number, marker }: Pick<Segment, 'number' | 'marker'>): string {
  const end = marker === undefined ? '' : `-${marker.toString('hex')}`;
  return join(directory, `${String(number).padStart(12, '0')}${end}.log`);
}

export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

/** For the operator; answers where. */
export async function keepAside(path: string, parts: readonly Uint8Array[]): Promise<string> {
  const copy = await open(path, 'w', 0o600);
  try {
    await writeAll(copy, parts, 0);
    await copy.sync();
  } finally {
    await copy.close();
  }
  return path;
}

/** Of a segment. */
export function damagedPath(segment: string, offset: number): string {
  return `${segment}-${offset}.damaged`;
}

/** Answers the size that is left: up to the last whole request. What is damaged before it is left to the reader. */
async function cutTornTail(path: string, { marker, search }: Segment, logger: Logger): Promise<number> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const bytes = await readAt(file, 0, size);
    let whole = 0;
    for (let at: number | undefined = 0; at !== undefined;) {
      const record = readRecord(bytes, at, marker);
      if (record === undefined || record === 'damaged') at = nextRecord(bytes, at, marker, search);
      else {
        at = record.end;
        if (record.last) whole = at;
      }
    }
    if (whole === size) return size;
    // A write that a crash ended was never acknowledged; but damage of the last record looks the same.
    // A full disk leaves such ends, and has no room for a copy.
    const kept = await keepAside(damagedPath(path, whole), [bytes.subarray(whole)]).catch(() => undefined);
    logger.warn(
      { segment: path, cut: size - whole, kept },
      'cut off the end of the ingest log, which holds no whole request',
    );
    await file.truncate(whole);
    await file.sync();
    return whole;
  } finally {
    await file.close();
  }
}

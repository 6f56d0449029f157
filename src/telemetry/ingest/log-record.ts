import { crc32 } from 'node:zlib';
import { tableNames } from '../../contract/telemetry/index.ts';
import type { EncodedBatch } from './columns.ts';

/*
 * A record of the ingest log, in the byte order of the machine, each at a multiple of eight:
 *
 *   u32 magic · u32 CRC-32 of all that follows · u32 payload bytes · u32 rows · u32 text bytes · u8 table · u8 flags · u16 0 · payload
 *
 * A request's batches are one after another, and only the last is flagged: a tail without it was never acknowledged.
 */

export const recordHeaderBytes = 24;
const magic = 0x31524c53; // 'SLR1'
const flagLast = 1;
/** A batch is closed long before (limits.ts), so a larger length is damage. */
const mostPayload = 1 << 28;

export interface LogRecord {
  readonly rows: number;
  readonly textBytes: number;
  /** The last of its request. */
  readonly last: boolean;
  readonly payload: Uint8Array;
  /** Where the next record starts. */
  readonly end: number;
}

/** Header and payload of each, ready to be written one behind the other. */
export function encodeRecords(batches: readonly EncodedBatch[]): Uint8Array[] {
  return batches.flatMap(({ table, rows, textBytes, frame }, index) => {
    const header = Buffer.alloc(recordHeaderBytes);
    header.writeUInt32LE(magic, 0);
    header.writeUInt32LE(frame.length, 8);
    header.writeUInt32LE(rows, 12);
    header.writeUInt32LE(textBytes, 16);
    header[20] = tableNames.indexOf(table);
    header[21] = index === batches.length - 1 ? flagLast : 0;
    header.writeUInt32LE(crc32(frame, crc32(header.subarray(8))), 4);
    return [header, frame];
  });
}

/** Where the next whole record lies behind damage; undefined if there is none. */
export function nextRecord(bytes: Buffer, after: number): number | undefined {
  for (let at = after + 8; at + recordHeaderBytes <= bytes.length; at += 8) {
    if (bytes.readUInt32LE(at) !== magic) continue;
    const record = readRecord(bytes, at);
    if (record !== undefined && record !== 'damaged') return at;
  }
  return undefined;
}

/** The record at `at`: undefined if the bytes end inside it, 'damaged' if they are not one. */
export function readRecord(bytes: Buffer, at: number): LogRecord | 'damaged' | undefined {
  if (bytes.length - at < recordHeaderBytes) return undefined;
  const size = bytes.readUInt32LE(at + 8);
  if (bytes.readUInt32LE(at) !== magic || size > mostPayload) return 'damaged';
  const from = at + recordHeaderBytes;
  const end = from + size;
  if (end > bytes.length) return undefined;
  if (bytes.readUInt32LE(at + 4) !== crc32(bytes.subarray(at + 8, end))) return 'damaged';
  return {
    rows: bytes.readUInt32LE(at + 12),
    textBytes: bytes.readUInt32LE(at + 16),
    last: bytes[at + 21] === flagLast,
    payload: bytes.subarray(from, end),
    end,
  };
}

import { randomBytes } from 'node:crypto';
import { open, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, type Logger } from '../../contract/core/index.ts';
import type { LogPosition } from '../../contract/telemetry/index.ts';
import type { EncodedBatch } from './columns.ts';
import { makeDirectory, syncDirectory, writeAll } from './files.ts';
import {
  damagedPath,
  encodeRecords,
  keepAside,
  nextRecord,
  readAt,
  readRecord,
  readSegments,
  recordBytes,
  recordEnd,
  segmentPath,
  startedSegment,
  type Segment,
} from './log-segment.ts';

/** The log could not be written; the request is not stored and may be sent again. */
export class LogWriteError extends Error {
  /** No space is left. */
  readonly full: boolean;

  constructor(cause: unknown) {
    super('the ingest log cannot be written', { cause });
    this.name = 'LogWriteError';
    this.full = ['ENOSPC', 'EDQUOT'].some((code) => code === errorCode(cause));
  }
}

export interface LogChunk {
  readonly batches: readonly Uint8Array[];
  readonly rows: number;
  readonly upTo: LogPosition;
}

interface Waiting {
  readonly batches: readonly EncodedBatch[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const segmentBytes = 64 * 1024 * 1024;
/** What one fsync covers at most, so that a burst does not make the first wait for the last. */
const groupBytes = 16 * 1024 * 1024;
const groupRequests = 256;

/** Random, so that the warehouse never applies a stored position to another log. */
export function newLogName(): string {
  return `log-${randomBytes(6).toString('hex')}`;
}

export function isLogName(name: string): boolean {
  return /^log-[0-9a-f]{12}$/.test(name);
}

/**
 * The write-ahead log between the sender's answer and the warehouse: append-only segments in one directory. What `append`
 * resolved for survives a kill at any point; a tail without a whole request is cut off at the next start.
 */
export class IngestLog {
  #name: string;
  #directory: string;
  readonly #logger: Logger;
  /** Oldest first. The newest is kept even when it is empty: its number says where the next one goes on. */
  readonly #segments: Segment[];
  #writing: FileHandle | undefined;
  #reading: { readonly number: number; readonly file: FileHandle } | undefined;
  #waiting: Waiting[] = [];
  #commit: Promise<void> | undefined;
  #closed = false;
  /** Made and not written to, for lack of space; it is used again, else a full disk fills with empty files. */
  #failed: Segment | undefined;
  /** Whether the last write found no space. */
  full = false;
  /** Made when it was opened: no warehouse knows its name. */
  readonly isNew: boolean;

  private constructor(directory: string, name: string, isNew: boolean, segments: Segment[], logger: Logger) {
    this.isNew = isNew;
    this.#directory = directory;
    this.#name = name;
    this.#segments = segments;
    this.#logger = logger;
  }

  /** Opens the log in `directory`/`name`, making it if there is none; cuts a torn tail. */
  static async open(directory: string, name: string, logger: Logger): Promise<IngestLog> {
    const path = join(directory, name);
    const isNew = await makeDirectory(path);
    return new IngestLog(path, name, isNew, await readSegments(path, logger), logger);
  }

  /** What the warehouse knows it by. */
  get name(): string {
    return this.#name;
  }

  /** Goes on under another name, with all its records. An append at this very moment may fail, and is then not acknowledged. */
  async rename(name: string): Promise<void> {
    const parent = dirname(this.#directory);
    const renamed = join(parent, name);
    await rename(this.#directory, renamed);
    await syncDirectory(parent);
    this.#directory = renamed;
    this.#name = name;
  }

  /** Before the first record. */
  get start(): LogPosition {
    return { segment: this.#segments[0]?.number ?? 0, offset: 0 };
  }

  /** Behind the last record that is on the disk for good. */
  get end(): LogPosition {
    const newest = this.#segments.at(-1);
    return { segment: newest?.number ?? 0, offset: newest?.end ?? 0 };
  }

  /** Bytes that lie behind the position. */
  bytesAfter(position: LogPosition): number {
    return this.#segments.reduce((sum, { number, end }) => {
      if (number < position.segment) return sum;
      return sum + (number === position.segment ? Math.max(0, end - position.offset) : end);
    }, 0);
  }

  /** Resolves when the batches are on the disk, all of them; rejects with LogWriteError, and then none of them counts. */
  append(batches: readonly EncodedBatch[]): Promise<void> {
    if (this.#closed) return Promise.reject(new LogWriteError(new Error('the log is closed')));
    const bytes = recordBytes(batches);
    const done = new Promise<void>((resolve, reject) => this.#waiting.push({ batches, bytes, resolve, reject }));
    this.#commit ??= this.#commitWaiting();
    return done;
  }

  /** What follows the position, at most about so much; undefined when there is nothing yet. */
  async read(
    from: LogPosition,
    most: { readonly rows: number; readonly bytes: number; readonly textBytes: number },
  ): Promise<LogChunk | undefined> {
    const segment = this.#segments.find(({ number, end }) =>
      number === from.segment ? end > from.offset : number > from.segment && end > 0,
    );
    if (segment === undefined) return undefined;
    const offset = segment.number === from.segment ? from.offset : 0;
    const { marker } = segment;
    const file = await this.#readable(segment);
    let bytes = await readAt(file, offset, Math.min(segment.end - offset, most.bytes));
    const first = recordEnd(bytes, 0, marker);
    // The first record alone may be longer than `most.bytes`.
    if (first > bytes.length && first <= segment.end - offset) bytes = await readAt(file, offset, first);
    const batches: Uint8Array[] = [];
    let rows = 0;
    let textBytes = 0;
    let at = 0;
    while (rows < most.rows && textBytes < most.textBytes) {
      const record = readRecord(bytes, at, marker);
      if (record === undefined || record === 'damaged') {
        if (batches.length > 0) break;
        return this.#skipDamaged(segment, offset);
      }
      batches.push(record.payload);
      rows += record.rows;
      textBytes += record.textBytes;
      at = record.end;
      if (at === bytes.length) break;
    }
    return { batches, rows, upTo: { segment: segment.number, offset: offset + at } };
  }

  /** Deletes the segments that lie before the position with all they hold. */
  async release(position: LogPosition): Promise<void> {
    while (this.#segments.length > 1) {
      const oldest = this.#segments[0];
      if (oldest === undefined || oldest.number > position.segment) return;
      if (oldest.number === position.segment && position.offset < oldest.end) return;
      this.#segments.shift();
      if (this.#reading?.number === oldest.number) await this.#closeReading();
      await rm(segmentPath(this.#directory, oldest), { force: true });
    }
  }

  /** Puts batches aside, beside the log, for the operator; answers where. */
  keepRefused(batches: readonly Uint8Array[], upTo: LogPosition): Promise<string> {
    return keepAside(join(this.#directory, `refused-${upTo.segment}-${upTo.offset}.batch`), batches);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#commit;
    await this.#closeReading();
    await this.#writing?.close();
    this.#writing = undefined;
  }

  /** Deletes the log, whose records must all be in the warehouse; what was put aside for the operator stays. */
  async remove(): Promise<void> {
    await this.close();
    for (const segment of this.#segments.splice(0)) await rm(segmentPath(this.#directory, segment), { force: true });
    await rmdir(this.#directory).catch(() => undefined);
  }

  async #commitWaiting(): Promise<void> {
    // What arrives in this turn of the event loop shares the first fsync, too.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(group);
        this.full = false;
        for (const { resolve } of group) resolve();
      } catch (cause) {
        await this.#abandonSegment(cause);
        const error = new LogWriteError(cause);
        this.full = error.full;
        for (const { reject } of group) reject(error);
      }
    }
    this.#commit = undefined;
  }

  #takeGroup(): Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const request of this.#waiting) {
      if (count > 0 && (count === groupRequests || bytes + request.bytes > groupBytes)) break;
      count += 1;
      bytes += request.bytes;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    let segment = this.#segments.at(-1);
    if (segment === undefined || this.#writing === undefined || segment.end >= segmentBytes) {
      const unused = segment?.end === 0 && segment === this.#failed ? await this.#reopen(segment) : undefined;
      segment = unused ?? (await this.#startSegment((segment?.number ?? 0) + 1));
    }
    const { marker } = segment;
    if (this.#writing === undefined || marker === undefined) throw new Error('no segment to write to');
    const records = group.flatMap(({ batches }) => encodeRecords(batches, marker));
    const written = await writeAll(this.#writing, records, segment.end);
    await this.#writing.datasync();
    segment.end += written;
  }

  /** Undefined where it is gone. */
  async #reopen(segment: Segment): Promise<Segment | undefined> {
    try {
      this.#writing = await open(segmentPath(this.#directory, segment), 'r+');
    } catch {
      return undefined;
    }
    await this.#writing.truncate(0);
    return segment;
  }

  async #startSegment(number: number): Promise<Segment> {
    await this.#writing?.close();
    this.#writing = undefined;
    const segment = startedSegment(number);
    this.#writing = await open(segmentPath(this.#directory, segment), 'wx', 0o600);
    this.#segments.push(segment);
    await syncDirectory(this.#directory);
    return segment;
  }

  /** After a failed write or fsync the disk's contents are unknown, so the segment ends at the last confirmed byte. */
  async #abandonSegment(cause: unknown): Promise<void> {
    const segment = this.#segments.at(-1);
    this.#failed = segment;
    this.#logger.error({ error: cause, log: this.name, segment: segment?.number }, 'ingest log write failed');
    const file = this.#writing;
    this.#writing = undefined;
    if (file === undefined || segment === undefined) return;
    try {
      await file.truncate(segment.end);
    } catch (error) {
      this.#logger.warn(
        { error, log: this.name },
        'a failed write could not be cut off; a retried request may appear twice',
      );
    }
    await file.close().catch(() => undefined);
  }

  async #readable(segment: Segment): Promise<FileHandle> {
    const { number } = segment;
    if (this.#reading?.number === number) return this.#reading.file;
    await this.#closeReading();
    const file = await open(segmentPath(this.#directory, segment), 'r');
    this.#reading = { number, file };
    return file;
  }

  async #closeReading(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.file.close();
  }

  /** The disk gave back other bytes than were written. They are passed over and kept for the operator. */
  async #skipDamaged(segment: Segment, offset: number): Promise<LogChunk> {
    const bytes = await readAt(await this.#readable(segment), offset, segment.end - offset);
    const size = nextRecord(bytes, 0, segment.marker, segment.search) ?? bytes.length;
    const path = damagedPath(segmentPath(this.#directory, segment), offset);
    const kept = await keepAside(path, [bytes.subarray(0, size)]);
    const { number } = segment;
    this.#logger.error(
      { log: this.name, segment: number, offset, bytes: size, kept },
      'ingest log damaged; part skipped',
    );
    return { batches: [], rows: 0, upTo: { segment: number, offset: offset + size } };
  }
}

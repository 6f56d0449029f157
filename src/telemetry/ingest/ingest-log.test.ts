import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import type { LogPosition } from '../../contract/telemetry/index.ts';
import type { EncodedBatch } from './columns.ts';
import { IngestLog, LogWriteError } from './ingest-log.ts';
import { encodeRecords, newSearch, nextRecord, readRecord, type Marker } from './log-segment.ts';
import { firstRecords } from '../../../test/support/otlp/first-version.ts';
import { silent } from '../../../test/support/otlp/gateway.ts';

const everything = { rows: 1e9, bytes: 1e9, textBytes: 1e9 };
let directory = '';
const logs: IngestLog[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-log-'));
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await rm(directory, { recursive: true, force: true });
});

async function openLog(): Promise<IngestLog> {
  const log = await IngestLog.open(directory, 'log', silent);
  logs.push(log);
  return log;
}

/** A batch whose frame carries `text`, in as many bytes as wanted; the log does not look into it. */
function batch(text: string, size = 64): EncodedBatch {
  const frame = new Uint8Array(Math.ceil(size / 8) * 8);
  frame.set(Buffer.from(text));
  return { table: 'spans', rows: 1, textBytes: size, frame, crc: crc32(frame) };
}
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8').replace(/\0+$/, '');

async function drain(log: IngestLog, from: LogPosition = log.start, most = everything): Promise<string[]> {
  const texts: string[] = [];
  for (let position = from; ;) {
    const chunk = await log.read(position, most);
    if (chunk === undefined) return texts;
    texts.push(...chunk.batches.map(textOf));
    position = chunk.upTo;
  }
}
const segments = async () => (await readdir(join(directory, 'log'))).filter((name) => name.endsWith('.log')).sort();
const numbers = async () => (await segments()).map((name) => Number(name.slice(0, 12)));
const newest = async () => join(directory, 'log', (await segments()).at(-1) ?? '');

describe('ingest log', () => {
  it('gives back what was appended, in order, however many append at once', async () => {
    const log = await openLog();
    const names = Array.from({ length: 700 }, (_, index) => `request ${index}`);
    await Promise.all(names.map((name) => log.append([batch(name), batch(`${name} more`)])));
    expect(await drain(log)).toEqual(names.flatMap((name) => [name, `${name} more`]));
    expect(log.bytesAfter(log.start)).toBe((await stat(await newest())).size);
    expect(log.bytesAfter(log.end)).toBe(0);
  });

  it('reads on from any position it gave, in pieces as small as asked', async () => {
    const log = await openLog();
    const names = Array.from({ length: 20 }, (_, index) => `r${index}`);
    for (const name of names) await log.append([batch(name, name === 'r7' ? 5000 : 64)]);
    for (const most of [
      { ...everything, rows: 3 },
      { ...everything, bytes: 200 },
      { ...everything, textBytes: 100 },
    ]) {
      expect(await drain(log, log.start, most)).toEqual(names);
    }
    const first = await log.read(log.start, { ...everything, rows: 5 });
    expect(await drain(log, first?.upTo)).toEqual(names.slice(5));
  });

  it('goes on in a new segment after a restart, and deletes those that were loaded but for the newest', async () => {
    for (const name of ['a', 'b', 'c']) {
      const log = await openLog();
      await log.append([batch(name)]);
      await log.close();
    }
    const log = await openLog();
    expect(await drain(log)).toEqual(['a', 'b', 'c']);
    const first = await log.read(log.start, everything);
    await log.release(first?.upTo ?? log.start);
    expect(await numbers()).toEqual([2, 3]);
    expect(await drain(log)).toEqual(['b', 'c']);
    await log.release(log.end);
    expect(await numbers()).toEqual([3]);
    await log.append([batch('d')]);
    expect(await drain(log, log.start)).toEqual(['c', 'd']);
    expect(await numbers()).toEqual([3, 4]);
  });

  it('starts a new segment when one is full', async () => {
    const log = await openLog();
    for (let index = 0; index < 5; index += 1) await log.append([batch(`large ${index}`, 20 * 1024 * 1024)]);
    expect(await readdir(join(directory, 'log'))).toHaveLength(2);
    expect(await drain(log)).toEqual([0, 1, 2, 3, 4].map((index) => `large ${index}`));
  });

  it('cuts a torn tail at every byte to the requests that are whole', async () => {
    const log = await openLog();
    await log.append([batch('first')]);
    const whole = log.end.offset;
    await log.append([batch('second'), batch('of two')]);
    await log.close();
    const path = await newest();
    const bytes = await readFile(path);
    for (let length = bytes.length; length >= 0; length -= 11) {
      await truncate(path, 0);
      await writeFile(path, bytes.subarray(0, length));
      const again = await IngestLog.open(directory, 'log', silent);
      const expected = length === bytes.length ? ['first', 'second', 'of two'] : length >= whole ? ['first'] : [];
      expect(await drain(again)).toEqual(expected);
      await again.append([batch('after')]);
      expect(await drain(again)).toEqual([...expected, 'after']);
      await again.close();
      expect(await numbers()).toEqual([1, 2]);
      await rm(await newest());
    }
  });

  it('does not take garbage behind the last request for one', async () => {
    const log = await openLog();
    await log.append([batch('good')]);
    await log.close();
    await appendFile(await newest(), Buffer.alloc(500, 0x53));
    expect(await drain(await openLog())).toEqual(['good']);
  });

  it('passes over what the disk damaged, keeps a copy, and goes on with the next record', async () => {
    const log = await openLog();
    for (const name of ['a', 'b', 'c']) await log.append([batch(name)]);
    const path = await newest();
    await log.close();
    const later = await openLog();
    await later.append([batch('d')]);
    const file = await open(path, 'r+');
    await file.write(Buffer.from([0xff]), 0, 1, log.end.offset / 3 + 40);
    await file.close();
    expect(await drain(later)).toEqual(['a', 'c', 'd']);
    const size = log.end.offset / 3;
    const kept = `${path}-${size}.damaged`;
    expect((await readFile(kept)).equals((await readFile(path)).subarray(size, 2 * size))).toBe(true);
  });

  it.each([0, 8, 12, 16, 20, 24, 29, 40])(
    'loses one record of twenty to one bad byte in the newest segment, at byte %i',
    async (byte) => {
      const log = await openLog();
      const names = Array.from({ length: 20 }, (_, index) => `r${index + 1}`);
      for (const name of names) await log.append([batch(name)]);
      await log.close();
      const path = await newest();
      const whole = await readFile(path);
      const bytes = Buffer.from(whole);
      const at = 5 * (whole.length / 20) + byte;
      bytes[at] = (whole[at] ?? 0) ^ 0xa5;
      await writeFile(path, bytes);
      const again = await openLog();
      expect(await drain(again)).toEqual(names.filter((name) => name !== 'r6'));
      expect(await drain(again, again.start, { ...everything, bytes: 200 })).toEqual(
        names.filter((name) => name !== 'r6'),
      );
      await again.append([batch('after')]);
      expect((await drain(again)).at(-1)).toBe('after');
    },
  );

  /** What a sender may try to have taken for a record, under a marker that is not the segment's. */
  const forgeries = (marker: Buffer): readonly Buffer[] => {
    const claim = Buffer.from('SLR1AAAA\0\0\x10\0AAAA', 'latin1');
    const header = Buffer.concat(encodeRecords([batch('forged')], marker));
    return [claim, firstRecords([batch('forged')]), header, header.subarray(0, 32), marker, Buffer.alloc(8)];
  };

  it('takes nothing that a sender wrote for a record, however a request was torn or damaged', async () => {
    const log = await openLog();
    await log.append([batch('first')]);
    const { offset: whole } = log.end;
    await log.close();
    const path = await newest();
    const first = await readFile(path);
    const marker = Buffer.from(/-([0-9a-f]{16})\.log$/.exec(path)?.[1] ?? '', 'hex');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5), { minLength: 1, maxLength: 40 }),
        fc.uint8Array({ minLength: 8, maxLength: 8 }),
        fc.nat(),
        fc.boolean(),
        async (pieces, other, cut, isTorn) => {
          const text = Buffer.concat(pieces.map((piece) => forgeries(Buffer.from(other))[piece] ?? Buffer.alloc(0)));
          const frame = new Uint8Array(Math.ceil(text.length / 8) * 8);
          frame.set(text);
          const request = { table: 'spans', rows: 1, textBytes: 1, frame, crc: crc32(frame) } as const;
          const [header = new Uint8Array(), payload = new Uint8Array()] = encodeRecords([request], marker);
          const size = header.length + payload.length;
          if (!isTorn) header[cut % header.length] = (header[cut % header.length] ?? 0) ^ 0xff;
          const record = Buffer.concat([header, payload]).subarray(0, isTorn ? 1 + (cut % (size - 1)) : size);
          const behind = isTorn ? [] : encodeRecords([batch('behind')], marker);
          await writeFile(path, Buffer.concat([first, record, ...behind]));
          const again = await IngestLog.open(directory, 'log', silent);
          expect(await drain(again)).toEqual(isTorn ? ['first'] : ['first', 'behind']);
          await again.close();
          if (isTorn) expect((await stat(path)).size).toBe(whole);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('opens a log whose torn end is full of what looks like headers', async () => {
    const log = await openLog();
    await log.append([batch('first')]);
    await log.close();
    const [claim = Buffer.alloc(0)] = forgeries(Buffer.alloc(8));
    const text = Buffer.alloc(8 << 20, claim);
    await appendFile(await newest(), text);
    expect(await drain(await openLog())).toEqual(['first']);
    const search = newSearch(text.length);
    expect(nextRecord(text, 0, undefined, search)).toBeUndefined();
    expect(search.left).toBeLessThan(0);
  });

  describe('of version 0.1.0', () => {
    const write = async (...requests: (readonly EncodedBatch[])[]) => {
      await mkdir(join(directory, 'log'), { recursive: true });
      const path = join(directory, 'log', '000000000001.log');
      const bytes = Buffer.concat(requests.map((request) => firstRecords(request)));
      await writeFile(path, bytes);
      return { path, bytes };
    };

    it('is read, and goes on in the form of today', async () => {
      await write([batch('a')], [batch('b'), batch('c', 5000)]);
      const log = await openLog();
      await log.append([batch('d')]);
      expect(await drain(log)).toEqual(['a', 'b', 'c', 'd']);
      expect(await drain(log, log.start, { ...everything, bytes: 200 })).toEqual(['a', 'b', 'c', 'd']);
      await log.close();
      expect(await drain(await openLog())).toEqual(['a', 'b', 'c', 'd']);
      await log.release(log.end);
      expect(await numbers()).toEqual([2]);
    });

    it('is cut at every byte to the requests that are whole', async () => {
      const { path, bytes } = await write([batch('a')], [batch('b'), batch('c')]);
      for (let length = bytes.length; length >= 0; length -= 11) {
        await writeFile(path, bytes.subarray(0, length));
        const log = await IngestLog.open(directory, 'log', silent);
        expect(await drain(log)).toEqual(length === bytes.length ? ['a', 'b', 'c'] : length >= 88 ? ['a'] : []);
        await log.close();
      }
    });

    it.each([0, 4, 8, 12, 21, 40])('loses one record of three to one bad byte, at byte %i', async (byte) => {
      const { path, bytes } = await write([batch('a')], [batch('b')], [batch('c')]);
      bytes[88 + byte] = (bytes[88 + byte] ?? 0) ^ 0xa5;
      await writeFile(path, bytes);
      expect(await drain(await openLog())).toEqual(['a', 'c']);
    });
  });

  it('finds each record behind damage, whatever lies between', () => {
    const pieces = fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, fc.boolean(), (list, isFirst) => {
        const marker: Marker = isFirst ? undefined : Buffer.from('0123456789abcdef', 'hex');
        const record = () =>
          marker === undefined ? firstRecords([batch('r')]) : Buffer.concat(encodeRecords([batch('r')], marker));
        const starts: number[] = [];
        let size = 8;
        const parts = list.map(([piece, isRecord]) => {
          // Of 0.1.0 a whole record in a text is one.
          const part = isRecord ? record() : (forgeries(Buffer.alloc(8, 0x77))[isFirst ? 5 : piece] ?? Buffer.alloc(0));
          if (isRecord) starts.push(size);
          size += part.length;
          return part;
        });
        const bytes = Buffer.concat([Buffer.alloc(8), ...parts]);
        const found: number[] = [];
        const search = newSearch(bytes.length);
        for (let at: number | undefined = 0; at !== undefined;) {
          const read = readRecord(bytes, at, marker);
          if (read === undefined || read === 'damaged') at = nextRecord(bytes, at, marker, search);
          else {
            found.push(at);
            at = read.end;
          }
        }
        expect(found).toEqual(starts);
      }),
    );
  });

  it('keeps a copy of the end that it cuts', async () => {
    const log = await openLog();
    for (const name of ['a', 'b']) await log.append([batch(name)]);
    await log.close();
    const path = await newest();
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, -1));
    expect(await drain(await openLog())).toEqual(['a']);
    const half = bytes.length / 2;
    expect((await readFile(`${path}-${half}.damaged`)).equals(bytes.subarray(half, -1))).toBe(true);
  });

  it('says that nothing was stored when a segment cannot be made, and serves again when it can', async () => {
    const log = await openLog();
    await rm(join(directory, 'log'), { recursive: true });
    expect(await log.append([batch('lost')]).catch((caught: unknown) => caught)).toBeInstanceOf(LogWriteError);
    await mkdir(join(directory, 'log'));
    await log.append([batch('after')]);
    expect(await drain(log)).toEqual(['after']);
    await log.close();
    expect(await log.append([batch('closed')]).catch((caught: unknown) => caught)).toBeInstanceOf(LogWriteError);
  });

  it('keeps nothing of a request whose write failed halfway, and all of those before and after', async () => {
    // A file may not grow beyond 64 blocks of 512 bytes here, so that a write is cut short as on a full disk.
    const script = `
      import { crc32 } from 'node:zlib';
      import { IngestLog } from ${JSON.stringify(new URL('./ingest-log.ts', import.meta.url).href)};
      process.on('SIGXFSZ', () => {});
      const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
      const log = await IngestLog.open(process.argv[1], 'log', logger);
      const batch = (text) => {
        const frame = new Uint8Array(8000);
        frame.set(Buffer.from(text));
        return { table: 'spans', rows: 1, textBytes: 1, frame, crc: crc32(frame) };
      };
      const kept = [];
      for (let index = 0; index < 20; index += 1) {
        const names = [index + ' one', index + ' two', index + ' three'];
        await log.append(names.map(batch)).then(() => kept.push(...names), () => {});
      }
      await log.close();
      process.stdout.write(JSON.stringify(kept));
    `;
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', 'ulimit -f 64; exec "$0" --input-type=module -e "$1" "$2"', process.execPath, script, directory],
      // What the cache writes may be larger.
      { env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } },
    );
    const kept: unknown = JSON.parse(stdout);
    const stored = await drain(await openLog());
    expect(stored).toEqual(kept);
    expect(stored.length).toBeGreaterThan(6);
    expect(stored.length).toBeLessThan(60);
    const names = await readdir(join(directory, 'log'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, 'log', name))).size));
    expect(sizes.filter((size) => size === 0).length).toBeLessThan(2);
  });
});

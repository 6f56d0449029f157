import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'pg-protocol';
import { codes, errorOf, fieldsOf, FrameReader, type Messages, tagOf } from './frames.ts';

const frame = (code: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(code, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value > 0x7fffffff ? value - 2 ** 32 : value);
  return bytes;
};
const cstring = (text: string): Buffer => Buffer.from(`${text}\0`);
const row = (...cells: readonly (string | null)[]): Buffer =>
  frame(
    'D',
    Buffer.concat([
      int16(cells.length),
      ...cells.map((cell) =>
        cell === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(cell)), Buffer.from(cell)]),
      ),
    ]),
  );
const field = (name: string, type: number): Buffer =>
  Buffer.concat([cstring(name), int32(1), int16(1), int32(type), int16(-1), int32(-1), int16(0)]);

const stream = Buffer.concat([
  frame('1', Buffer.alloc(0)),
  frame('2', Buffer.alloc(0)),
  frame('S', Buffer.concat([cstring('TimeZone'), cstring('UTC')])),
  frame('T', Buffer.concat([int16(2), field('größe "x"', 25), field('y', 3_000_000_000)])),
  row('añ😀', null),
  row('', 'x'.repeat(300)),
  frame('N', Buffer.concat([Buffer.from('S'), cstring('NOTICE'), Buffer.from('M'), cstring('so'), Buffer.from([0])])),
  frame('s', Buffer.alloc(0)),
  row('1', '2'),
  frame('C', cstring('SELECT 3')),
  frame('E', Buffer.concat([Buffer.from('SERROR\0C22012\0Mdivision by zero\0P8\0', 'latin1'), Buffer.from([0])])),
  frame('Z', Buffer.from('I')),
]);

/** What the driver makes of the same bytes is what they mean. */
function byTheDriver(): readonly unknown[] {
  const seen: unknown[] = [];
  const source = new PassThrough();
  void parse(source, (message) => {
    if ('code' in message && message instanceof Error)
      seen.push([message.message, message.code, Reflect.get(message, 'position')]);
    else if (message.name === 'commandComplete') seen.push(Reflect.get(message, 'text'));
    else if (message.name === 'rowDescription' && 'fields' in message && Array.isArray(message.fields)) {
      seen.push(
        message.fields.map(({ name, dataTypeID }: { name: string; dataTypeID: number }) => ({ name, dataTypeID })),
      );
    } else if (message.name === 'dataRow') seen.push(Reflect.get(message, 'fields'));
    else seen.push('other');
  });
  source.emit('data', stream);
  return seen;
}

function cellsOf(bytes: Buffer, start: number): readonly (string | null)[] {
  let at = start + 2;
  return Array.from({ length: bytes.readInt16BE(start) }, () => {
    const length = bytes.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? null : bytes.toString('utf8', at - length, at);
  });
}

class Seen implements Messages {
  readonly messages: unknown[] = [];
  readonly why: string[] = [];
  stopAt: number | undefined;

  message(code: number, bytes: Buffer, start: number, end: number): boolean {
    if (code === codes.rowDescription) this.messages.push(fieldsOf(bytes, start, end));
    else if (code === codes.dataRow) this.messages.push(cellsOf(bytes, start));
    else if (code === codes.commandComplete) this.messages.push(tagOf(bytes, start, end));
    else if (code === codes.error) {
      const error = errorOf(bytes.subarray(start - 5, end));
      this.messages.push([error.message, Reflect.get(error, 'code'), Reflect.get(error, 'position')]);
    } else this.messages.push('other');
    return code !== this.stopAt;
  }

  unreadable(why: string): void {
    this.why.push(why);
  }
}

describe('messages of the server', () => {
  const meant = byTheDriver();

  it('are what the driver makes of them, wherever the stream is cut in two', () => {
    expect(meant).toHaveLength(12);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const [reader, seen] = [new FrameReader(1 << 20), new Seen()];
      for (const part of [stream.subarray(0, cut), stream.subarray(cut)]) {
        if (part.length > 0) expect(reader.read(part, seen)).toBe(part.length);
      }
      expect(seen.messages).toEqual(meant);
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 11, 64])('are, too, in pieces of %i bytes that are overwritten afterwards', (size) => {
    const [reader, seen, shared] = [new FrameReader(1 << 20), new Seen(), Buffer.alloc(size)];
    for (let at = 0; at < stream.length; at += size) {
      const length = stream.copy(shared, 0, at, Math.min(stream.length, at + size));
      reader.read(shared.subarray(0, length), seen);
      shared.fill(0xff);
    }
    expect(seen.messages).toEqual(meant);
  });

  it('are read up to the one after which no more are wanted, and from there by whoever is next', () => {
    for (const size of [1, 3, stream.length]) {
      const [reader, first, second] = [new FrameReader(1 << 20), new Seen(), new Seen()];
      first.stopAt = codes.portalSuspended;
      for (let at = 0; at < stream.length; at += size) {
        let rest = stream.subarray(at, at + size);
        while (rest.length > 0) {
          const to = first.messages.length === 8 ? second : first;
          rest = rest.subarray(reader.read(rest, to));
        }
      }
      expect([first.messages.length, second.messages.length]).toEqual([8, 4]);
      expect([...first.messages, ...second.messages]).toEqual(meant);
    }
  });

  it('are refused by their head where they are too long, and where they are none', () => {
    for (const [head, why] of [
      [Buffer.from([0x44, 0, 1, 0, 0]), 'too long'],
      [Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff]), 'too long'],
      [Buffer.from([0x44, 0, 0, 0, 3]), 'not the protocol'],
    ] as const) {
      for (const size of [1, 5]) {
        const [reader, seen] = [new FrameReader(65_536), new Seen()];
        for (let at = 0; at < head.length; at += size) reader.read(head.subarray(at, at + size), seen);
        expect([seen.why, seen.messages]).toEqual([[why], []]);
      }
    }
  });

  it('describe no columns where they are cut off', () => {
    const body = Buffer.concat([int16(2), field('x', 25), cstring('y')]);
    expect(fieldsOf(body, 0, body.length)).toBeUndefined();
    expect(fieldsOf(int16(0), 0, 2)).toEqual([]);
  });
});

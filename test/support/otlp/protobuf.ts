import {
  enums,
  requests,
  type Field,
  type Message,
  type Scalar,
  type Signal,
} from '../../../src/telemetry/ingest/fields.ts';

/** Protobuf written the way protoc's own runtimes write it: shortest varints, numbers of a list packed. */
export function protobuf(signal: Signal, document: object): Uint8Array {
  return new Uint8Array(messageBytes(requests[signal], document));
}

function messageBytes(message: Message, value: unknown): Buffer {
  if (typeof value !== 'object' || value === null) throw new TypeError('not a message');
  const fields = Object.entries(value).flatMap(([name, content]) => {
    const field = message.get(name);
    return field === undefined ? [] : fieldBytes(field, content);
  });
  return Buffer.concat(fields);
}

function fieldBytes({ number, type, repeated }: Field, content: unknown): readonly Buffer[] {
  if (!repeated) return one(number, type, content);
  if (!Array.isArray(content)) throw new TypeError('not a list');
  if (typeof type === 'function' || type === 'string') return content.flatMap((item) => one(number, type, item));
  return delimited(number, Buffer.concat(content.map((item) => scalarBytes(type, item).bytes)));
}

function one(number: number, type: Field['type'], content: unknown): readonly Buffer[] {
  if (typeof type === 'function') return delimited(number, messageBytes(type(), content));
  const { wire, bytes } = scalarBytes(type, content);
  return wire === 2 ? delimited(number, bytes) : [tag(number, wire), bytes];
}

function delimited(number: number, bytes: Buffer): readonly Buffer[] {
  return [tag(number, 2), varint(BigInt(bytes.length)), bytes];
}

function tag(number: number, wire: number): Buffer {
  return varint(BigInt(number * 8 + wire));
}

function scalarBytes(type: Scalar, content: unknown): { readonly wire: number; readonly bytes: Buffer } {
  const text = String(content);
  switch (type) {
    case 'string':
      return { wire: 2, bytes: Buffer.from(text, 'utf8') };
    case 'base64':
    case 'hex':
      return { wire: 2, bytes: Buffer.from(text, type) };
    case 'bool':
      return { wire: 0, bytes: Buffer.of(content === true ? 1 : 0) };
    case 'double': {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(content));
      return { wire: 1, bytes };
    }
    case 'fixed64':
    case 'sfixed64': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(text)));
      return { wire: 1, bytes };
    }
    case 'fixed32': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(Number(content));
      return { wire: 5, bytes };
    }
    case 'sint32': {
      const value = BigInt(text);
      return { wire: 0, bytes: varint(BigInt.asUintN(32, (value << 1n) ^ (value >> 63n))) };
    }
    default:
      return { wire: 0, bytes: varint(BigInt(enums[type]?.get(text) ?? text)) };
  }
}

export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

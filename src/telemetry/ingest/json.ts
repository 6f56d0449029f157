import { isObject } from '../../contract/core/index.ts';
import { type Signal, anyValue, enums, requests, type Field, type Message, type Scalar } from './fields.ts';
import { deepestValue } from './limits.ts';
import { OtlpDecodeError } from './wire.ts';

/** The message is a predicate of the field. The path is added while the error unwinds, so that valid documents do not pay for it. */
class JsonFieldError extends Error {
  path = '';
}

/** Keys of a request that are no fields we read, for the case that it has no record: the first few. */
export class UnknownKeys {
  readonly names = new Set<string>();

  add(name: string): void {
    if (this.names.size < 5) this.names.add(JSON.stringify(name.slice(0, 64).toWellFormed()));
  }
}

/** An OTLP/JSON request as the protobuf of the same request. Throws OtlpDecodeError, with the path of the wrong field. */
export function encodeJson(signal: Signal, body: Uint8Array, unknown = new UnknownKeys()): Uint8Array {
  const document = parse(new TextDecoder().decode(body));
  if (!isObject(document)) throw new OtlpDecodeError('The JSON document is not an object.');
  const out = new ProtoWriter(body.length + 1024);
  try {
    writeMessage(out, requests[signal], document, 0, unknown);
  } catch (error) {
    if (error instanceof JsonFieldError)
      throw new OtlpDecodeError(`The field ${error.path.slice(1)} ${error.message}.`, 'malformed', 'field');
    throw error;
  }
  return out.finish();
}

function parse(text: string): unknown {
  try {
    // A 64-bit integer written as a number would lose its last digits; such a document is read with them kept as text.
    if (!/[:[,\s]-?\d{16}/.test(text)) return JSON.parse(text);
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value,
    );
  } catch {
    throw new OtlpDecodeError('The body is not JSON.');
  }
}

function writeMessage(out: ProtoWriter, message: Message, value: unknown, depth: number, unknown: UnknownKeys): void {
  if (!isObject(value)) throw new JsonFieldError('must be an object');
  for (const name of Object.keys(value)) {
    const field = message.get(name);
    const content = value[name];
    if (field === undefined) unknown.add(name);
    if (field === undefined || content === null || content === undefined) continue;
    try {
      if (field.repeated) writeRepeated(out, field, content, depth, unknown);
      else writeField(out, field, content, depth, unknown);
    } catch (error) {
      if (error instanceof JsonFieldError) error.path = `.${name}${error.path}`;
      throw error;
    }
  }
}

function writeRepeated(out: ProtoWriter, field: Field, content: unknown, depth: number, unknown: UnknownKeys): void {
  if (!Array.isArray(content)) throw new JsonFieldError('must be an array');
  for (const [index, item] of content.entries()) {
    try {
      writeField(out, field, item, depth, unknown);
    } catch (error) {
      if (error instanceof JsonFieldError) error.path = `[${index}]${error.path}`;
      throw error;
    }
  }
}

function writeField(
  out: ProtoWriter,
  { number, type }: Field,
  content: unknown,
  depth: number,
  unknown: UnknownKeys,
): void {
  if (typeof type !== 'function') return writeScalar(out, number, type, content);
  const message = type();
  const inner = message === anyValue ? depth + 1 : depth;
  if (inner > deepestValue + 1) throw new JsonFieldError(`is nested deeper than ${deepestValue} levels`);
  const start = out.open(number);
  writeMessage(out, message, content, inner, unknown);
  out.close(start);
}

function writeScalar(out: ProtoWriter, number: number, type: Scalar, content: unknown): void {
  switch (type) {
    case 'string':
      if (typeof content !== 'string') throw new JsonFieldError('must be a string');
      return out.text(number, content, 'utf8');
    case 'base64':
      if (typeof content !== 'string' || !/^[\w+/-]*={0,2}$/.test(content)) throw new JsonFieldError('must be base64');
      return out.text(number, content, 'base64');
    case 'hex':
      if (typeof content !== 'string' || content.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(content)) {
        throw new JsonFieldError('must be hexadecimal digits');
      }
      return out.text(number, content, 'hex');
    case 'bool':
      if (typeof content !== 'boolean') throw new JsonFieldError('must be true or false');
      return out.varint(number, content ? 1n : 0n);
    case 'double':
      return out.double(number, toDouble(content));
    case 'int64':
      return out.varint(number, toInteger(content, -(2n ** 63n), 2n ** 63n - 1n));
    case 'uint64':
      return out.varint(number, toInteger(content, 0n, 2n ** 64n - 1n));
    case 'fixed64':
      return out.fixed64(number, toInteger(content, 0n, 2n ** 64n - 1n));
    case 'sfixed64':
      return out.fixed64(number, toInteger(content, -(2n ** 63n), 2n ** 63n - 1n));
    case 'int32':
      return out.varint(number, toInteger(content, -(2n ** 31n), 2n ** 31n - 1n));
    case 'uint32':
      return out.varint(number, toInteger(content, 0n, 2n ** 32n - 1n));
    case 'fixed32':
      return out.fixed32(number, Number(toInteger(content, 0n, 2n ** 32n - 1n)));
    case 'sint32': {
      const value = toInteger(content, -(2n ** 31n), 2n ** 31n - 1n);
      return out.varint(number, BigInt.asUintN(32, (value << 1n) ^ (value >> 63n)));
    }
    default:
      return out.varint(number, toEnum(type, content));
  }
}

function toEnum(type: Scalar, content: unknown): bigint {
  const value = typeof content === 'string' ? enums[type]?.get(content) : undefined;
  return value === undefined ? toInteger(content, -(2n ** 31n), 2n ** 31n - 1n) : BigInt(value);
}

function toInteger(content: unknown, least: bigint, most: bigint): bigint {
  const value =
    typeof content === 'number' && Number.isInteger(content)
      ? BigInt(content)
      : typeof content === 'string' && /^-?\d{1,20}$/.test(content)
        ? BigInt(content)
        : undefined;
  if (value === undefined) throw new JsonFieldError('must be an integer');
  if (value < least || value > most) throw new JsonFieldError('is out of range');
  return value;
}

function toDouble(content: unknown): number {
  if (typeof content === 'number') return content;
  if (content === 'NaN') return Number.NaN;
  if (content === 'Infinity') return Number.POSITIVE_INFINITY;
  if (content === '-Infinity') return Number.NEGATIVE_INFINITY;
  if (typeof content === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(content)) return Number(content);
  throw new JsonFieldError('must be a number');
}

const lengthBytes = 5;

class ProtoWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Begins a message whose length `close` fills in: always five bytes, which is valid, so that nothing has to move. */
  open(number: number): number {
    this.#reserve(16);
    this.#tag(number, 2);
    this.#at += lengthBytes;
    return this.#at;
  }

  close(start: number): void {
    let length = this.#at - start;
    for (let index = start - lengthBytes; index < start; index += 1) {
      this.#bytes[index] = (length & 0x7f) | (index === start - 1 ? 0 : 0x80);
      length >>>= 7;
    }
  }

  text(number: number, value: string, encoding: 'utf8' | 'base64' | 'hex'): void {
    this.#reserve(value.length * 3 + 16);
    const start = this.open(number);
    this.#at += this.#bytes.write(value, this.#at, encoding);
    this.close(start);
  }

  varint(number: number, value: bigint): void {
    this.#reserve(20);
    this.#tag(number, 0);
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) this.#byte(Number(rest & 0x7fn) | 0x80);
    this.#byte(Number(rest));
  }

  fixed64(number: number, value: bigint): void {
    this.#reserve(16);
    this.#tag(number, 1);
    this.#at = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#at);
  }

  fixed32(number: number, value: number): void {
    this.#reserve(16);
    this.#tag(number, 5);
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
  }

  double(number: number, value: number): void {
    this.#reserve(16);
    this.#tag(number, 1);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Field numbers here end at 16, so a tag takes two bytes at most. */
  #tag(number: number, wire: number): void {
    const tag = (number << 3) | wire;
    if (tag < 0x80) return this.#byte(tag);
    this.#byte((tag & 0x7f) | 0x80);
    this.#byte(tag >> 7);
  }

  #byte(value: number): void {
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

import { deepestValue, work, workOfBytes, type Losses, type RecordLimits } from './limits.ts';
import { cutEnd, hashText, Utf8Writer, type TextColumn } from './text.ts';
import { OtlpDecodeError, type Fields, type WireReader } from './wire.ts';

const mostMoved = 64 * 1024;
const open = 0x7b;
const close = 0x7d;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Writes OTLP's AnyValue and KeyValue as text: a scalar becomes its text, an array or a map JSON text. A set of attributes is
 * a JSON object of strings without a repeated key (a warehouse's map takes none); of several equal keys the last stays.
 */
export class ValueWriter {
  readonly #reader: WireReader;
  readonly #limits: RecordLimits;
  readonly #losses: Losses;
  readonly #scratch = new Utf8Writer();
  /** Bytes after which nothing more is written to the scratch, as it will be cut. */
  #budget = 0;
  // The set being written: where each key lies in the output, and its hash.
  readonly #keyFrom: Uint32Array;
  readonly #keyTo: Uint32Array;
  readonly #keyHash: Int32Array;
  #keys = 0;
  /** Bytes of the set that moved to close the gaps of repeated keys. */
  #moved = 0;
  // The KeyValue that was read last.
  #nameFrom = 0;
  #nameTo = 0;
  #valueFrom = 0;
  #valueTo = 0;

  constructor(reader: WireReader, limits: RecordLimits, losses: Losses) {
    this.#reader = reader;
    this.#limits = limits;
    this.#losses = losses;
    this.#keyFrom = new Uint32Array(limits.attributes);
    this.#keyTo = new Uint32Array(limits.attributes);
    this.#keyHash = new Int32Array(limits.attributes);
  }

  /** Begins `{…}`; one set at a time. */
  openSet(out: Utf8Writer): void {
    this.#keys = 0;
    this.#moved = 0;
    out.byte(open);
  }

  closeSet(out: Utf8Writer): void {
    out.byte(close);
  }

  /** The set of all fields with this tag in from..to. */
  attributes(out: Utf8Writer, from: number, to: number, tagOfField: number): void {
    const reader = this.#reader;
    this.openSet(out);
    for (reader.at = from; reader.find(tagOfField, to);) {
      const next = reader.at;
      this.attribute(out, reader.from, next);
      reader.at = next;
    }
    this.closeSet(out);
  }

  /** One KeyValue of the open set, lying in from..to of the reader's bytes. Answers how long its key is. */
  attribute(out: Utf8Writer, from: number, to: number): number {
    this.#keyValue(from, to);
    const size = this.#nameTo - this.#nameFrom;
    if (!this.#key(out, this.#nameFrom, this.#nameTo)) return size;
    out.byte(quote);
    this.#text(out, this.#valueFrom, this.#valueTo, true, this.#limits.valueBytes);
    out.byte(quote);
    return size;
  }

  /** Whether the KeyValue in from..to has this key. */
  hasKey(from: number, to: number, key: string): boolean {
    this.#keyValue(from, to);
    const start = this.#nameFrom;
    if (this.#nameTo - start !== key.length) return false;
    for (let index = 0; index < key.length; index += 1) {
      if (this.#reader.bytes[start + index] !== key.charCodeAt(index)) return false;
    }
    return true;
  }

  /** The value of the KeyValue in from..to as a column's text. */
  valueOf(out: Utf8Writer, from: number, to: number): void {
    this.#keyValue(from, to);
    this.#text(out, this.#valueFrom, this.#valueTo, false, this.#limits.valueBytes);
  }

  /** An AnyValue as a column's text; absent is ''. */
  body(out: Utf8Writer, fields: Fields, tag: number): void {
    this.#text(out, fields.low(tag), fields.high(tag), false, this.#limits.bodyBytes);
  }

  /** A name or a message, cut to the limit. */
  string(out: Utf8Writer, fields: Fields, tag: number): void {
    const from = fields.low(tag);
    out.text(this.#reader.bytes, from, this.#cut(from, fields.high(tag), this.#limits.valueBytes));
  }

  /** The text in from..to, cut to the limit. */
  text(out: Utf8Writer, { from, to }: { readonly from: number; readonly to: number }): void {
    out.text(this.#reader.bytes, from, this.#cut(from, to, this.#limits.valueBytes));
  }

  /** The same, for what is rare. */
  plainText(range: { readonly from: number; readonly to: number }): string {
    if (range.from === range.to) return '';
    this.#reader.spend(work.item + workOfBytes(range.to - range.from));
    const scratch = this.#scratch;
    scratch.clear();
    this.text(scratch, range);
    return Buffer.from(scratch.bytes.subarray(0, scratch.length)).toString('utf8');
  }

  /** `attributes`, for what is rare. */
  plainAttributes(from: number, to: number, tagOfField: number): string {
    const out = new Utf8Writer();
    this.#reader.spend(work.point);
    this.attributes(out, from, to, tagOfField);
    return Buffer.from(out.bytes.subarray(0, out.length)).toString('utf8');
  }

  quotedString(out: Utf8Writer, fields: Fields, tag: number): void {
    const from = fields.low(tag);
    out.quoted(this.#reader.bytes, from, this.#cut(from, fields.high(tag), this.#limits.valueBytes));
  }

  /** `string` as the next row, held once with equal ones. */
  sharedString(out: TextColumn, fields: Fields, tag: number): void {
    this.string(out, fields, tag);
    out.rowShared();
  }

  /**
   * Lower-case hex of an id; '' for one that is all zero or of another length. Some senders put the hex digits themselves
   * into the bytes of protobuf, which are then twice as many.
   */
  id(out: Utf8Writer, fields: Fields, tag: number, size: 8 | 16): void {
    const from = fields.low(tag);
    const to = fields.high(tag);
    if (from === to) return;
    const { bytes } = this.#reader;
    let zero = 0;
    if (to - from === size) {
      for (let index = from; zero === 0 && index < to; index += 1) zero |= bytes[index] ?? 0;
      if (zero !== 0) out.hex(bytes, from, to);
      return;
    }
    this.#reader.spend(work.string);
    const digits = to - from === 2 * size ? Buffer.from(bytes.subarray(from, to)).toString('latin1') : '';
    if (!/^[0-9a-f]+$/i.test(digits)) this.#losses.invalidIds += 1;
    else if (!/^0+$/.test(digits)) out.literal(digits.toLowerCase());
  }

  /** Writes `"key":`, with a comma before it if it is not the first; false if the set is full. */
  #key(out: Utf8Writer, from: number, to: number): boolean {
    const before = out.length;
    if (this.#keys > 0) out.byte(comma);
    out.byte(quote);
    let start = out.length;
    out.escaped(this.#reader.bytes, from, this.#cut(from, to, this.#limits.keyBytes));
    const hash = hashText(out.bytes, start, out.length);
    this.#reader.spend(workOfBytes(this.#keys));
    for (let index = 0; index < this.#keys; index += 1) {
      if (this.#keyHash[index] !== hash || !this.#sameKey(out.bytes, index, start, out.length)) continue;
      const moved = this.#forget(out, index, before);
      if (moved === undefined) return this.#leaveOut(out, before);
      start -= moved;
      return this.#open(out, start, hash);
    }
    if (this.#keys >= this.#limits.attributes) return this.#leaveOut(out, before);
    return this.#open(out, start, hash);
  }

  #leaveOut(out: Utf8Writer, before: number): false {
    out.length = before;
    this.#losses.attributes += 1;
    return false;
  }

  #open(out: Utf8Writer, start: number, hash: number): true {
    this.#keyFrom[this.#keys] = start;
    this.#keyTo[this.#keys] = out.length;
    this.#keyHash[this.#keys] = hash;
    this.#keys += 1;
    out.byte(quote);
    out.byte(colon);
    return true;
  }

  /**
   * Takes an earlier entry out, with the comma behind it. Answers how far what follows moved; undefined when the set has
   * moved so much that a sender must be doing it on purpose.
   */
  #forget(out: Utf8Writer, index: number, before: number): number | undefined {
    const from = (this.#keyFrom[index] ?? 0) - 1;
    const to = index + 1 < this.#keys ? (this.#keyFrom[index + 1] ?? 0) - 1 : before + 1;
    this.#moved += out.length - to;
    if (this.#moved > mostMoved) return undefined;
    out.bytes.copyWithin(from, to, out.length);
    out.length -= to - from;
    this.#keys -= 1;
    for (let key = index; key < this.#keys; key += 1) {
      this.#keyFrom[key] = (this.#keyFrom[key + 1] ?? 0) - (to - from);
      this.#keyTo[key] = (this.#keyTo[key + 1] ?? 0) - (to - from);
      this.#keyHash[key] = this.#keyHash[key + 1] ?? 0;
    }
    return to - from;
  }

  #sameKey(bytes: Uint8Array, index: number, start: number, end: number): boolean {
    const from = this.#keyFrom[index] ?? 0;
    if ((this.#keyTo[index] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) if (bytes[at] !== bytes[from + at - start]) return false;
    return true;
  }

  /** An AnyValue as text, inside a JSON string if `escape`. */
  #text(out: Utf8Writer, from: number, to: number, escape: boolean, limit: number): void {
    const reader = this.#reader;
    const { bytes } = reader;
    const tag = this.#value(from, to);
    switch (tag) {
      case 0:
        return;
      case 0x0a: {
        const end = this.#cut(reader.from, reader.at, limit);
        if (escape) out.escaped(bytes, reader.from, end);
        else out.text(bytes, reader.from, end);
        return;
      }
      case 0x3a: {
        // Cut in bytes that are a multiple of three, so that the text stays base64.
        const end = this.#cut(reader.from, reader.at, Math.floor(limit / 4) * 3, false);
        out.literal(Buffer.from(bytes.subarray(reader.from, end)).toString('base64'));
        return;
      }
      case 0x2a:
      case 0x32: {
        const scratch = this.#scratch;
        scratch.clear();
        this.#budget = limit;
        this.#json(scratch, from, to, 0);
        const end = cutEnd(scratch.bytes, 0, scratch.length, limit);
        if (end < scratch.length) this.#losses[limit === this.#limits.bodyBytes ? 'bodies' : 'values'] += 1;
        if (escape) out.escaped(scratch.bytes, 0, end);
        else out.text(scratch.bytes, 0, end);
        return;
      }
      default:
        out.literal(this.#scalar(tag, to));
    }
  }

  /** An AnyValue as JSON. */
  #json(out: Utf8Writer, from: number, to: number, depth: number): void {
    if (depth > deepestValue) throw new OtlpDecodeError(`A value is nested deeper than ${deepestValue} levels.`);
    const reader = this.#reader;
    const tag = this.#value(from, to);
    switch (tag) {
      case 0:
        return out.literal('null');
      case 0x0a:
        return out.quoted(reader.bytes, reader.from, this.#within(reader.from, reader.at));
      case 0x3a: {
        const part = reader.bytes.subarray(reader.from, this.#within(reader.from, reader.at));
        return out.literal(`"${Buffer.from(part).toString('base64')}"`);
      }
      case 0x2a:
      case 0x32:
        return this.#items(out, reader.from, reader.at, depth, tag === 0x32);
      default: {
        const text = this.#scalar(tag, to);
        // JSON has no NaN and no infinities.
        out.literal(text === 'NaN' || text.endsWith('Infinity') ? `"${text}"` : text);
      }
    }
  }

  /** An ArrayValue, or a KeyValueList if `isMap`: both hold their items in field 1. */
  #items(out: Utf8Writer, from: number, to: number, depth: number, isMap: boolean): void {
    const reader = this.#reader;
    let first = true;
    out.byte(isMap ? open : 0x5b);
    for (reader.at = from; out.length <= this.#budget && reader.find(0x0a, to);) {
      const next = reader.at;
      if (!first) out.byte(comma);
      first = false;
      if (isMap) this.#member(out, reader.from, next, depth);
      else this.#json(out, reader.from, next, depth + 1);
      reader.at = next;
    }
    out.byte(isMap ? close : 0x5d);
  }

  #member(out: Utf8Writer, from: number, to: number, depth: number): void {
    this.#keyValue(from, to);
    out.quoted(this.#reader.bytes, this.#nameFrom, this.#within(this.#nameFrom, this.#nameTo));
    out.byte(colon);
    this.#json(out, this.#valueFrom, this.#valueTo, depth + 1);
  }

  /** Finds where the key and the value of the KeyValue in from..to lie. Of what is repeated the last counts. */
  #keyValue(from: number, to: number): void {
    const reader = this.#reader;
    this.#nameFrom = this.#nameTo = this.#valueFrom = this.#valueTo = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      if (tag === 0x0a) {
        reader.span(to);
        this.#nameFrom = reader.from;
        this.#nameTo = reader.at;
      } else if (tag === 0x12) {
        reader.span(to);
        this.#valueFrom = reader.from;
        this.#valueTo = reader.at;
      } else reader.skip(tag, to);
    }
  }

  /**
   * The field of the AnyValue that holds its value, 0 if it has none. A length-delimited one is left in `from` and `at`;
   * for a scalar the reader stands before the value.
   */
  #value(from: number, to: number): number {
    const reader = this.#reader;
    let found = 0;
    let position = 0;
    reader.at = from;
    while (reader.at < to) {
      const tag = reader.tag(to);
      // Only the last of a oneof counts.
      if (isValueTag(tag)) {
        found = tag;
        position = reader.at;
      }
      reader.skip(tag, to);
    }
    reader.at = position;
    if ((found & 7) === 2) reader.span(to);
    return found;
  }

  #scalar(tag: number, to: number): string {
    const reader = this.#reader;
    reader.spend(work.string);
    switch (tag) {
      case 0x10:
        reader.varint(to);
        return reader.low === 0 && reader.high === 0 ? 'false' : 'true';
      case 0x18:
        reader.varint(to);
        return reader.high === 0 ? String(reader.low) : reader.signed().toString();
      default:
        return String(reader.double(to));
    }
  }

  /** A byte more than the budget still shows that something was cut. */
  #within(from: number, to: number): number {
    return cutEnd(this.#reader.bytes, from, to, this.#budget + 4);
  }

  #cut(from: number, to: number, limit: number, characters = true): number {
    if (to - from <= limit) return to;
    this.#losses[limit === this.#limits.keyBytes ? 'keys' : limit === this.#limits.bodyBytes ? 'bodies' : 'values'] +=
      1;
    return characters ? cutEnd(this.#reader.bytes, from, to, limit) : from + limit;
  }
}

function isValueTag(tag: number): boolean {
  const isText = tag === 0x0a || tag === 0x3a;
  return isText || tag === 0x10 || tag === 0x18 || tag === 0x21 || tag === 0x2a || tag === 0x32;
}

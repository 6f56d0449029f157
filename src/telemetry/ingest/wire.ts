/** By what a request cannot be taken: its form, what it would store, or what decoding it would cost. */
export type Refused = 'malformed' | 'tooLarge' | 'tooMuchWork';

/** The sender's bytes are not taken; the text is ours and goes into the answer. */
export class OtlpDecodeError extends Error {
  readonly refused: Refused;
  /** One of few, for counting: holds nothing of a sender's. */
  readonly kind: string;

  constructor(message: string, refused: Refused = 'malformed', kind = message) {
    super(message);
    this.name = 'OtlpDecodeError';
    this.refused = refused;
    this.kind = kind;
  }
}

const wireVarint = 0;
const wireFixed64 = 1;
const wireBytes = 2;
const wireFixed32 = 5;

/**
 * Protobuf wire format, read forward and never past `end`. Values come back through fields instead of objects, since this
 * runs a hundred times for every span.
 */
export class WireReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  at = 0;
  /** Start of what `span` found; its end is `at`. */
  from = 0;
  /** Lower and upper half of the last 64-bit value, both unsigned. */
  low = 0;
  high = 0;
  readonly #mostWork: number;
  #work = 0;

  /** `mostWork` in units of limits.ts. */
  constructor(bytes: Uint8Array, mostWork: number) {
    this.bytes = bytes;
    this.#mostWork = mostWork;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** For what costs more than the fields that it was read from. */
  spend(units: number): void {
    this.#work += units;
    if (this.#work > this.#mostWork)
      throw new OtlpDecodeError('The request has too many fields. Send fewer records in a request.', 'tooMuchWork');
  }

  /** Field number and wire type in one number, `field << 3 | wire`. */
  tag(end: number): number {
    this.spend(1);
    const first = this.at < end ? (this.bytes[this.at] ?? 0) : this.#cut();
    let tag = first;
    if (first < 0x80) this.at += 1;
    else {
      this.varint(end);
      if (this.high !== 0) throw new OtlpDecodeError('A field number is out of range.');
      tag = this.low;
    }
    const wire = tag & 7;
    if (tag < 8) throw new OtlpDecodeError('A field has the number 0.');
    if (wire !== wireVarint && wire !== wireBytes && wire !== wireFixed64 && wire !== wireFixed32) {
      throw new OtlpDecodeError(
        wire === 3 || wire === 4 ? 'OTLP does not use groups.' : `There is no wire type ${wire}.`,
      );
    }
    return tag;
  }

  /** Into `low` and `high`. */
  varint(end: number): void {
    const bytes = this.bytes;
    let at = this.at;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end) this.#cut();
      const byte = bytes[at] ?? 0;
      at += 1;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else if (shift < 63) high |= bits << (shift - 32);
      else if (byte > 1) throw new OtlpDecodeError('A varint has more than 64 bits.');
      else high |= bits << 31;
      if (byte < 0x80) break;
    }
    this.at = at;
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /** A length-delimited field: moves behind it and leaves its start in `from`. */
  span(end: number): void {
    const first = this.at < end ? (this.bytes[this.at] ?? 0) : this.#cut();
    let length = first;
    if (first < 0x80) this.at += 1;
    else {
      this.varint(end);
      if (this.high !== 0) this.#cut();
      length = this.low;
    }
    if (length > end - this.at) this.#cut();
    this.from = this.at;
    this.at += length;
  }

  /** Into `low` and `high`. */
  fixed64(end: number): void {
    if (end - this.at < 8) this.#cut();
    this.low = this.#view.getUint32(this.at, true);
    this.high = this.#view.getUint32(this.at + 4, true);
    this.at += 8;
  }

  /** Into `low`. */
  fixed32(end: number): void {
    if (end - this.at < 4) this.#cut();
    this.low = this.#view.getUint32(this.at, true);
    this.at += 4;
  }

  double(end: number): number {
    if (end - this.at < 8) this.#cut();
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }

  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case wireVarint:
        return this.varint(end);
      case wireFixed64:
        return this.fixed64(end);
      case wireFixed32:
        return this.fixed32(end);
      default:
        return this.span(end);
    }
  }

  /** Moves behind the next field with this tag, past all others; false if none is left. */
  find(wanted: number, end: number): boolean {
    while (this.at < end) {
      const tag = this.tag(end);
      this.skip(tag, end);
      if (tag === wanted) return true;
    }
    return false;
  }

  /** The last varint as a signed 64-bit integer. */
  signed(): bigint {
    return BigInt.asIntN(64, (BigInt(this.high) << 32n) | BigInt(this.low));
  }

  #cut(): never {
    throw new OtlpDecodeError('The message ends inside a field.');
  }
}

/** Above every tag that a decoder reads. */
const tags = 0x88;
const float = new DataView(new ArrayBuffer(8));

/**
 * The fields of one message by tag, of repeated ones the last: where they lie, or the two words of a number. Made once and
 * cleared for each message, since nothing may be allocated for a field.
 */
export class Fields {
  readonly #low = new Uint32Array(tags);
  readonly #high = new Uint32Array(tags);
  /** When each was kept, in counts that stay small integers. */
  readonly #kept = new Uint32Array(tags);
  #count = 0;
  #before = 0;

  clear(): void {
    if (this.#count > 2 ** 29) {
      this.#kept.fill(0);
      this.#count = 0;
    }
    this.#before = this.#count;
  }

  /** The field that the reader has just moved behind. */
  keep(tag: number, reader: WireReader): void {
    if (tag >= tags) return;
    const isBytes = (tag & 7) === wireBytes;
    this.#low[tag] = isBytes ? reader.from : reader.low;
    this.#high[tag] = isBytes ? reader.at : reader.high;
    this.#count += 1;
    this.#kept[tag] = this.#count;
  }

  /** Keeps the fields of the message in from..to. */
  read(reader: WireReader, from: number, to: number): this {
    this.clear();
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      this.keep(tag, reader);
    }
    return this;
  }

  has(tag: number): boolean {
    return (this.#kept[tag] ?? 0) > this.#before;
  }

  /** Whether a oneof has this field: only its last one counts. */
  isAfter(tag: number, other: number): boolean {
    return this.has(tag) && (this.#kept[tag] ?? 0) > (this.#kept[other] ?? 0);
  }

  /** The lower word of a number, or where a length-delimited field starts. 0 if it is absent, as for all that follow. */
  low(tag: number): number {
    return this.has(tag) ? (this.#low[tag] ?? 0) : 0;
  }

  /** The upper word of a number, or where a length-delimited field ends. */
  high(tag: number): number {
    return this.has(tag) ? (this.#high[tag] ?? 0) : 0;
  }

  /** An `int32` or an enum, which travel sign-extended. */
  int32(tag: number): number {
    return this.low(tag) | 0;
  }

  sint32(tag: number): number {
    const low = this.low(tag);
    return (low >>> 1) ^ -(low & 1);
  }

  double(tag: number): number {
    float.setUint32(0, this.low(tag), true);
    float.setUint32(4, this.high(tag), true);
    return float.getFloat64(0, true);
  }
}

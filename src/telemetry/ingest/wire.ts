/** The sender's bytes are not the message they claim to be; the text is ours and goes into the answer. */
export class OtlpDecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OtlpDecodeError';
  }
}

export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
export const wireFixed32 = 5;

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

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Field number and wire type in one number, `field << 3 | wire`. */
  tag(end: number): number {
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

  fixed32(end: number): number {
    if (end - this.at < 4) this.#cut();
    this.at += 4;
    return this.#view.getUint32(this.at - 4, true);
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
        this.fixed32(end);
        return;
      default:
        return this.span(end);
    }
  }

  /** The last varint as a signed 64-bit integer. */
  signed(): bigint {
    return BigInt.asIntN(64, (BigInt(this.high) << 32n) | BigInt(this.low));
  }

  /** The last varint as `int32` or an enum, which travel sign-extended. */
  int32(): number {
    return this.low | 0;
  }

  /** The last varint as `sint32`. */
  sint32(): number {
    return (this.low >>> 1) ^ -(this.low & 1);
  }

  #cut(): never {
    throw new OtlpDecodeError('The message ends inside a field.');
  }
}

/** Of a head, at most. */
const headroom = 2 * 1024;

/**
 * The short body of an answer, with room before it into which its head is written: both go out in one piece, and are not copied
 * for it. A head that is there already, as most are that follow one another, is not written again.
 */
export class HeadroomBuffer {
  /** All of it. The body begins at `bodyAt`. */
  readonly memory: Buffer;
  readonly bodyAt = headroom;
  /** Of the body. */
  length = 0;
  #head: string | undefined;
  #said: number | undefined;
  #whole: Buffer;

  constructor(bodyRoom: number) {
    this.memory = Buffer.allocUnsafeSlow(headroom + bodyRoom);
    this.#whole = this.memory.subarray(headroom, headroom);
  }

  get body(): Buffer {
    return this.memory.subarray(headroom, headroom + this.length);
  }

  /**
   * Head and body. Undefined where the head is too long.
   * @param head up to what it says of the body's length.
   * @param hasLength whether it says that already.
   */
  behind(head: string, hasLength: boolean): Buffer | undefined {
    const { length, memory } = this;
    const said = hasLength ? undefined : length;
    let start = this.#whole.byteOffset;
    if (head !== this.#head || said !== this.#said) {
      const text = `${head}${hasLength ? '' : `content-length: ${length}\r\n`}\r\n`;
      if (text.length > headroom) return undefined;
      start = headroom - text.length;
      memory.write(text, start, 'latin1');
      this.#head = head;
      this.#said = said;
    } else if (this.#whole.length === headroom - start + length) return this.#whole;
    return (this.#whole = memory.subarray(start, headroom + length));
  }
}

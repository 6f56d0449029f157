import { STATUS_CODES, validateHeaderValue } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';

/** The headers of an answer as they are sent. Whoever sends the very same object again, frozen, has them written once. */
export class HeaderFields {
  readonly hasLength: boolean;
  readonly closes: boolean;
  readonly #text: string;
  #head = '';
  #status = 0;
  #date = '';
  #stays = '';

  /** Throws on a value that cannot be sent. */
  constructor(headers: OutgoingHttpHeaders) {
    let text = '';
    let hasLength = false;
    let closes = false;
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) continue;
      if (name === 'connection') {
        closes ||= value === 'close';
        continue;
      }
      if (name === 'content-length') hasLength = true;
      for (const one of Array.isArray(value) ? value : [String(value)]) {
        validateHeaderValue(name, one);
        text += `${name}: ${one}\r\n`;
      }
    }
    this.hasLength = hasLength;
    this.closes = closes;
    this.#text = text;
  }

  static of(headers: OutgoingHttpHeaders): HeaderFields {
    const known = written.get(headers);
    if (known !== undefined) return known;
    const fields = new HeaderFields(headers);
    if (Object.isFrozen(headers)) written.set(headers, fields);
    return fields;
  }

  /**
   * The head without what is said of the body's length, and the empty line: the very same text within a second.
   * @param stays the fields that tell whether the connection does.
   */
  head(status: number, stays: string): string {
    const date = httpDate();
    if (this.#date !== date || this.#status !== status || this.#stays !== stays) {
      this.#date = date;
      this.#status = status;
      this.#stays = stays;
      const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
      this.#head = `${line}${this.#text}Date: ${date}\r\n${stays}`;
    }
    return this.#head;
  }
}

const written = new WeakMap<OutgoingHttpHeaders, HeaderFields>();

let date = '';
let dateEnds = 0;

/** RFC 9110 §6.6.1. Made once a second. */
function httpDate(): string {
  const now = Date.now();
  if (now >= dateEnds || now < dateEnds - 1_000) {
    date = new Date(now).toUTCString();
    dateEnds = now - (now % 1_000) + 1_000;
  }
  return date;
}

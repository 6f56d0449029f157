import type { Shape } from './shape.ts';

/**
 * Goes through one row of JSON value by value. The text holds one byte a character (latin1), so that its lengths are in
 * bytes and nothing is decoded that is only passed on.
 */
export class RowWalk {
  readonly #text: string;
  #at = 1;

  constructor(text: string) {
    this.#text = text;
  }

  cell(shape: Shape): string {
    this.#gap();
    return this.#value(shape);
  }

  /** A comma between values and the space that may follow it. */
  #gap(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== comma && code !== space) return;
      this.#at += 1;
    }
  }

  #value(shape: Shape): string {
    const first = this.#text.charCodeAt(this.#at);
    if (shape === undefined) return this.#pass();
    switch (shape.kind) {
      case 'time':
        return first === quote ? timeText(this.#pass()) : this.#pass();
      case 'float':
        return first === quote ? floatText(this.#pass()) : this.#pass();
      case 'list':
        return first === openList ? this.#list(shape.elements) : this.#pass();
      case 'object':
        return first === openObject ? this.#object(shape.values) : this.#pass();
    }
  }

  #list(elements: readonly Shape[]): string {
    let text = '';
    this.#at += 1;
    for (let index = 0; this.#text.charCodeAt(this.#at) !== closeList; index += 1) {
      const value = this.#value(elements[Math.min(index, elements.length - 1)]);
      text += index === 0 ? value : `,${value}`;
      this.#gap();
    }
    this.#at += 1;
    return `[${text}]`;
  }

  #object(values: readonly Shape[]): string {
    let text = '';
    this.#at += 1;
    for (let index = 0; this.#text.charCodeAt(this.#at) !== closeObject; index += 1) {
      const key = this.#pass();
      this.#at += 1;
      const value = this.#value(values[Math.min(index, values.length - 1)]);
      text += `${index === 0 ? '' : ','}${key}:${value}`;
      this.#gap();
    }
    this.#at += 1;
    return `{${text}}`;
  }

  #pass(): string {
    const start = this.#at;
    const first = this.#text.charCodeAt(start);
    if (first === quote) this.#at = this.#afterString(start);
    else if (first === openList || first === openObject) this.#at = this.#afterNested(start);
    else this.#at = this.#afterPlain(start);
    return this.#text.slice(start, this.#at);
  }

  #afterString(start: number): number {
    const text = this.#text;
    let at = start;
    for (;;) {
      at = text.indexOf('"', at + 1);
      if (at === -1) throw new MalformedRow();
      let escapes = 0;
      while (text.charCodeAt(at - 1 - escapes) === backslash) escapes += 1;
      if (escapes % 2 === 0) return at + 1;
    }
  }

  #afterNested(start: number): number {
    const text = this.#text;
    let depth = 0;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) at = this.#afterString(at) - 1;
      else if (code === openList || code === openObject) depth += 1;
      else if (code === closeList || code === closeObject) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    throw new MalformedRow();
  }

  #afterPlain(start: number): number {
    const text = this.#text;
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === comma || code === closeList || code === closeObject) break;
    }
    if (at === start) throw new MalformedRow();
    return at;
  }
}

/** The row is not the JSON that the engine writes. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

const quote = 0x22;
const comma = 0x2c;
const space = 0x20;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** `"…T12:00:00.120000000Z"` as `"…T12:00:00.120Z"`. */
function timeText(text: string): string {
  if (!text.endsWith('000Z"')) return text;
  let end = text.length - 2;
  while (text.startsWith('000', end - 3)) end -= 3;
  if (text.charCodeAt(end - 1) === 0x2e) end -= 1;
  // Not a fraction: the hour of a year beyond four digits, or seconds that are zero.
  return text.includes('.') ? `${text.slice(0, end)}Z"` : text;
}

const notNumbers: Readonly<Record<string, string>> = {
  '"nan"': '"NaN"',
  '"-nan"': '"NaN"',
  '"inf"': '"Infinity"',
  '"-inf"': '"-Infinity"',
};

function floatText(text: string): string {
  return notNumbers[text] ?? text;
}

import {
  backslash,
  closeBracket,
  comma,
  endOfCell,
  openBrace,
  openBracket,
  quote,
} from '../contract/core/json-bytes.ts';

const space = 0x20;

/**
 * The letter behind the backslash, for each byte that needs one inside a JSON string. White space of the engine's own between
 * values becomes a blank: a line break would be taken for the end of a row.
 */
const escapes = new Uint8Array(256);
for (const byte of [quote, backslash]) escapes[byte] = byte;
const blanks = new Uint8Array(256);
for (const byte of [space, 0x09, 0x0a, 0x0d]) blanks[byte] = 1;

/** Bytes that end a text, or because of which it keeps its quotes; 2 for those that a line break beyond ASCII may begin with. */
const marks = new Uint8Array(256);
for (const byte of [quote, backslash, comma]) marks[byte] = 1;
for (const byte of [0xc2, 0xe2]) marks[byte] = 2;

/** How many bytes one of the rows may become. */
export const mostOfByte = 2;

/**
 * Rows for a model to read, as the inside of a JSON string: a line each, cells parted by commas. A text goes without its quotes
 * unless it is empty, has a comma, a quote or a backslash in it, or begins or ends like something else; NULL is nothing; all
 * else is JSON. A line break beyond ASCII becomes a blank. So a line holds one row whatever stands in it.
 * @param rows `[…],[…]`, JSON in UTF-8 whose only control characters are white space.
 * @returns where they end in the target.
 */
export function writeLines(rows: Uint8Array, target: Uint8Array, from: number): number {
  const { length } = rows;
  let at = 0;
  let out = from;
  while (at < length) {
    if (at > 0) {
      target[out] = backslash;
      target[out + 1] = 0x6e;
      out += 2;
    }
    at += 1;
    for (;;) {
      const start = skipBlanks(rows, at);
      const begin = out;
      const next = rows[start] === quote ? start + 1 : start;
      let end = next;
      if (next > start) {
        for (let mark = marks[rows[end] ?? 0]; end < length && mark !== 1; mark = marks[rows[end] ?? 0]) {
          const broken = mark === 2 ? lineBreak(rows, end) : 0;
          target[out] = broken === 0 ? (rows[end] ?? 0) : space;
          out += 1;
          end += broken || 1;
        }
        end = rows[end] === quote && !looksOtherwise(rows, next, end) ? skipBlanks(rows, end + 1) : start;
      }
      if (next === start || !endsCell(rows[end])) {
        end = endOfCell(rows, start);
        // Of what may stand here only NULL begins so.
        out = rows[start] === 0x6e ? begin : writeEscaped(rows, start, beforeBlanks(rows, start, end), target, begin);
      }
      at = end + 1;
      if (rows[end] !== comma) break;
      target[out] = comma;
      out += 1;
    }
    // The comma between two rows.
    at += 1;
  }
  return out;
}

function skipBlanks(rows: Uint8Array, from: number): number {
  let at = from;
  while (blanks[rows[at] ?? 0] === 1) at += 1;
  return at;
}

function beforeBlanks(rows: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && blanks[rows[at - 1] ?? 0] === 1) at -= 1;
  return at;
}

function endsCell(byte: number | undefined): boolean {
  return byte === comma || byte === closeBracket;
}

/** Whether a text without quotes would be nothing, the beginning of a list or an object, or lose its blanks. */
function looksOtherwise(rows: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  const first = rows[start] ?? 0;
  if (first === openBracket || first === openBrace || first === space || rows[end - 1] === space) return true;
  return marks[first] === 2 && lineBreak(rows, start) > 0;
}

function writeEscaped(rows: Uint8Array, start: number, end: number, target: Uint8Array, from: number): number {
  let out = from;
  for (let at = start; at < end; at += 1) {
    const byte = rows[at] ?? 0;
    if (escapes[byte] !== 0) {
      target[out] = backslash;
      out += 1;
    }
    const broken = marks[byte] === 2 ? lineBreak(rows, at) : 0;
    // Inside a text there are no control characters.
    target[out] = byte < space || broken > 0 ? space : byte;
    out += 1;
    if (broken > 0) at += broken - 1;
  }
  return out;
}

/** How many bytes of a line break beyond ASCII begin here: U+0085, U+2028, U+2029. Not everybody ends a line at LF alone. */
function lineBreak(rows: Uint8Array, at: number): number {
  if (rows[at] === 0xc2) return rows[at + 1] === 0x85 ? 2 : 0;
  const last = rows[at + 1] === 0x80 ? rows[at + 2] : 0;
  return last === 0xa8 || last === 0xa9 ? 3 : 0;
}

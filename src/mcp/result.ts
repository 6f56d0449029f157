import type { AroundRows, SightlineError, ToolResult } from '../contract/core/index.ts';
import { backslash, closeBracket, comma, endOfCell, openBrace, openBracket, quote } from '../contract/core/json.ts';

const space = 0x20;

/** By byte. White space between the engine's values becomes a blank: a line break would end a row. */
const escapes = new Uint8Array(256);
for (const byte of [quote, backslash]) escapes[byte] = byte;
const blanks = new Uint8Array(256);
for (const byte of [space, 0x09, 0x0a, 0x0d]) blanks[byte] = 1;

/** Bytes that end a text, or because of which it keeps its quotes; 2 for those that a line break beyond ASCII may begin with. */
const marks = new Uint8Array(256);
for (const byte of [quote, backslash, comma]) marks[byte] = 1;
for (const byte of [0xc2, 0xe2]) marks[byte] = 2;

/** How many bytes one of the rows may become. */
const mostOfByte = 2;

/**
 * Rows for a model to read, as the inside of a JSON string: a line each, cells parted by commas. A text goes without its quotes
 * unless it is empty, has a comma, a quote or a backslash in it, or begins or ends like something else; NULL is nothing; all
 * else is JSON. A line break beyond ASCII becomes a blank. So a line holds one row whatever stands in it.
 * @param rows `[…],[…]`, JSON in UTF-8 whose only control characters are white space.
 * @returns where they end in the target.
 */
function writeLines(rows: Uint8Array, target: Uint8Array, from: number): number {
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

const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;
/** The used part of borrowed memory. The sender gives it back once the kernel has taken it. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;
/** At least `bytes`, uninitialized, the borrower's until `giveBack`: off-heap garbage triggers full collections. */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Only when neither the caller nor a socket reads it any more. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}

/** 5 MB of rows, with room for what surrounds them. */
export const maxResultBytes = 5 * 1024 * 1024 + 64 * 1024;

/** Up to here a string costs less than a buffer does. */
const fewBytes = 8 * 1024;
const none = Buffer.alloc(0);

/** A call's result as JSON text. What is structured is spliced in as its maker wrote it; `tail` is what the era adds. */
export function resultJson(result: ToolResult, tail: string): string | Borrowed {
  const { structured, text, content } = result;
  if (content === undefined && typeof structured === 'object' && structured.rows.length > fewBytes) {
    return largeResult(structured, text, tail);
  }
  const blocks = content === undefined ? `[{"type":"text","text":"${textInString(text)}"}]` : JSON.stringify(content);
  return `{"content":${blocks},"structuredContent":${structuredText(structured)}${tail}}`;
}

function largeResult(structured: AroundRows, text: ToolResult['text'], tail: string): Borrowed {
  const { before, rows, after } = typeof text === 'string' ? { before: text, rows: none, after: '' } : text;
  const start = `{"content":[{"type":"text","text":"${inString(before)}`;
  const middle = `${inString(after)}"}],"structuredContent":${structured.before}`;
  const end = `${structured.after}${tail}}`;
  // A UTF-16 unit is at most three bytes.
  const around = (start.length + middle.length + end.length) * 3;
  const memory = borrow(around + rows.length * mostOfByte + structured.rows.length);
  let at = memory.write(start);
  at = writeLines(rows, memory, at);
  at += memory.write(middle, at);
  memory.set(structured.rows, at);
  at += structured.rows.length;
  at += memory.write(end, at);
  return { memory, length: at };
}

/** Bytes of a text in UTF-8; of rows as they are in JSON, which their lines are seldom longer than. */
export function byteLength(text: string | AroundRows): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return Buffer.byteLength(text.before) + text.rows.length + Buffer.byteLength(text.after);
}

export function structuredText(structured: ToolResult['structured']): string {
  if (typeof structured === 'string') return structured;
  return structured.before + structured.rows.toString() + structured.after;
}

export function textInString(text: ToolResult['text']): string {
  if (typeof text === 'string') return inString(text);
  const memory = borrow(text.rows.length * mostOfByte);
  const lines = memory.toString('utf8', 0, writeLines(text.rows, memory, 0));
  giveBack(memory);
  return inString(text.before) + lines + inString(text.after);
}

function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A failed call, for the model to read. There is no structuredContent, which both eras allow next to `isError`. */
export function errorResultJson(error: SightlineError, requestId: string, tail: string): string {
  const text = JSON.stringify({
    code: error.code,
    message: error.message,
    hint: error.hint,
    position: error.position,
    retry: error.retry,
    retry_after_seconds: error.retryAfterSeconds,
    request_id: requestId,
  });
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true${tail}}`;
}

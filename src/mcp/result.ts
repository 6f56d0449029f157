import type { SightlineError } from '../contract/errors.ts';
import type { AroundRows, ToolResult } from '../contract/tool.ts';

/** 5 MB of rows, with room for what surrounds them. */
export const maxResultBytes = 5 * 1024 * 1024 + 64 * 1024;

/** Up to here a string costs less than a buffer does. */
const fewBytes = 8 * 1024;

/** A call's result as JSON text. What is structured is spliced in as its maker wrote it; `tail` is what the era adds. */
export function resultJson({ structured, text, content }: ToolResult, tail: string): string | Buffer {
  if (content === undefined && typeof structured === 'object' && typeof text === 'object') {
    if (structured.rows.length + text.rows.length > fewBytes) return resultBytes(structured, text, tail);
  }
  const shown = JSON.stringify(content === undefined ? plain(text) : content);
  const blocks = content === undefined ? `[{"type":"text","text":${shown}}]` : shown;
  return `{"content":${blocks},"structuredContent":${plain(structured)}${tail}}`;
}

/** Many rows are written twice into one buffer, of which only what is touched takes memory. */
function resultBytes(structured: AroundRows, text: AroundRows, tail: string): Buffer {
  const start = `{"content":[{"type":"text","text":"${inString(text.before)}`;
  const middle = `${inString(text.after)}"}],"structuredContent":${structured.before}`;
  const end = `${structured.after}${tail}}`;
  // A UTF-16 unit is at most three bytes, and a byte at most two inside a string.
  const most = (start.length + middle.length + end.length) * 3 + text.rows.length * 2 + structured.rows.length;
  const bytes = Buffer.allocUnsafeSlow(most);
  let at = bytes.write(start);
  at = writeInString(text.rows, bytes, at);
  at += bytes.write(middle, at);
  bytes.set(structured.rows, at);
  at += structured.rows.length;
  at += bytes.write(end, at);
  return bytes.subarray(0, at);
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string | AroundRows): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return Buffer.byteLength(text.before) + text.rows.length + Buffer.byteLength(text.after);
}

export function begins(text: string | AroundRows, start: string): boolean {
  return (typeof text === 'string' ? text : text.before).startsWith(start);
}

/** As one string: for what has no use for bytes. */
export function plain(text: string | AroundRows): string {
  return typeof text === 'string' ? text : text.before + text.rows.toString() + text.after;
}

function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const backslash = 0x5c;
const escapes = new Uint8Array(256);
for (const [byte, letter] of [
  [0x22, 0x22],
  [backslash, backslash],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0d, 0x72],
] as const) {
  escapes[byte] = letter;
}

/** JSON text as the inside of a JSON string: it has no other control characters than white space. Answers where it ends. */
function writeInString(json: Uint8Array, target: Uint8Array, from: number): number {
  const { length } = json;
  let at = from;
  for (let index = 0; index < length; index += 1) {
    const byte = json[index] ?? 0;
    const escape = escapes[byte] ?? 0;
    if (escape === 0) {
      target[at] = byte;
      at += 1;
    } else {
      target[at] = backslash;
      target[at + 1] = escape;
      at += 2;
    }
  }
  return at;
}

/**
 * A failed call, for the model to read: code, message, hint and a `retry` it can send. There is no structuredContent, which
 * both eras allow next to `isError`.
 */
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

import type { SightlineError } from '../contract/errors.ts';
import type { AroundRows, ToolResult } from '../contract/tool.ts';
import { rowLines } from './row-lines.ts';

/** 5 MB of rows, with room for what surrounds them. */
export const maxResultBytes = 5 * 1024 * 1024 + 64 * 1024;

/** Up to here a string costs less than a buffer does. */
const fewBytes = 8 * 1024;

/** A call's result as JSON text. What is structured is spliced in as its maker wrote it; `tail` is what the era adds. */
export function resultJson(result: ToolResult, tail: string): string | Buffer {
  const { structured, text, content } = result;
  if (content === undefined && typeof structured === 'object' && structured.rows.length > fewBytes) {
    return resultBytes(structured, text, tail);
  }
  const blocks = content === undefined ? `[{"type":"text","text":"${textInString(text)}"}]` : JSON.stringify(content);
  return `{"content":${blocks},"structuredContent":${structuredText(structured)}${tail}}`;
}

/** Many rows are written into one buffer of the answer's length. */
function resultBytes(structured: AroundRows, text: ToolResult['text'], tail: string): Buffer {
  const [before, lines, after] =
    typeof text === 'string'
      ? [inString(text), Buffer.alloc(0), '']
      : [inString(text.before), rowLines(text.rows), inString(text.after)];
  const start = `{"content":[{"type":"text","text":"${before}`;
  const middle = `${after}"}],"structuredContent":${structured.before}`;
  const end = `${structured.after}${tail}}`;
  const startLength = Buffer.byteLength(start);
  const middleLength = Buffer.byteLength(middle);
  const rowsAt = startLength + lines.length + middleLength;
  const endAt = rowsAt + structured.rows.length;
  const bytes = Buffer.allocUnsafeSlow(endAt + Buffer.byteLength(end));
  bytes.write(start);
  bytes.set(lines, startLength);
  bytes.write(middle, startLength + lines.length);
  bytes.set(structured.rows, rowsAt);
  bytes.write(end, endAt);
  return bytes;
}

/** Bytes of a text in UTF-8; of rows as they are in JSON, which their lines are seldom longer than. */
export function byteLength(text: string | AroundRows): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return Buffer.byteLength(text.before) + text.rows.length + Buffer.byteLength(text.after);
}

/** What is structured as one string. */
export function structuredText(structured: ToolResult['structured']): string {
  if (typeof structured === 'string') return structured;
  return structured.before + structured.rows.toString() + structured.after;
}

/** What is to be read as the inside of a JSON string. */
export function textInString(text: ToolResult['text']): string {
  if (typeof text === 'string') return inString(text);
  return inString(text.before) + rowLines(text.rows).toString() + inString(text.after);
}

function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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

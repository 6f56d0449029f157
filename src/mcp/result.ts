import type { AroundRows, SightlineError, ToolResult } from '../contract/core/index.ts';
import { borrow, giveBack } from './running.ts';
import type { Borrowed } from './running.ts';
import { mostOfByte, writeLines } from './row-lines.ts';

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

/** What is structured as one string. */
export function structuredText(structured: ToolResult['structured']): string {
  if (typeof structured === 'string') return structured;
  return structured.before + structured.rows.toString() + structured.after;
}

/** What is to be read as the inside of a JSON string. */
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

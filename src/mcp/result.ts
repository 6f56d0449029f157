import type { SightlineError } from '../contract/errors.ts';
import type { ToolResult } from '../contract/tool.ts';

/** 5 MB of rows, with room for what surrounds them. */
export const maxResultBytes = 5 * 1024 * 1024 + 64 * 1024;

/** A call's result as JSON text. `structured` is spliced in as its maker wrote it; `tail` is what the era adds. */
export function resultJson(result: ToolResult, tail: string): string {
  const content = JSON.stringify(result.content ?? [{ type: 'text', text: result.text }]);
  return `{"content":${content},"structuredContent":${result.structured}${tail}}`;
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

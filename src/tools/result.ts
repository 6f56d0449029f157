import type { ToolResult } from '../contract/core/index.ts';

/** Serializes the structured content, once. `undefined` members are left out, as the output schemas say "optional". */
export function toolResult(structured: object, lines: readonly string[], facts?: ToolResult['facts']): ToolResult {
  const result = { structured: JSON.stringify(structured), text: lines.join('\n') };
  return facts === undefined ? result : { ...result, facts };
}

/** RFC 3339 UTC, or undefined. */
export function timeOrNothing(time: Date | undefined): string | undefined {
  return time?.toISOString();
}

/** Cuts to at most `limit` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, limit: number): { readonly text: string; readonly cut: boolean } {
  if (text.length <= limit) return { text, cut: false };
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
  return { text: text.slice(0, end), cut: true };
}

import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from './json-bytes.ts';

/**
 * Whether arrays and objects in this JSON text nest deeper than `limit`. Looks at bytes only, before the parser does, so that
 * nothing later has to walk a value of unknown depth. UTF-8 continuation bytes never equal the ASCII marks.
 */
export function nestsDeeperThan(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (inString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth -= 1;
    }
  }
  return false;
}

/** Whether no more than `limit` brackets and braces open in this text, in strings or not: it cannot nest deeper. */
export function opensAtMost(text: string, limit: number): boolean {
  let left = limit;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

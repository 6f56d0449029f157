import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from './json-bytes.ts';

/** One bit: no other byte becomes a brace by it. */
const bracketToBrace = openBracket ^ openBrace;

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

/**
 * Whether this JSON text from `from` on is ASCII and has no more than `limit` brackets and braces that open, in strings or not. What
 * most clients send is, and needs no closer look at its characters or its nesting.
 */
export function isPlain(json: Uint8Array, from: number, limit: number): boolean {
  let bits = 0;
  let opened = 0;
  for (let index = from; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    bits |= byte;
    if ((byte | bracketToBrace) === openBrace) opened += 1;
  }
  return bits < 0x80 && opened <= limit;
}

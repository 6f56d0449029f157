const quoteMark = 0x22;
const backslash = 0x5c;

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
      else if (byte === quoteMark) inString = false;
    } else if (byte === quoteMark) {
      inString = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

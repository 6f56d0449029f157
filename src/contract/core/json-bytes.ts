/** What JSON text is told apart by, byte by byte: UTF-8 continuation bytes never equal any of these. */
export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const firstPrintable = 0x20;

/** Where the comma or bracket behind a cell is, in a row that is JSON. Throws where the row ends before. */
export function endOfCell(rows: Uint8Array, start: number): number {
  const { length } = rows;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = rows[at];
    if (byte === quote) {
      at += 1;
      while (at < length && rows[at] !== quote) at += rows[at] === backslash ? 2 : 1;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
    } else if (byte === closeBracket || byte === closeBrace) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (byte === comma && depth === 0) {
      return at;
    }
    at += 1;
  }
  throw new Error('rows end inside a cell');
}

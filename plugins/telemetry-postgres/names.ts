const word = /^(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/u;

/**
 * The last part of the name that begins at the 1-based `position`, counted in characters as the server counts them;
 * undefined where something else stands there.
 */
export function nameAt(sql: string, position: number): string | undefined {
  if (!Number.isSafeInteger(position) || position < 1) return undefined;
  let rest = sql.slice(unitOf(sql, position - 1));
  let last: string | undefined;
  for (;;) {
    const part = word.exec(rest)?.[0];
    if (part === undefined) return last === undefined ? undefined : shown(last);
    last = part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase();
    rest = rest.slice(part.length);
    const dot = /^\s*\.\s*/.exec(rest);
    if (dot === null) return shown(last);
    rest = rest.slice(dot[0].length);
  }
}

function unitOf(sql: string, characters: number): number {
  let unit = 0;
  for (let passed = 0; passed < characters && unit < sql.length; passed += 1) {
    unit += (sql.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

function shown(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}

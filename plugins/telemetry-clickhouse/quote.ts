/** A name as ClickHouse reads it: in backticks, whatever is in it. */
export function identifier(name: string): string {
  return `\`${name.replace(/[\\`]/g, String.raw`\$&`)}\``;
}

/** `database.table` with each part quoted, also where `{tenant}` stands in it. What is quoted already, or is no plain path, stays as its writer wrote it. */
export function tablePath(path: string): string {
  const parts = path.split('.');
  return parts.length <= 2 &&
    parts.every((part) => /^[\p{L}_][\p{L}\p{N}_$-]*$/u.test(part.replaceAll('{tenant}', '_')))
    ? parts.map(identifier).join('.')
    : path;
}

/** Text as a string literal. ClickHouse reads backslash escapes, so both it and the quote are escaped. */
export function literal(text: string): string {
  return `'${text.replace(/[\\']/g, String.raw`\$&`).replaceAll('\0', String.raw`\0`)}'`;
}

/** One of an answer, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement of ours and answers its rows by column name; 64-bit integers may come as text. */
export type Rows = (sql: string) => Promise<readonly Row[]>;

/** A field of an answer as text: '' where there is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}

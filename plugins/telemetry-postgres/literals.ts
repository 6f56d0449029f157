/** A name, quoted. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text literal, for sessions where a backslash is a backslash (standard_conforming_strings, which every session sets). */
export function quoteText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

export function timestampLiteral(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T');
  // Beyond the year 9999 JavaScript writes a sign that PostgreSQL does not read.
  return `'${date.replace(/^\+0*/, '')} ${clock.replace('Z', '+00')}'::timestamptz`;
}

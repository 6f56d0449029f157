/** A text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** One word of a POSIX shell that means `text` and nothing else; text without NUL. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A stranger's text, such as telemetry, in a code span: on one line, short, and without the backticks that would end it. */
export function code(text: string, limit = 120): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .replaceAll('`', "'");
  const short = line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
  return `\`${short === '' ? '(empty)' : short.toWellFormed()}\``;
}

/** At most `limit` characters of one line that quotes by `code`, ending in no code span: what is quoted there would be Markdown. */
export function shortened(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  const isInCode = cut.split('`').length % 2 === 0;
  return `${(isInCode ? cut.slice(0, cut.lastIndexOf('`')) : cut).trimEnd()}…`.toWellFormed();
}

/** A block that its content cannot close, for SQL. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

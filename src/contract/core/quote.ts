/** A text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
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

/** A block that its content cannot close, for SQL. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Telemetry is written by strangers. Whatever of it stands in a message or a document stands in a code span: on one line,
 * short, and without the backticks that would end the span.
 */
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

export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2)} %`;
}

export function milliseconds(nanoseconds: number): string {
  const value = nanoseconds / 1e6;
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

/** `2026-11-21 14:05 UTC` */
export function moment(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

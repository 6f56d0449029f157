import { renderMarkdown } from '../../src/web/markdown/render.ts';

const active: readonly RegExp[] = [
  /[a-z][a-z0-9+.-]*:\/\//i,
  /(?:^|[\s(<])\/\/\S/,
  /\bwww\./i,
  /\b(?:javascript|data|vbscript|mailto|tel|file):/i,
  /\]\s*[([:]/,
  /!\[/,
  /<[a-z!/?]/i,
  /[\p{L}\p{N}]@[\p{L}\p{N}]/u,
  /[\p{L}\p{N}]\.(?:example|com|net|org|io)\b/iu,
  /[\p{Cf}\u2028\u2029]/u,
];

/** What in a Markdown text could lead, load or run when some program shows it; empty is what we promise. */
export function activeContent(markdown: string): readonly string[] {
  const bare = withoutCode(markdown);
  const found = active.flatMap((pattern) => pattern.exec(bare)?.[0] ?? []);
  const shown = renderMarkdown(markdown, 1).toString();
  return [...found, ...(shown.match(/<(?:a|img|script|iframe|object|form)\b[^>]*>/g) ?? [])];
}

/** Fenced blocks and code spans taken out, as CommonMark reads them. */
function withoutCode(markdown: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const run = /^ {0,3}(`{3,})/.exec(line)?.[1];
    if (fence === undefined && run !== undefined) fence = run;
    else if (fence !== undefined && line.trim().startsWith(fence) && /^`+$/.test(line.trim())) fence = undefined;
    else if (fence === undefined) lines.push(line);
  }
  return lines.join('\n').replaceAll(/(?<!`)(`+)(?!`)([^]*?[^`])\1(?!`)/g, ' ');
}

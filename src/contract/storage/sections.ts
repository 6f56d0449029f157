/** A part of an incident's document. */
export interface Section {
  readonly title: string;
  /** Without blank lines around it. */
  readonly body: string;
}

/** Markdown cut at its headings of the second level, save those in fenced code. */
export function parseSections(markdown: string): { readonly preamble: string; readonly sections: readonly Section[] } {
  const parts: { readonly title: string; readonly lines: string[] }[] = [{ title: '', lines: [] }];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const ticks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (ticks !== undefined && (fence === undefined || ticks.startsWith(fence))) {
      fence = fence === undefined ? ticks : undefined;
    }
    const title = fence === undefined ? /^## +(.*\S)/.exec(line)?.[1] : undefined;
    if (title === undefined) parts.at(-1)?.lines.push(line);
    else parts.push({ title, lines: [] });
  }
  const [preamble, ...sections] = parts.map(({ title, lines }) => ({ title, body: lines.join('\n').trim() }));
  return { preamble: preamble?.body ?? '', sections };
}

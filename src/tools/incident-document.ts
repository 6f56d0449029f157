import { parseSections, type IncidentDocument, type Section } from '../contract/storage/index.ts';
import { cutText } from './result.ts';

/** In UTF-16 units, as a model reads it. */
export const longestDocument = 6_000;

/** What may be cut, the first first: what happened, what to do and what is open stay. */
const cuttable = ['Evidence', 'Ruled out', 'Timeline', 'Impact'];

/** The document for a model: without the SQL of the steps, which `read_incident` gives by evidence id. */
export function documentView(document: IncidentDocument | undefined, notes: string[]) {
  if (document === undefined) {
    notes.push('The incident has no document yet.');
    return undefined;
  }
  const { markdown, version, author, updatedAt } = document;
  const { text, cut } = shorten(withoutSql(markdown));
  if (cut) notes.push(`The document is cut at ${text.length} characters; its page has the whole.`);
  return { markdown: text, version, author: author.name, updated_at: updatedAt.toISOString() };
}

/** Without the code under `**E1** …`, which is a step's; other code somebody wrote for its readers. */
function withoutSql(markdown: string): string {
  const kept: string[] = [];
  let inStep = false;
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence === undefined) {
      if (/^\*\*E\d+\*\*/.test(line)) inStep = true;
      else if (line.startsWith('#')) inStep = false;
      fence = inStep ? /^(`{3,})sql$/.exec(line)?.[1] : undefined;
      if (fence === undefined) kept.push(line);
    } else if (line.trimEnd() === fence) fence = undefined;
  }
  return kept.join('\n').replaceAll(/\n{3,}/g, '\n\n');
}

function shorten(markdown: string): { readonly text: string; readonly cut: boolean } {
  if (markdown.length <= longestDocument) return { text: markdown, cut: false };
  const { preamble, sections } = parseSections(markdown);
  let shown = sections;
  for (const title of cuttable) {
    const excess = write(preamble, shown).length - longestDocument;
    if (excess <= 0) break;
    shown = shown.map((section) => (section.title === title ? cutSection(section, excess) : section));
  }
  return { text: cutText(write(preamble, shown), longestDocument).text, cut: true };
}

/** Whole lines from the beginning, as many as leave out `excess` characters. */
function cutSection({ title, body }: Section, excess: number): Section {
  const mark = '…';
  const { text } = cutText(body, Math.max(0, body.length - excess - mark.length - 1));
  const end = text.lastIndexOf('\n');
  return { title, body: end <= 0 ? mark : `${text.slice(0, end).trimEnd()}\n${mark}` };
}

function write(preamble: string, sections: readonly Section[]): string {
  const parts = [preamble, ...sections.map(({ title, body }) => `## ${title}\n\n${body}`)];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

import { shortened } from '../../contract/core/index.ts';
import { parseSections, type Section } from '../../contract/storage/index.ts';

export interface Version {
  readonly markdown: string;
  readonly byAgent: boolean;
}

interface Findings {
  readonly markdown: string;
  /** Whether anything was found: what found nothing does not take back what an earlier investigation found. */
  readonly found: boolean;
}

/** Sections in which the lines of people and of the agent stand together. */
const shared: ReadonlySet<string> = new Set(['Timeline', 'Evidence']);

/** Of a document, in bytes: people read it, and models with every incident. What a person writes is not cut. */
export const longestDocument = 6_000;
const longestLine = 500;

/** What is cut first of what the agent wrote, line by line from the end; what happened and what to do goes last. */
const cuttable = [
  'Without a model',
  'Evidence',
  'Like this before',
  'Ruled out',
  'Timeline',
  'Impact',
  'Open questions',
  'Root cause',
];

/**
 * Merges findings into the incident's document, section by section. Sections that a person wrote or changed are kept; the
 * agent's own are replaced, and so are its lines in Timeline and Evidence, save evidence that the document still cites.
 * Idempotent. `versions` are the document's, oldest first: the author of a section or a line is who last changed it.
 */
export function mergeDocument(versions: readonly Version[], findings: Findings): string {
  const current = versions.at(-1)?.markdown ?? '';
  const { preamble, sections } = parseSections(current);
  const authors = authorsOf(versions);
  const next = parseSections(findings.markdown);
  // An agent that writes no sections has evidence to tell.
  const said = (next.sections.length > 0 ? next.sections : [{ title: 'Evidence', body: next.preamble }]).map(shorter);

  const merged = sections.map((section): Section => {
    const { title } = section;
    const body = findings.found ? bodyOf(said, title) : undefined;
    const isTheirs = section.body !== '' && authors.people.has(title);
    if (body === undefined || (isTheirs && !shared.has(title))) return section;
    return { title, body: isTheirs ? joined(section.body, body, authors.agentLines) : body };
  });
  // Also to take a section out is to change it.
  const isNew = ({ title }: Section): boolean =>
    bodyOf(sections, title) === undefined && (shared.has(title) || !authors.people.has(title));
  for (const section of said.filter(isNew)) merged.splice(placeOf(section, merged, said), 0, section);

  const isPeoples = (title: string, line: string): boolean =>
    authors.people.has(title) &&
    (!shared.has(title) || (!authors.agentLines.has(line) && (bodyOf(sections, title) ?? '').includes(line)));
  const whole = fitted(preamble, withCitedEvidence(merged, sections), isPeoples);
  return whole === current.trim() ? current : `${whole}\n`;
}

/** Right after the section that it follows in what the agent wrote, else at the end. */
function placeOf({ title }: Section, merged: readonly Section[], said: readonly Section[]): number {
  const titles = said.map((section) => section.title);
  const before = new Set(titles.slice(0, titles.indexOf(title)));
  const after = merged.findLastIndex((section) => before.has(section.title));
  return after === -1 ? merged.length : after + 1;
}

interface Authors {
  /** Titles of the sections that a person changed after the agent did. */
  readonly people: ReadonlySet<string>;
  /** Lines that the agent wrote. */
  readonly agentLines: ReadonlySet<string>;
}

function authorsOf(versions: readonly Version[]): Authors {
  const people = new Set<string>();
  const agentLines = new Set<string>();
  let before: readonly Section[] = [];
  for (const { markdown, byAgent } of versions) {
    const { sections } = parseSections(markdown);
    for (const { title } of [...before, ...sections]) {
      const [was, is] = [bodyOf(before, title), bodyOf(sections, title)];
      if (was === is) continue;
      if (!byAgent) people.add(title);
      else if (!shared.has(title)) people.delete(title);
      const known = new Set(was?.split('\n'));
      const added = is?.split('\n').filter((line) => !known.has(line)) ?? [];
      for (const line of added) if (byAgent && line !== '') agentLines.add(line);
    }
    before = sections;
  }
  return { people, agentLines };
}

/** All that stands under the title, which a person may have given twice. */
function bodyOf(sections: readonly Section[], title: string): string | undefined {
  const bodies = sections.filter((section) => section.title === title).map(({ body }) => body);
  return bodies.length === 0 ? undefined : bodies.join('\n\n');
}

/** A person's lines with the agent's new ones, by time where all have one. */
function joined(body: string, said: string, agentLines: ReadonlySet<string>): string {
  if (saysNothing(said)) return body;
  const theirs = body.split('\n').filter((line) => !agentLines.has(line));
  const lines = [...theirs, ...said.split('\n').filter((line) => !theirs.includes(line))];
  const isTimed = lines.every((line) => /^- \d{4}-\d{2}-\d{2} /.test(line));
  const ordered = isTimed ? lines.toSorted((a, b) => a.slice(0, 18).localeCompare(b.slice(0, 18))) : lines;
  return ordered.join('\n').trim();
}

/** Empty, or but a line in italics such as `_Nothing to report._`. */
function saysNothing(body: string): boolean {
  return body === '' || /^_[^_\n]*_$/.test(body);
}

/** Evidence of earlier investigations stays for as long as another section cites it. */
function withCitedEvidence(merged: readonly Section[], before: readonly Section[]): readonly Section[] {
  const others = merged.filter(({ title }) => title !== 'Evidence').map(({ body }) => body);
  const cited = new Set(others.join('\n').match(/\bE\d+\b/g));
  return merged.map((section) => {
    if (section.title !== 'Evidence') return section;
    const present = new Set(section.body.split('\n').map(evidenceOf));
    const earlier = (bodyOf(before, 'Evidence') ?? '').split('\n').filter((line) => {
      const id = evidenceOf(line);
      return id !== undefined && cited.has(id) && !present.has(id);
    });
    const own = saysNothing(section.body) && earlier.length > 0 ? [] : [section.body];
    return { ...section, body: [...earlier, ...own].join('\n') };
  });
}

function evidenceOf(line: string): string | undefined {
  return /^- \*\*(E\d+)\*\*/.exec(line)?.[1];
}

/** Without what the agent wrote beyond the bound. */
function fitted(
  preamble: string,
  sections: readonly Section[],
  isPeoples: (title: string, line: string) => boolean,
): string {
  let kept = sections;
  const others = kept.map(({ title }) => title).filter((title) => !cuttable.includes(title));
  for (const title of [...cuttable, ...others.toReversed()]) {
    while (Buffer.byteLength(write(preamble, kept)) > longestDocument) {
      const at = kept.findIndex((section) => section.title === title);
      const lines = kept[at]?.body.split('\n') ?? [];
      const last = lines.findLastIndex((line) => line !== '' && !isPeoples(title, line));
      if (last < (title === 'Evidence' ? 0 : 1)) break;
      kept = kept.with(at, { title, body: lines.toSpliced(last, 1).join('\n').trim() });
    }
  }
  return write(preamble, kept);
}

function write(preamble: string, sections: readonly Section[]): string {
  return [preamble, ...sections.map(({ title, body }) => `## ${title}\n\n${body}`)]
    .filter((part) => part !== '')
    .join('\n\n')
    .trim();
}

function shorter({ title, body }: Section): Section {
  const lines = body.split('\n').map((line) => shortened(line, longestLine));
  return { title, body: lines.join('\n') };
}

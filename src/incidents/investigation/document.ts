import { parseSections, type Section } from '../../contract/storage/index.ts';

export interface Version {
  readonly markdown: string;
  readonly byAgent: boolean;
}

interface Findings {
  readonly markdown: string;
  readonly askedAt: Date;
  /** Whether anything was found: what found nothing does not take back what an earlier investigation found. */
  readonly found: boolean;
}

/** Sections to which every investigation adds. */
const growing: ReadonlySet<string> = new Set(['Timeline', 'Evidence']);

const longest = 500_000;

/**
 * Merges findings into the incident's document, section by section. Sections that a person wrote or changed are kept; the
 * agent's own sections are replaced; Timeline and Evidence gain new lines. Idempotent. `versions` are the document's, oldest
 * first: a section's author is who last changed it.
 */
export function mergeDocument(versions: readonly Version[], findings: Findings): string {
  const current = versions.at(-1)?.markdown;
  if (current === undefined) return findings.markdown;
  const now = parseSections(current);
  const people = writtenByPeople(versions);
  const next = parseSections(findings.markdown);
  // An agent that writes no sections has evidence to tell.
  const found = next.sections.length > 0 ? next.sections : [{ title: 'Evidence', body: next.preamble }];
  const whole = compose(now, people, found, findings);
  // What is concluded stays up to date where no further evidence has room; the investigation keeps that.
  const concluded = found.filter(({ title }) => !growing.has(title));
  const fitting = whole.length > longest ? compose(now, people, concluded, findings) : whole;
  return fitting.length > longest || fitting === current.trim() ? current : `${fitting}\n`;
}

function compose(
  now: ReturnType<typeof parseSections>,
  people: ReadonlySet<string>,
  found: readonly Section[],
  findings: Findings,
): string {
  const merged = now.sections.map((section) => {
    const said = bodyOf(found, section.title);
    if (said === undefined) return section;
    if (growing.has(section.title)) return { ...section, body: grown(section, said, findings.askedAt) };
    const theirs = section.body !== '' && people.has(section.title);
    return theirs || !findings.found ? section : { ...section, body: said };
  });
  // Also to take a section out is to change it.
  const added = found.filter(
    ({ title }) => bodyOf(now.sections, title) === undefined && (growing.has(title) || !people.has(title)),
  );
  return [now.preamble, ...[...merged, ...added].map(({ title, body }) => `## ${title}\n\n${body}`)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Titles of the sections that a person changed after the agent did. */
function writtenByPeople(versions: readonly Version[]): ReadonlySet<string> {
  const theirs = new Set<string>();
  let before: readonly Section[] = [];
  for (const { markdown, byAgent } of versions) {
    const { sections } = parseSections(markdown);
    for (const { title } of [...before, ...sections]) {
      if (bodyOf(before, title) === bodyOf(sections, title)) continue;
      if (byAgent) theirs.delete(title);
      else theirs.add(title);
    }
    before = sections;
  }
  return theirs;
}

/** All that stands under the title, which a person may have given twice. */
function bodyOf(sections: readonly Section[], title: string): string | undefined {
  const bodies = sections.filter((section) => section.title === title).map(({ body }) => body);
  return bodies.length === 0 ? undefined : bodies.join('\n\n');
}

function grown({ title, body }: Section, said: string, askedAt: Date): string {
  if (saysNothing(said) || body.includes(said)) return body;
  if (saysNothing(body)) return said;
  if (title === 'Evidence') {
    const asked = `${askedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    return `${body}\n\n### Asked ${asked}\n\n${said}`;
  }
  const lines = new Set(body.split('\n'));
  const news = said.split('\n').filter((line) => !lines.has(line));
  if (news.length === 0) return body;
  const all = [...body.split('\n'), ...news];
  // As both wrote them they begin with a time that sorts as text.
  const isTimed = title === 'Timeline' && all.every((line) => /^- \d{4}-\d{2}-\d{2} /.test(line));
  return (isTimed ? all.toSorted((a, b) => a.slice(0, 18).localeCompare(b.slice(0, 18))) : all).join('\n');
}

/** Empty, or but a line in italics such as `_Nothing to report._`. */
function saysNothing(body: string): boolean {
  return body === '' || /^_[^_\n]*_$/.test(body);
}

import type { DialectWriter } from '../../../src/contract/telemetry/index.ts';
import { wildcard, wordsOf } from './drain.ts';
import type { Cluster } from './drain.ts';

/** A kind of log line, word by word; `<*>` stands for any one word. */
export type Template = readonly string[];

/** Fewer different words are states and choices, which tell one line from another. */
const fewestWords = 4;
/** Of a cluster's lines, so many must have a word of their own for it to be a name. */
const ownWords = 0.5;

/**
 * The kinds of lines in a cluster. Where they have nearly as many words as there are lines, it is a name; where they share a
 * few, as `succeeded` and `failed`, these part them. None where no word is a name.
 */
export function templatesOf({ words, lines }: Cluster): readonly Template[] {
  const read = lines.map(wordsOf);
  const isName = words.map((word, index) => {
    const different = new Set(read.map((line) => line[index])).size;
    return word === wildcard && different >= Math.max(fewestWords, ownWords * read.length);
  });
  if (!isName.includes(true)) return [];
  const templates = read.map((line) => line.map((word, index) => (isName[index] ? wildcard : writable(word))));
  return [...new Map(templates.map((template) => [template.join(' '), template])).values()];
}

/** What a replacement could take for a reference to a group, or an engine for no text at all, is left out. */
function writable(word: string): string {
  return /[\\\p{Cc}\p{Cs}]/u.test(word) ? wildcard : word;
}

/** The text, or where it is of one of these kinds, the kind. */
export function ofKinds(write: DialectWriter, text: string, templates: readonly Template[]): string {
  return templates.reduce(
    (inner, template) => write.replaceRegexp(inner, patternOf(template), template.join(' ')),
    text,
  );
}

/** As a regular expression that RE2, PCRE and POSIX read alike: no escapes, any one character for a special one. */
export function patternOf(template: Template): string {
  const words = template.map((word) => (word === wildcard ? '[^ ]*' : word.replace(/[^\w<>=:/,;'"@#%~!&-]/gu, '[^ ]')));
  return `^${words.join(' ')}$`;
}

import type { DialectWriter } from '../../../src/contract/telemetry/index.ts';

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

/** Lines of as many words, of which enough are the same. */
export interface Cluster {
  /** Word by word; `<*>` where the lines differ. */
  readonly words: readonly string[];
  /** In the order of their texts, each text once. */
  readonly lines: readonly string[];
}

export const wildcard = '<*>';

export interface DrainOptions {
  /** Share of a line's words that must equal the cluster's for the line to join it. */
  readonly similarity: number;
  /** Distinct first words among lines of one length. */
  readonly mostChildren: number;
  /** Beneath one first word; what comes after joins what it is most like. */
  readonly mostClusters: number;
}

const usualOptions: DrainOptions = { similarity: 0.5, mostChildren: 100, mostClusters: 100 };

interface Growing {
  words: readonly string[];
  readonly lines: string[];
}

/**
 * Log templates after Drain (He, Zhu, Zheng and Lyu, ICWS 2017): a tree of fixed depth, by the number of words and then the
 * first word, with clusters at its leaves that a line joins where enough of its words are the same. Drain reads a stream;
 * this reads all lines in the order of their texts, so that the order in which they come makes no difference. A first word
 * that no other line of that length has tells no kind of line: such lines stand beneath one leaf.
 */
export function drain(lines: readonly string[], options: Partial<DrainOptions> = {}): readonly Cluster[] {
  const { similarity, mostChildren, mostClusters } = { ...usualOptions, ...options };
  const leaves = new Map<string, Growing[]>();
  for (const [path, line] of underLeaves([...new Set(lines)].toSorted(inOrder), mostChildren)) {
    const words = wordsOf(line);
    const leaf = leaves.get(path) ?? [];
    leaves.set(path, leaf);
    const [best] = leaf
      .map((cluster) => ({ cluster, alike: likeness(cluster.words, words) }))
      .toSorted((a, b) => b.alike - a.alike);
    if (best !== undefined && (best.alike >= similarity || leaf.length >= mostClusters)) {
      best.cluster.words = common(best.cluster.words, words);
      best.cluster.lines.push(line);
    } else {
      leaf.push({ words, lines: [line] });
    }
  }
  return [...leaves.values()].flat();
}

export function wordsOf(text: string): readonly string[] {
  return text.split(' ');
}

/** Each line with its way through the tree. */
function underLeaves(
  lines: readonly string[],
  mostChildren: number,
): readonly (readonly [path: string, line: string])[] {
  const read = lines.map((line) => {
    const [first = '', ...rest] = wordsOf(line);
    return { line, first, length: rest.length };
  });
  const kept = new Map(
    [...Map.groupBy(read, ({ length }) => length)].map(([length, alike]) => [
      length,
      new Set(
        [...Map.groupBy(alike, ({ first }) => first)]
          .filter(([, seen]) => seen.length > 1)
          .toSorted(([a, seenA], [b, seenB]) => seenB.length - seenA.length || inOrder(a, b))
          .slice(0, mostChildren)
          .map(([first]) => first),
      ),
    ]),
  );
  return read.map(({ line, first, length }) => [`${length} ${kept.get(length)?.has(first) ? first : wildcard}`, line]);
}

/** The part of the words that are the same; what varies within the cluster counts as different. */
function likeness(cluster: readonly string[], words: readonly string[]): number {
  const same = words.filter((word, index) => word !== wildcard && cluster[index] === word);
  return same.length / words.length;
}

function common(cluster: readonly string[], words: readonly string[]): readonly string[] {
  return cluster.map((word, index) => (word === words[index] ? word : wildcard));
}

/** By code unit, which is the same everywhere. */
function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

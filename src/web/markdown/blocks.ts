import { parseInline } from './inline.ts';
import type { Inline } from './inline.ts';

export type Block =
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly type: 'table'; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly type: 'rule' };

type Row = readonly (readonly Inline[])[];

/** Quotes and lists nest so deep; what is deeper is text. */
const deepest = 6;
const widestTable = 50;

/** The blocks of a Markdown text, by the subset of CommonMark and GFM that incident documents are written in. */
export function parseBlocks(text: string): readonly Block[] {
  const lines = text
    .replaceAll('\t', '    ')
    .replaceAll(directionMarks, '\u{FFFD}')
    .split(/\r\n?|\n/);
  return blocksOf(lines, 0);
}

/** They show a text in another order than it is written in, a command above all. */
const directionMarks = /[\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

const blank = /^\s*$/;
const comment = /^ {0,3}<!--(?:(?!-->).)*--> *$/;
const heading = /^ {0,3}(#{1,6})(?: +(.*))?$/;
const rule = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)| |$)/;
const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const delimiterCell = /^ *:?-+:? *$/;

function blocksOf(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    const text = paragraph.join('\n').trim();
    paragraph = [];
    if (text !== '') blocks.push({ type: 'paragraph', children: parseInline(text) });
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const found =
      blank.test(line) || comment.test(line) ? { next: at + 1 } : begin(lines, at, depth, paragraph.length > 0);
    if (found === undefined) {
      paragraph.push(line.trimStart());
      at += 1;
      continue;
    }
    endParagraph();
    if ('block' in found) blocks.push(found.block);
    at = found.next;
  }
  endParagraph();
  return blocks;
}

interface Found {
  readonly block: Block;
  readonly next: number;
}

/** The block that begins at a line, unless the line is one of a paragraph. */
function begin(lines: readonly string[], at: number, depth: number, inParagraph: boolean): Found | undefined {
  const line = lines[at] ?? '';
  const opening = fence.exec(line);
  if (opening) return fenced(lines, at, opening[1] ?? '');
  const title = heading.exec(line);
  if (title) {
    const text = (title[2] ?? '').trimEnd();
    const children = parseInline(text.endsWith('#') ? text.replace(/(?:^| )#+$/, '') : text);
    return { block: { type: 'heading', level: title[1]?.length ?? 1, children }, next: at + 1 };
  }
  if (rule.test(line)) return { block: { type: 'rule' }, next: at + 1 };
  if (line.includes('|')) {
    const table = tableAt(lines, at);
    if (table) return table;
  }
  if (depth >= deepest) return undefined;
  if (quote.test(line)) return quoted(lines, at, depth);
  const marker = item.exec(line);
  // "1986. was a year" within a paragraph begins no list.
  const interrupts = !inParagraph || /^(?:[-*+]|1[.)])$/.test(marker?.[2] ?? '');
  return marker && interrupts ? list(lines, at, depth) : undefined;
}

function fenced(lines: readonly string[], at: number, mark: string): Found {
  const closes = (line: string): boolean => {
    const other = fence.exec(line)?.[1] ?? '';
    return other.startsWith(mark) && line.trim() === other;
  };
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? '')) end += 1;
  return { block: { type: 'code', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
}

function quoted(lines: readonly string[], at: number, depth: number): Found {
  let end = at;
  const inner: string[] = [];
  for (; end < lines.length && quote.test(lines[end] ?? ''); end += 1)
    inner.push((lines[end] ?? '').replace(quote, ''));
  return { block: { type: 'quote', blocks: blocksOf(inner, depth + 1) }, next: end };
}

function list(lines: readonly string[], at: number, depth: number): Found {
  const first = item.exec(lines[at] ?? '')?.[2] ?? '-';
  const kind = first.at(-1);
  const items: (readonly Block[])[] = [];
  let next = at;
  while (next < lines.length) {
    const line = lines[next] ?? '';
    const marker = item.exec(line);
    if (!marker || marker[2]?.at(-1) !== kind || rule.test(line)) break;
    const { inner, end } = itemAt(lines, next, marker[0].length);
    items.push(blocksOf(inner, depth + 1));
    next = end;
  }
  const number = Number.parseInt(first, 10);
  return { block: { type: 'list', start: Number.isNaN(number) ? undefined : number, items }, next };
}

function itemAt(
  lines: readonly string[],
  at: number,
  width: number,
): { readonly inner: string[]; readonly end: number } {
  const inner = [(lines[at] ?? '').slice(width)];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const indented = line.startsWith(' '.repeat(Math.min(width, 2)));
    const lazy = !blank.test(inner.at(-1) ?? '') && !startsBlock(line);
    if (blank.test(line)) inner.push('');
    else if (indented) inner.push(dedent(line, width));
    else if (lazy) inner.push(line);
    else break;
  }
  return { inner, end };
}

function dedent(line: string, width: number): string {
  const indent = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, width));
}

function startsBlock(line: string): boolean {
  return [fence, heading, rule, quote, item].some((pattern) => pattern.test(line));
}

function tableAt(lines: readonly string[], at: number): Found | undefined {
  const delimiters = cells(lines[at + 1] ?? '');
  if (!delimiters.every((cell) => delimiterCell.test(cell)) || !(lines[at + 1] ?? '').includes('-')) return undefined;
  const head = cells(lines[at] ?? '');
  if (head.length !== delimiters.length || head.length > widestTable) return undefined;
  const rows: Row[] = [];
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (blank.test(line) || !line.includes('|')) break;
    rows.push(
      cells(line)
        .slice(0, head.length)
        .map((cell) => parseInline(cell.trim())),
    );
  }
  return { block: { type: 'table', head: head.map((cell) => parseInline(cell.trim())), rows }, next };
}

function cells(line: string): readonly string[] {
  const inner = line.trim().replace(/^\|/, '');
  const found: string[] = [];
  let cell = '';
  for (let at = 0; at < inner.length; at += 1) {
    const character = inner.charAt(at);
    if (character === '\\' && inner.charAt(at + 1) === '|') {
      cell += '|';
      at += 1;
    } else if (character === '|') {
      found.push(cell);
      cell = '';
    } else cell += character;
  }
  if (cell.trim() !== '' || found.length === 0) found.push(cell);
  return found;
}

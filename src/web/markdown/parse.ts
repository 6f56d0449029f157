import MarkdownIt from 'markdown-it';
import type { MarkdownIt as Parser, StateBlock, Token } from 'markdown-it';

/** Quotes and lists nest so deep; what is deeper is text. */
const deepest = 6;

/** The tokens of a Markdown text: CommonMark with tables, struck-out text and bare addresses. */
export function parseBlocks(text: string): readonly Token[] {
  return parser.parse(text, {});
}

/** The same of a sentence or two, where nothing begins a block. */
export function parseInline(text: string): readonly Token[] {
  return parser.parseInline(text, {});
}

/** The address in its normal form, if it leads to the web and to no account in disguise (`https://ours@theirs`). */
export function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : undefined;
}

const parser = createParser();

function createParser(): Parser {
  const made = new MarkdownIt({ html: false, linkify: true, maxNesting: 20 });
  made.linkify.set({ fuzzyLink: false, fuzzyIP: false, fuzzyEmail: false });
  made.validateLink = (url) => webAddress(url) !== undefined;
  // A label shows an address as it was written.
  made.normalizeLinkText = (url) => url;
  // One long definition could be repeated a hundred thousand times.
  made.block.ruler.disable('reference');
  made.block.ruler.before('paragraph', 'comment', comment, { alt: ['paragraph'] });
  boundContainers(made);
  return made;
}

/** A comment that has a line to itself is not shown: agents mark up documents with them. */
function comment(state: StateBlock, line: number, _end: number, silent: boolean): boolean {
  if (!/^<!--(?:(?!-->).)*-->$/.test(state.getLines(line, line + 1, state.blkIndent, false).trim())) return false;
  if (!silent) state.line = line + 1;
  return true;
}

/** The parser's own bound drops what is deeper. */
function boundContainers({ block }: Parser): void {
  let depth = 0;
  for (const [name, alt] of [
    ['blockquote', ['paragraph', 'blockquote', 'list']],
    ['list', ['paragraph', 'blockquote']],
  ] as const) {
    const rule = ruleOf(name);
    block.ruler.at(
      name,
      (state, line, end, silent) => {
        if (depth >= deepest) return false;
        depth += 1;
        try {
          return rule(state, line, end, silent);
        } finally {
          depth -= 1;
        }
      },
      { alt: [...alt] },
    );
  }
}

function ruleOf(name: string): (state: StateBlock, line: number, end: number, silent: boolean) => boolean {
  const { ruler } = new MarkdownIt().block;
  ruler.enableOnly(name);
  const [rule] = ruler.getRules('');
  if (rule === undefined) throw new Error(`The Markdown parser has no rule named ${name}.`);
  return rule;
}

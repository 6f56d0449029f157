import MarkdownIt from 'markdown-it';
import type { Token, MarkdownIt as Parser, StateBlock } from 'markdown-it';
import { html, type Html } from '../html.ts';
import { isTraceId } from '../paths.ts';

/** Quotes and lists nest so deep; what is deeper is text. */
const deepest = 6;

/** The address in its normal form, if it leads to the web and to no account in disguise (`https://ours@theirs`). */
function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : undefined;
}

/** CommonMark with tables, struck-out text and bare addresses. */
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
  // The first parse compiles what all later ones use: at start, and not while somebody waits for a page.
  made.parse('# A\n\n- **b** `c` [d](https://e.example)', {});
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

/** Longer text is cut; no agent writes that much. */
const longest = 200_000;

/** They show a text in another order than it is written in, a command above all. */
const directionMarks = /[\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/** Elements without attributes, by the parser's name for them; a token of any other name is text. */
const elements = new Map([
  ...'p ul ol li blockquote thead tbody tr th td strong em'.split(' ').map((name) => [name, name] as const),
  ['s', 'del'],
]);

/** The path of the page of a trace. */
export type TraceHref = (traceId: string) => string;

/**
 * Markdown of strangers: no HTML, links to the web alone, nothing fetched. `below`: the level of the heading above. With
 * `traceHref` a trace id that stands as code leads to its page.
 */
export function renderMarkdown(markdown: string, below: 1 | 2 | 3, traceHref?: TraceHref): Html {
  const cut = markdown.length > longest;
  const text = cut ? markdown.slice(0, longest).toWellFormed() : markdown;
  const note = cut ? html`<p class="soft">The rest is not shown: the text is too long.</p>` : undefined;
  return html`<div class="markdown" dir="auto">
    ${[...blocks(parser.parse(text, {}), outline(below), traceHref)]}${note}
  </div>`;
}

/** Of a sentence or two, such as a claim: emphasis, code and links. */
export function renderInline(markdown: string, traceHref?: TraceHref): Html {
  return html`<bdi>${[...blocks(parser.parseInline(markdown, {}), outline(1), traceHref)]}</bdi>`;
}

/** The level in the page of a heading's own level in the text; called in the order of the text. */
type LevelOf = (level: number) => number;

/** Each heading is one deeper than the one it stands under, whatever level the text begins at or leaves out. */
function outline(below: number): LevelOf {
  const under: number[] = [];
  return (level) => {
    while ((under.at(-1) ?? 0) >= level) under.pop();
    under.push(level);
    return Math.min(6, below + under.length);
  };
}

/** Tags are written one by one: the parser balances them, and there is no recursion for a text to exhaust. */
function* blocks(tokens: readonly Token[], levelOf: LevelOf, traceHref?: TraceHref): Iterable<Html> {
  let level = 0;
  for (const token of tokens) {
    if (token.hidden) continue;
    switch (token.type) {
      case 'inline':
        yield* inline(token.children ?? [], traceHref);
        break;
      case 'fence':
      case 'code_block':
        yield html`<pre tabindex="0"><code>${shown(token.content.replace(/\n$/, ''))}</code></pre>`;
        break;
      case 'hr':
        yield html`<hr />`;
        break;
      case 'heading_open':
        level = levelOf(Number(token.tag.slice(1)));
        yield open(`h${level}`);
        break;
      case 'heading_close':
        yield close(`h${level}`);
        break;
      case 'ordered_list_open': {
        const start = token.attrGet('start');
        yield open('ol', start === null ? undefined : html` start="${start}"`);
        break;
      }
      case 'table_open':
        yield open('div', html` class="table" tabindex="0" role="group" aria-label="Table"`);
        yield open('table');
        break;
      case 'table_close':
        yield close('table');
        yield close('div');
        break;
      case 'th_open':
        yield open('th', html` scope="col"`);
        break;
      default:
        yield element(token);
    }
  }
}

function* inline(tokens: readonly Token[], traceHref?: TraceHref): Iterable<Html> {
  let link: string | undefined;
  let where: Html | undefined;
  for (const [index, token] of tokens.entries()) {
    switch (token.type) {
      case 'link_open':
        link = webAddress(String(token.attrGet('href')));
        if (link === undefined) break;
        where = destination(link, labelFrom(tokens, index + 1));
        yield open('a', linkTo(link));
        break;
      case 'link_close':
        if (link !== undefined) yield html`${close('a')}${where}`;
        link = undefined;
        break;
      case 'image': {
        // Never fetched: that would tell a stranger who reads this.
        const url = link === undefined ? webAddress(String(token.attrGet('src'))) : undefined;
        const label = shown(token.content);
        yield url === undefined
          ? html`${label}`
          : html`${open('a', linkTo(url))}${label}${close('a')}${destination(url, token.content)}`;
        break;
      }
      case 'code_inline':
        yield traceHref !== undefined && link === undefined && isTraceId(token.content)
          ? html`<a href="${traceHref(token.content)}"><code>${token.content}</code></a>`
          : html`<code>${shown(token.content)}</code>`;
        break;
      case 'softbreak':
        yield html`${'\n'}`;
        break;
      case 'hardbreak':
        yield html`<br />`;
        break;
      default:
        yield element(token);
    }
  }
}

function element({ tag, nesting, content }: Token): Html {
  const name = elements.get(tag);
  if (name === undefined || nesting === 0) return html`${shown(content)}`;
  return nesting === 1 ? open(name) : close(name);
}

function open(name: string, attributes?: Html): Html {
  return html`<${name}${attributes}>`;
}

function close(name: string): Html {
  return html`</${name}>`;
}

function linkTo(url: string): Html {
  return html` href="${url}" rel="noopener noreferrer nofollow"`;
}

/** The text of a link's label; undefined where it is more than text. */
function labelFrom(tokens: readonly Token[], start: number): string | undefined {
  let label = '';
  for (let at = start; tokens[at] !== undefined && tokens[at]?.type !== 'link_close'; at += 1) {
    if (tokens[at]?.type !== 'text') return undefined;
    label += tokens[at]?.content;
  }
  return label;
}

/** The host stands beside a label, which may say anything, unless the label is the address itself. */
function destination(url: string, label: string | undefined): Html | undefined {
  const { host } = new URL(url);
  const plain = label !== undefined && label.includes(host) && webAddress(label) === url;
  return plain ? undefined : html` <span class="soft">(${host})</span>`;
}

function shown(text: string): string {
  return text.replaceAll(directionMarks, '\u{FFFD}');
}

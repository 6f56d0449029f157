/** What stands within a line of text. */
export type Inline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'break' }
  | { readonly type: Emphasis; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly url: string; readonly children: readonly Inline[] };

export type Emphasis = 'strong' | 'em' | 'del';

/**
 * Code spans, emphasis, links and hard breaks. Whatever is none of these, HTML above all, stays the text it is. The time
 * grows with the length alone: the text may have been written to make a reader slow.
 */
export function parseInline(source: string): readonly Inline[] {
  return new InlineParser(source, true).parse();
}

interface Frame {
  readonly kind: Emphasis | undefined;
  /** As it was written, for the case that it is never closed. */
  readonly mark: string;
  readonly children: Inline[];
}

const escaped = /\\([!-/:-@[-`{-~])/y;
const backticks = /`+/y;
const emphasisMarks = /\*+|_+|~~/y;
// Neither label nor address may hold what begins another link, so that a search that fails costs what it passed once.
const link = /!?\[((?:[^[\]\\]|\\.){0,1000})\]\(\s{0,20}<?([^\s<>()]{1,2000})>?(?:\s{1,20}"[^"()]{0,200}")?\s{0,20}\)/y;
const bareAddress = /<?(https?:\/\/[^\s<>"'`|*[\]]{1,2000})/iy;
const plain = /[^\\`*_~![<\nhH]+/y;

class InlineParser {
  readonly #source: string;
  /** A link's label holds no other: `[https://ours](https://theirs)` leads to theirs. */
  readonly #links: boolean;
  #at = 0;
  readonly #frames: Frame[] = [{ kind: undefined, mark: '', children: [] }];
  /** Where runs of so many backticks begin, from the front. */
  #runs: Map<number, number[]> | undefined;

  constructor(source: string, links: boolean) {
    this.#source = source;
    this.#links = links;
  }

  parse(): readonly Inline[] {
    while (this.#at < this.#source.length) this.#next();
    while (this.#frames.length > 1) this.#giveUp();
    return this.#top().children;
  }

  #next(): void {
    const match = this.#match(plain);
    if (match) return this.#text(match[0]);
    switch (this.#source[this.#at]) {
      case '\\':
        return this.#escape();
      case '`':
        return this.#code();
      case '\n':
        return this.#line();
      case '!':
      case '[':
        return this.#link();
      case '<':
      case 'h':
      case 'H':
        return this.#address();
      default:
        return this.#emphasis();
    }
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }

  #character(): void {
    this.#text(this.#source.charAt(this.#at));
    this.#at += 1;
  }

  #escape(): void {
    const match = this.#match(escaped);
    if (match) this.#text(match[1] ?? '');
    else this.#character();
  }

  #line(): void {
    const { children } = this.#top();
    const before = this.#source.slice(Math.max(0, this.#at - 2), this.#at);
    this.#at += 1;
    if (before === '  ') children.push({ type: 'break' });
    else this.#text('\n');
  }

  #code(): void {
    const start = this.#at;
    const [run] = this.#match(backticks) ?? [''];
    const close = this.#closingRun(run.length);
    if (close === undefined) return this.#text(run);
    const inner = this.#source.slice(start + run.length, close).replaceAll('\n', ' ');
    this.#at = close + run.length;
    // One space on either side is there to let the code begin or end with a backtick.
    const padded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
    this.#top().children.push({ type: 'code', text: padded ? inner.slice(1, -1) : inner });
  }

  #closingRun(length: number): number | undefined {
    if (this.#runs === undefined) {
      this.#runs = new Map();
      for (const { 0: run, index } of this.#source.matchAll(/`+/g)) {
        const known = this.#runs.get(run.length);
        if (known) known.push(index);
        else this.#runs.set(run.length, [index]);
      }
      for (const starts of this.#runs.values()) starts.reverse();
    }
    const starts = this.#runs.get(length) ?? [];
    while ((starts.at(-1) ?? this.#at) < this.#at) starts.pop();
    return starts.at(-1);
  }

  #link(): void {
    const match = this.#match(link);
    const url = match && webAddress(match[2] ?? '');
    // An image is never fetched: that would tell a stranger who reads this.
    if (match && url !== undefined) this.#pushLink(url, new InlineParser(match[1] ?? '', false).parse());
    else if (match) this.#text(match[0]);
    else this.#character();
  }

  #address(): void {
    const before = this.#source[this.#at - 1];
    const within = before !== undefined && (isWord(before) || before === '_');
    const match = within || !this.#links ? undefined : this.#match(bareAddress);
    if (!match) return this.#character();
    const [whole, address = ''] = match;
    const bracketed = whole.startsWith('<');
    const end = bracketed && this.#source[this.#at] === '>' ? 1 : 0;
    const shown = end === 1 ? address : withoutTrailing(address);
    const url = webAddress(shown);
    if (url === undefined) return this.#text(whole);
    if (bracketed && end === 0) this.#text('<');
    this.#at += end - (address.length - shown.length);
    this.#pushLink(url, [{ type: 'text', text: shown }]);
  }

  #pushLink(url: string, children: readonly Inline[]): void {
    this.#top().children.push({
      type: 'link',
      url,
      children: children.length > 0 ? children : [{ type: 'text', text: url }],
    });
  }

  #emphasis(): void {
    const start = this.#at;
    const [run] = this.#match(emphasisMarks) ?? [''];
    if (run === '') return this.#character();
    const before = this.#source[start - 1] ?? ' ';
    const after = this.#source[this.#at] ?? ' ';
    // `snake_case` is a name, whereas `2*3*4` has the sides of an emphasis, and is one in Markdown too.
    const word = run.startsWith('_');
    const opens = /\S/.test(after) && !(word && isWord(before));
    const closes = /\S/.test(before) && !(word && isWord(after));
    const marks = run.length > 3 ? undefined : kindsOf(run);
    if (marks === undefined || (!opens && !closes)) return this.#text(run);
    let [kinds, rest] = [marks, run];
    if (closes) {
      // The innermost closes first: `**a *b***`.
      for (const kind of this.#top().kind === 'strong' ? marks : marks.toReversed()) {
        if (!this.#close(kind, markOf(run, kind))) continue;
        kinds = kinds.filter((other) => other !== kind);
        rest = rest.slice(markOf(run, kind).length);
      }
    }
    if (!opens || kinds.some((kind) => this.#isOpen(kind))) return this.#text(rest);
    for (const kind of kinds) this.#frames.push({ kind, mark: markOf(run, kind), children: [] });
  }

  #isOpen(kind: Emphasis): boolean {
    return this.#frames.some((frame) => frame.kind === kind);
  }

  #close(kind: Emphasis, mark: string): boolean {
    if (!this.#frames.some((frame) => frame.kind === kind && frame.mark === mark)) return false;
    while (this.#top().kind !== kind) this.#giveUp();
    const { children } = this.#top();
    this.#frames.pop();
    this.#top().children.push({ type: kind, children });
    return true;
  }

  /** The innermost emphasis was never closed: its mark is text. */
  #giveUp(): void {
    const { mark, children } = this.#top();
    this.#frames.pop();
    this.#text(mark);
    const target = this.#top().children;
    for (const child of children) {
      if (child.type === 'text') this.#text(child.text);
      else target.push(child);
    }
  }

  #top(): Frame {
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw new Error('unreachable: the outermost frame is never closed');
    return frame;
  }

  #text(text: string): void {
    const { children } = this.#top();
    const last = children.at(-1);
    if (last?.type === 'text') children[children.length - 1] = { type: 'text', text: last.text + text };
    else if (text !== '') children.push({ type: 'text', text });
  }
}

function kindsOf(run: string): readonly Emphasis[] {
  if (run === '~~') return ['del'];
  return run.length === 3 ? ['strong', 'em'] : [run.length === 2 ? 'strong' : 'em'];
}

function markOf(run: string, kind: Emphasis): string {
  return run.charAt(0).repeat(kind === 'em' ? 1 : 2);
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/** Punctuation behind an address belongs to the sentence. */
function withoutTrailing(address: string): string {
  let end = address.length;
  while (end > 0 && '.,;:!?)_~'.includes(address.charAt(end - 1))) end -= 1;
  return address.slice(0, end);
}

/** The address in its normal form, if it leads to the web and to no account in disguise (`https://ours@theirs`). */
function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : undefined;
}

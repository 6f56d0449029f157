import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { parseBlocks } from './blocks.ts';
import type { Block } from './blocks.ts';
import { parseInline } from './inline.ts';
import type { Inline } from './inline.ts';

/** What is longer is cut: no agent writes more, and nobody reads it. */
const longest = 200_000;

/**
 * Markdown that others wrote, as elements of ours: HTML in it is shown as text, links lead to the web alone and say where,
 * nothing is fetched. `below` is the level of the heading under which it stands.
 */
export function renderMarkdown(markdown: string, below: 1 | 2 | 3): Html {
  const cut = markdown.length > longest;
  const text = cut ? markdown.slice(0, longest).toWellFormed() : markdown;
  const note = cut ? html`<p class="soft">The rest is not shown: the text is too long.</p>` : undefined;
  return html`<div class="markdown" dir="auto">${blocksHtml(parseBlocks(text), outline(below))}${note}</div>`;
}

/** Of a sentence or two, such as a claim: emphasis, code and links. */
export function renderInline(markdown: string): Html {
  return html`<bdi>${inlineHtml(parseInline(markdown))}</bdi>`;
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

function blocksHtml(blocks: readonly Block[], levelOf: LevelOf): readonly Html[] {
  return blocks.map((block) => blockHtml(block, levelOf));
}

function blockHtml(block: Block, levelOf: LevelOf): Html {
  switch (block.type) {
    case 'heading':
      return headingHtml(levelOf(block.level), inlineHtml(block.children));
    case 'paragraph':
      return html`<p>${inlineHtml(block.children)}</p>`;
    case 'code':
      return html`<pre tabindex="0"><code>${block.text}</code></pre>`;
    case 'quote':
      return html`<blockquote>${blocksHtml(block.blocks, levelOf)}</blockquote>`;
    case 'list': {
      const items = block.items.map((item) => html`<li>${itemHtml(item, levelOf)}</li>`);
      if (block.start === undefined)
        return html`<ul>
          ${items}
        </ul>`;
      return block.start === 1
        ? html`<ol>
            ${items}
          </ol>`
        : html`<ol start="${block.start}">
            ${items}
          </ol>`;
    }
    case 'table': {
      const head = block.head.map((cell) => html`<th scope="col">${inlineHtml(cell)}</th>`);
      const rows = block.rows.map(
        (row) =>
          html`<tr>
            ${row.map((cell) => html`<td>${inlineHtml(cell)}</td>`)}
          </tr>`,
      );
      return html`<div class="table" tabindex="0" role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              ${head}
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>`;
    }
    case 'rule':
      return html`<hr />`;
  }
}

/** A line alone needs no paragraph of its own. */
function itemHtml(item: readonly Block[], levelOf: LevelOf): readonly Html[] {
  return item.flatMap((block, index) =>
    index === 0 && block.type === 'paragraph' ? inlineHtml(block.children) : [blockHtml(block, levelOf)],
  );
}

function headingHtml(level: number, children: readonly Html[]): Html {
  switch (level) {
    case 2:
      return html`<h2>${children}</h2>`;
    case 3:
      return html`<h3>${children}</h3>`;
    case 4:
      return html`<h4>${children}</h4>`;
    case 5:
      return html`<h5>${children}</h5>`;
    default:
      return html`<h6>${children}</h6>`;
  }
}

function inlineHtml(nodes: readonly Inline[]): readonly Html[] {
  return nodes.map((node) => {
    switch (node.type) {
      case 'text':
        return html`${node.text}`;
      case 'code':
        return html`<code>${node.text}</code>`;
      case 'break':
        return html`<br />`;
      case 'strong':
        return html`<strong>${inlineHtml(node.children)}</strong>`;
      case 'em':
        return html`<em>${inlineHtml(node.children)}</em>`;
      case 'del':
        return html`<del>${inlineHtml(node.children)}</del>`;
      case 'link':
        return linkHtml(node.url, node.children);
    }
  });
}

/** The host stands beside a label, which may say anything. */
function linkHtml(url: string, children: readonly Inline[]): Html {
  const { host } = new URL(url);
  const [only] = children;
  const plain =
    children.length === 1 && only?.type === 'text' && URL.canParse(only.text) && new URL(only.text).href === url;
  const where = plain ? undefined : html` <span class="soft">(${host})</span>`;
  return html`<a href="${url}" rel="noopener noreferrer nofollow">${inlineHtml(children)}</a>${where}`;
}

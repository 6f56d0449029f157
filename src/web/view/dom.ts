import type { Picture } from '../graphics/picture.ts';

/* All text comes into the view here, as text nodes and as attributes that neither run nor load anything. */

export type Child = Node | string | number | false | undefined | readonly Child[];

type Attribute =
  | 'class'
  | 'title'
  | 'role'
  | 'scope'
  | 'dir'
  | 'tabindex'
  | 'aria-label'
  | 'aria-sort'
  | 'open'
  | 'max';

export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Partial<Record<Attribute, string>>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...nodes(children));
  return element;
}

function nodes(children: readonly Child[]): Node[] {
  return children.flatMap((child) => {
    if (child === undefined || child === false || child === '') return [];
    if (child instanceof Node) return [child];
    return typeof child === 'object' ? nodes(child) : [document.createTextNode(String(child))];
  });
}

/** Disabled while its work runs; what goes wrong is said beside it. */
export function button(label: string, work: () => Promise<void> | void): HTMLElement {
  const said = el('span', { class: 'alert', role: 'alert' });
  const pressed = el('button', {}, label);
  pressed.type = 'button';
  const run = async (): Promise<void> => {
    pressed.disabled = true;
    said.textContent = '';
    try {
      await work();
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : 'That did not work.';
    }
    pressed.disabled = false;
  };
  pressed.addEventListener('click', () => void run());
  return el('span', { class: 'button' }, pressed, said);
}

const drawn = new Set('svg g path rect circle line text tspan title desc defs marker'.split(' '));
const acting = /^on|href$|^style$|^src/i;

/** A picture of the pages. Its markup is escaped where it is made; what no picture has is refused all the same. */
export function figure({ title, svg }: Picture, note?: string | false): HTMLElement {
  const template = document.createElement('template');
  template.innerHTML = String(svg);
  for (const element of template.content.querySelectorAll('*')) {
    const isWell = drawn.has(element.localName) && !element.getAttributeNames().some((name) => acting.test(name));
    if (!isWell) throw new Error('A picture holds what none may hold.');
  }
  return el('figure', {}, el('figcaption', {}, title, note && el('small', {}, ` ${note}`)), template.content);
}

const longestProse = 40_000;

/** The Markdown that agents write, as far as it helps the eye: headings, lists, code and strong words. */
export function prose(markdown: string): HTMLElement {
  const root = el('div', { class: 'prose', dir: 'auto' });
  let items: HTMLElement | undefined;
  let code: HTMLElement | undefined;
  for (const line of markdown.slice(0, longestProse).split('\n')) {
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)/.exec(line)?.[1];
    const heading = /^#{1,6}\s+(.*)/.exec(line)?.[1];
    if (/^\s*```/.test(line)) {
      code = code === undefined ? root.appendChild(el('pre', { tabindex: '0' })) : undefined;
    } else if (code !== undefined) {
      code.append(`${line}\n`);
    } else if (item !== undefined) {
      items ??= root.appendChild(el('ul', {}));
      items.append(el('li', {}, inline(item)));
      continue;
    } else if (heading !== undefined) {
      root.append(el('h3', {}, inline(heading)));
    } else if (line.trim() !== '') {
      root.append(el('p', {}, inline(line)));
    }
    items = undefined;
  }
  return root;
}

export function inline(line: string): readonly Child[] {
  return line.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, index) => {
    if (index % 2 === 0) return part;
    return part.startsWith('`') ? el('code', {}, part.slice(1, -1)) : el('strong', {}, inline(part.slice(2, -2)));
  });
}

import { escapeHtml } from '../contract/core/quote.ts';

/** Text that is HTML already. Only `html` makes it, so whatever else is put into a page is escaped. */
export class Html {
  readonly #text: string;
  private constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
  /** For `html` alone. */
  static of(strings: readonly string[], values: readonly Renderable[]): Html {
    let text = strings[0] ?? '';
    values.forEach((value, index) => (text += render(value) + (strings[index + 1] ?? '')));
    return new Html(text);
  }
}

/** `false` and `undefined` render as nothing, so that `condition && html…` can stand in a template. */
export type Renderable = Html | string | number | false | undefined | readonly Renderable[];

/** A piece of a page. Values are escaped for text and for quoted attributes; an attribute is always quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly Renderable[]): Html {
  return Html.of(strings, values);
}

function render(value: Renderable): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'object') return value instanceof Html ? value.toString() : value.map(render).join('');
  return escapeHtml(String(value));
}

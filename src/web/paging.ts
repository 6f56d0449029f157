import { html, type Html } from './html.ts';
import type { PathTo } from './paths.ts';

const perPage = 100;

/** A hundred of a list that comes whole, by `?page=2`, with links to what is before and behind. */
export function paged<Item>(
  items: readonly Item[],
  { search, to }: { readonly search: URLSearchParams; readonly to: PathTo },
  path: string,
): { readonly shown: readonly Item[]; readonly links: Html | undefined } {
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const asked = Number(search.get('page') ?? 1);
  const page = Number.isInteger(asked) && asked >= 1 && asked <= last ? asked : 1;
  const link = (number: number, label: string): Html | false =>
    number >= 1 && number <= last && html`<a class="button quiet small" href="${to(path)}?page=${number}">${label}</a>`;
  return {
    shown: items.slice((page - 1) * perPage, page * perPage),
    links:
      last === 1
        ? undefined
        : html`<nav class="actions" aria-label="Pages">
            ${link(page - 1, 'Before')}<span>Page ${page} of ${last}</span>${link(page + 1, 'Next')}
          </nav>`,
  };
}

/** The link's path to what comes after, in a list that is read with a cursor: `?after=` beside what was asked before. */
export function olderPath(
  { search, to }: { readonly search: URLSearchParams; readonly to: PathTo },
  path: string,
  cursor: string,
): string {
  const next = new URLSearchParams(search);
  next.set('after', cursor);
  return `${to(path)}?${next.toString()}`;
}

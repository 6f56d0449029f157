import { html, type Html } from './html.ts';

/** Where a person who is signed in begins. */
export const home = '/incidents';

/** From a page's path (`/members`) to the one a browser asks for: authUrl may have a path of its own. */
export type PathTo = (path: string) => string;

export function createPaths(authUrl: string) {
  const base = new URL(authUrl).pathname.replace(/\/+$/, '');
  return {
    to: (path: string): string => `${base}${path}`,
    /** Of a request's URL: a proxy may have stripped the path of authUrl, or not. */
    strip: (url: string): string => (base !== '' && url.startsWith(`${base}/`) ? url.slice(base.length) : url),
  };
}

/** Never resolved: only there so that a path can be read as a browser reads it. */
const nowhere = 'http://nowhere.invalid';

/**
 * Where to go on after signing in: a path of our own, or undefined. It is judged after it has been read as a browser
 * would, since `/.//evil.example` and `/\evil.example` are paths only at first sight.
 */
export function ownPath(value: string | null | undefined): string | undefined {
  if (!value || value.length > 2_000 || !/^\/[\x21-\x7e]*$/.test(value)) return undefined;
  const url = URL.parse(value, nowhere);
  if (url?.origin !== nowhere || url.pathname.startsWith('//')) return undefined;
  return `${url.pathname}${url.search}`;
}

/** A page that leads on to `path` once something was done there: signing in, choosing an organization. */
export function leadBack(page: string, path: string | undefined): string {
  return path === undefined ? page : `${page}?${new URLSearchParams({ return_to: path }).toString()}`;
}

export function isTraceId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** From when to when, as `query_otel` takes it. */
export interface Stretch {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** What led to a text may have happened a good while before it was written. */
export function fromDayBefore(written: Date): Stretch {
  return { start: new Date(written.getTime() - 86_400_000).toISOString() };
}

/** The page of a trace. Without a stretch it is looked for as far back as a statement reads that does not say. */
export function traceHref(to: PathTo, { start, end }: Stretch = {}): (traceId: string) => string {
  const search = new URLSearchParams({ ...(start && { start }), ...(end && { end }) }).toString();
  return (id) => `${to(`/explore/traces/${id}`)}${search === '' ? '' : `?${search}`}`;
}

/** Longer addresses are cut or refused on the way by some proxies. */
const longestHref = 6_000;

/** The page that runs statements, with one filled in; undefined for one that no address has room for. */
export function exploreHref(to: PathTo, { sql, start, end }: Stretch & { readonly sql: string }): string | undefined {
  const search = new URLSearchParams({ sql, ...(start && { start }), ...(end && { end }) }).toString();
  return search.length > longestHref ? undefined : `${to('/explore')}?${search}`;
}

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

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

import { z } from 'zod';
import { hashSecret } from '../../../contract/core/index.ts';
import { cookieSuffixes, createCookie } from '../../session.ts';
import { definePage, type Visit } from '../../page.ts';
import { ownPath, leadBack } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import { pagePaths } from '../../../contract/issuer/index.ts';

export const startPath = '/sign-in/start';

/**
 * Sends the browser to the identity provider. A sealed cookie lets only this browser finish, within ten minutes; each
 * sign-in has its own, so that two tabs do not end each other's.
 */
export const startPage = definePage({
  path: startPath,
  access: 'public',
  async get(visit, services) {
    const { signIn, authUrl, vault, now } = services;
    const returnTo = ownPath(visit.search.get('return_to'));
    // A link or image on another site must not start a sign-in.
    const site = visit.request.headers['sec-fetch-site'];
    const asked = site === undefined || site === 'same-origin' || site === 'none';
    if (signIn.kind === 'password' || !asked) return { redirect: leadBack(pagePaths.signIn, returnTo) };
    const another = visit.search.get('another') !== null;
    const { url, state } = await signIn.begin(`${authUrl}${pagePaths.signInCallback}`, another);
    const pending = JSON.stringify({ state, returnTo, until: now().getTime() + seconds * 1_000 });
    makeRoom(visit, services);
    cookieOf(services, new URL(url).searchParams).write(
      visit.response,
      vault.seal(Buffer.from(pending), context),
      seconds,
    );
    return { departure: url };
  },
});

const context = 'sign-in';
const seconds = 600;

const schema = z.object({ state: z.string(), returnTo: z.string().optional(), until: z.number() });

const beginning = '-sign-in-';
const mostTabs = 5;

/** By the state that the provider hands back. */
function cookieOf({ authUrl }: PageServices, params: URLSearchParams) {
  return createCookie(authUrl, `${beginning}${hashSecret(params.get('state') ?? '').slice(0, 16)}`);
}

/** Servers refuse headers that are too long: the sign-ins begun first give way. */
function makeRoom({ request, response }: Visit, { authUrl }: PageServices): void {
  const begun = cookieSuffixes(request, authUrl, beginning);
  for (const suffix of begun.slice(0, Math.max(0, begun.length + 1 - mostTabs))) {
    createCookie(authUrl, suffix).clear(response);
  }
}

/** What this browser began; taken once. `state` is what the issuer's `finish` needs again. */
export function takePending(visit: Visit, services: PageServices) {
  const { vault, now } = services;
  const cookie = cookieOf(services, visit.search);
  const sealed = cookie.read(visit.request);
  if (sealed === undefined) return undefined;
  cookie.clear(visit.response);
  let text: string;
  try {
    text = Buffer.from(vault.open(sealed, context)).toString();
  } catch {
    // Not ours, or sealed with a key that is gone: the person starts over.
    return undefined;
  }
  const { state, returnTo, until } = schema.parse(JSON.parse(text));
  return until > now().getTime() ? { state, returnTo: ownPath(returnTo) } : undefined;
}

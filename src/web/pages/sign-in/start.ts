import { pagePaths } from '../../../contract/issuer/index.ts';
import { definePage } from '../../page.ts';
import { leadBack, ownPath } from '../../paths.ts';
import { keepPending } from './pending.ts';

export const startPath = '/sign-in/start';

/** Sends the browser to the identity provider. */
export const startPage = definePage({
  path: startPath,
  access: 'public',
  async get(visit, services) {
    const { signIn, authUrl } = services;
    const returnTo = ownPath(visit.search.get('return_to'));
    // Another site's link or image must not begin a sign-in nobody asked for.
    const site = visit.request.headers['sec-fetch-site'];
    const asked = site === undefined || site === 'same-origin' || site === 'none';
    if (signIn.kind === 'password' || !asked) return { redirect: leadBack(pagePaths.signIn, returnTo) };
    const { url, state } = await signIn.begin(`${authUrl}${pagePaths.signInCallback}`);
    keepPending(visit, services, { state, returnTo });
    return { departure: url };
  },
});

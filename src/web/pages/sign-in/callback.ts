import { pagePaths } from '../../../contract/issuer/index.ts';
import { refusal } from '../../failure.ts';
import { home, leadBack } from '../../paths.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { definePage } from '../../page.ts';
import type { View, Visit } from '../../page.ts';
import { invitationToken } from '../invitation.ts';
import { takePending } from './pending.ts';

/** Where the identity provider sends the browser back to. */
export const callbackPage = definePage({
  path: pagePaths.signInCallback,
  access: 'public',
  async get(visit, services) {
    const { signIn, people, authUrl } = services;
    const pending = takePending(visit, services);
    if (signIn.kind === 'password') return { redirect: pagePaths.signIn };
    if (!pending) {
      return again(visit, html`<p>This sign-in was not begun in this browser, or it took too long.</p>`, 403);
    }
    // As the provider was told, whatever name the request came under.
    const callback = new URL(`${authUrl}${pagePaths.signInCallback}?${visit.search.toString()}`);
    const { state, returnTo } = pending;
    // Who came by an invitation's link accepts it by signing in.
    const invitation = invitationToken(returnTo);
    try {
      await visit.openSession(await people.signInWithIdentity(await signIn.finish(callback, state), invitation));
    } catch (error) {
      const { message, status } = refusal(error);
      return again(visit, message, status, returnTo);
    }
    return { redirect: invitation === undefined ? (returnTo ?? home) : home };
  },
});

function again({ to }: Visit, reason: Html, status: number, returnTo?: string): View {
  return {
    title: 'You are not signed in',
    body: html`${reason}
      <p><a class="button" href="${to(leadBack(pagePaths.signIn, returnTo))}">Sign in again</a></p>`,
    card: true,
    status,
  };
}

import { z } from 'zod';
import { SightlineError, type Logger } from '../../../contract/core/index.ts';
import { pagePaths, type RedirectSignIn } from '../../../contract/issuer/index.ts';
import { field } from '../../components.ts';
import { failureView, refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { home, leadBack, ownPath } from '../../paths.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type View, type Visit } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { startPath, takePending } from './pending.ts';
import { invitationToken } from '../invitation.ts';

/** Where the identity provider sends the browser back to. */
export const callbackPage = definePage({
  path: pagePaths.signInCallback,
  access: 'public',
  async get(visit, services) {
    const { signIn, people, authUrl } = services;
    const pending = takePending(visit, services);
    if (signIn.kind === 'password') return { redirect: pagePaths.signIn };
    if (!pending) {
      return again(
        visit,
        html`<p>This sign-in was not begun in this browser, is finished already, or took longer than ten minutes.</p>`,
        403,
      );
    }
    // As the provider was told, whatever name the request came under.
    const callback = new URL(`${authUrl}${pagePaths.signInCallback}?${visit.search.toString()}`);
    const { state, returnTo } = pending;
    // Who came by an invitation's link accepts it by signing in.
    const invitation = invitationToken(returnTo);
    try {
      await visit.openSession(await people.signInWithIdentity(await signIn.finish(callback, state), invitation));
    } catch (error) {
      return failed(visit, services, error, returnTo);
    }
    return { redirect: invitation === undefined ? (returnTo ?? home) : home };
  },
});

/** With ways on to where the person wanted: to load this page once more is refused, and forgets it. */
function failed(visit: Visit, { requestId, logger }: PageServices, error: unknown, returnTo?: string): View {
  if (!(error instanceof SightlineError) || error.status >= 500) {
    const view = failureView(error, requestId(), logger);
    return { ...view, body: html`${view.body}${signInLink(visit, returnTo)}` };
  }
  const { message, status } = refusal(error);
  const view = again(visit, message, status, returnTo);
  // A provider that still knows the person comes back with the account that was refused.
  const other = visit.to(anotherAccount(returnTo, startPath));
  return {
    ...view,
    body: html`${view.body}
      <p><a href="${other}">Sign in with another account</a></p>`,
  };
}

function again(visit: Visit, reason: Html, status: number, returnTo?: string): View {
  return {
    title: 'You are not signed in',
    body: html`${reason}${signInLink(visit, returnTo)}`,
    card: true,
    status,
  };
}

function signInLink({ to }: Visit, returnTo: string | undefined): Html {
  return html`<p><a class="button" href="${to(leadBack(pagePaths.signIn, returnTo))}">Sign in again</a></p>`;
}

/** With `return_to` where somebody else is to go on. */
export const signOutPage = definePage({
  path: '/sign-out',
  access: 'signed-in',
  async post({ closeSession }, form, { signIn }) {
    await closeSession();
    const returnTo = ownPath(form.get('return_to'));
    return { redirect: signIn.kind === 'password' ? leadBack(pagePaths.signIn, returnTo) : anotherAccount(returnTo) };
  },
});

/** The provider still knows the person, and would sign in the same one without a question. */
function anotherAccount(returnTo: string | undefined, page: string = pagePaths.signIn): string {
  const query = new URLSearchParams({ another: '', ...(returnTo !== undefined && { return_to: returnTo }) });
  return `${page}?${query.toString()}`;
}

const fields = z.object({
  email: z.string().trim().max(254),
  password: z.string().max(1_000),
  return_to: z.string().optional(),
});

export const signInPage = definePage({
  path: pagePaths.signIn,
  access: 'public',

  async get(visit, { signIn, logger }) {
    const returnTo = ownPath(visit.search.get('return_to'));
    if (visit.session) return { redirect: returnTo ?? home };
    if (signIn.kind === 'password') return passwordView(visit, { returnTo });
    if (visit.search.get('another') !== null) return signedOutView(visit, signIn, returnTo, logger);
    // A link, since Chromium holds every redirect after a POST against form-action, and a provider may send one on and on.
    return {
      title: 'Sign in',
      body: html`<p>Your organization’s account is used for Sightline, too.</p>
        <p>
          <a class="button wide" href="${visit.to(leadBack(startPath, returnTo))}">Sign in with ${signIn.name}</a>
        </p>`,
      card: true,
    };
  },

  async post(visit, form, { signIn, people, clientAddress }) {
    if (signIn.kind !== 'password') return { redirect: pagePaths.signIn };
    const { email, password, return_to } = requireForm(fields, form);
    const returnTo = ownPath(return_to);
    try {
      const address = clientAddress(visit.request) ?? '';
      await visit.openSession(await people.signInWithPassword({ email, password, address }));
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...passwordView(visit, { returnTo, email, message }), ...rest };
    }
    return { redirect: returnTo ?? home };
  },
});

async function signedOutView(
  { to }: Visit,
  signIn: RedirectSignIn,
  returnTo: string | undefined,
  logger: Logger,
): Promise<View> {
  const elsewhere = await signIn.endSession?.().catch((error: unknown) => {
    logger.debug({ error }, 'Where a session ends at the identity provider cannot be asked.');
    return undefined;
  });
  return {
    title: 'You are signed out',
    body: html`<p>You are signed out of Sightline. ${signIn.name} may still know you in this browser.</p>
      <p>
        <a class="button wide" href="${to(anotherAccount(returnTo, startPath))}">Sign in with another account</a>
      </p>
      ${elsewhere !== undefined && html`<p><a class="button quiet wide" href="${elsewhere}">Sign out at ${signIn.name} as well</a></p>`}
      <p><a href="${to(leadBack(startPath, returnTo))}">Sign in as before</a></p>`,
    card: true,
  };
}

interface Shown {
  readonly returnTo: string | undefined;
  readonly email?: string;
  readonly message?: Html;
}

function passwordView(visit: Visit, { returnTo, email, message }: Shown): View {
  return {
    title: 'Sign in',
    body: html`${message}
      <form method="post" action="${visit.to(pagePaths.signIn)}">
        ${visit.csrf} ${returnTo !== undefined && html`<input type="hidden" name="return_to" value="${returnTo}" />`}
        ${field({ name: 'email', label: 'E-mail address', type: 'email', value: email, autocomplete: 'username', maxLength: 254 })}
        ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', maxLength: 1_000 })}
        <button class="wide">Sign in</button>
      </form>
      <hr />
      <p class="soft">
        Forgot the password, or no account yet? An admin of your organization invites you; an operator makes a link to
        set a new password.
      </p>`,
    card: true,
  };
}

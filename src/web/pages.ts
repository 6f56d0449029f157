import type { ServerResponse } from 'node:http';
import { Router, type Request, type RequestHandler } from 'express';
import { ClientGone, SightlineError } from '../contract/core/index.ts';
import type { Organization } from '../contract/storage/index.ts';
import { serveAsset } from './assets.ts';
import { createCsrf, csrfField, readForm } from './forms.ts';
import { failureView } from './failure.ts';
import { sendDocument, sendDownload, sendNews, sendRedirect, card, shell } from './layout.ts';
import { html, type Html } from './html.ts';
import type { Acts, Answer, AnyPage, View, Visit } from './page.ts';
import { allPages } from './pages/index.ts';
import { createPaths, leadBack } from './paths.ts';
import type { PageServices } from './services.ts';
import { createSessions, type BrowserSession } from './session.ts';

/** Every page, and what they load. What is none of them is passed on. */
export function createPages(services: PageServices, pages: readonly AnyPage[] = allPages): RequestHandler {
  const { authUrl, storage, requestId, logger } = services;
  const paths = createPaths(authUrl);
  const sessions = createSessions(services);
  const csrf = createCsrf(authUrl);

  /** A class, since V8 keeps alive what a getter of its own belongs to until a full collection. */
  class PageVisit implements Visit {
    readonly request: Request;
    readonly response: ServerResponse;
    readonly params: Visit['params'];
    readonly search: URLSearchParams;
    readonly to = paths.to;
    readonly session: BrowserSession | undefined;
    readonly openSession: Visit['openSession'];
    readonly closeSession: Visit['closeSession'];
    #hidden: Html | undefined;

    constructor(request: Request, response: ServerResponse, session: BrowserSession | undefined) {
      this.request = request;
      this.response = response;
      this.params = textsOf(request.params);
      this.search = new URL(request.url, authUrl).searchParams;
      this.session = session;
      this.openSession = (user) => sessions.open(request, response, user.id);
      this.closeSession = () => sessions.close(request, response);
    }

    /** Made when a form is: not every page needs a cookie. */
    get csrf(): Html {
      const token = () => csrf.token(this.request, this.response, this.session);
      return (this.#hidden ??= html`<input type="hidden" name="${csrfField}" value="${token()}" />`);
    }
  }

  const run = async <V extends Visit>(page: Acts<V>, visit: V, form?: URLSearchParams, organization?: Organization) => {
    if (form === undefined) return page.get?.(visit, services);
    csrf.checkToken(visit.request, visit.session, form.get(csrfField));
    if (organization) csrf.checkOrganization(organization, form.get(csrfField));
    return page.post?.(visit, form, services);
  };

  /** Lets in who may see the page. */
  const answer = async (page: AnyPage, visit: Visit, form?: URLSearchParams): Promise<Answer | undefined> => {
    if (page.access === 'public') return run(page, visit, form);
    const { session } = visit;
    const here = page.get && visit.request.url;
    if (!session) return { redirect: leadBack('/sign-in', here) };
    const { user, membership } = session;
    const actor = { kind: 'user', id: user.id, name: user.name } as const;
    const signedIn = { ...visit, csrf: visit.csrf, session, user, actor };
    if (page.access === 'signed-in') return run(page, signedIn, form);
    if (!membership) return { redirect: leadBack('/organizations', here) };
    const { organization, role } = membership;
    if (page.access === 'admin' && role !== 'admin') {
      throw new SightlineError('forbidden', `Only admins of ${organization.name} can open this page.`);
    }
    const member = { ...signedIn, organization, role, workspace: storage.workspace(organization.id) };
    return run(page, member, form, organization);
  };

  const show = (view: View, page: AnyPage | undefined, visit: Visit | undefined, response: ServerResponse): void => {
    const { title, body, goOn, live, retryAfterSeconds, status = 200 } = view;
    const frame = { title, body, live, to: paths.to };
    const session = visit?.session;
    const alone = view.card || !page || !visit || !session;
    const document = alone ? card(frame) : shell({ ...frame, path: page.path, session, csrf: visit.csrf });
    sendDocument(response, { status, document, goOn, retryAfterSeconds, ...(live && { live }) });
  };

  const send = async (outcome: Answer, page: AnyPage, visit: Visit): Promise<void> => {
    if ('redirect' in outcome) return sendRedirect(visit.response, paths.to(outcome.redirect));
    if ('lines' in outcome) return sendDownload(visit.response, outcome);
    if ('news' in outcome) return sendNews(visit.response, outcome);
    if ('departure' in outcome) return sendRedirect(visit.response, outcome.departure);
    show(outcome, page, visit, visit.response);
  };

  const handlerOf =
    (page: AnyPage): RequestHandler =>
    async (request, response) => {
      let visit: Visit | undefined;
      try {
        const posted = request.method === 'POST';
        if (!allows(page, request.method)) return show(refusedMethod(page, response), page, visit, response);
        if (posted) csrf.checkOrigin(request);
        const form = posted ? await readForm(request) : undefined;
        visit = new PageVisit(request, response, await sessions.find(request));
        const outcome = await answer(page, visit, form);
        if (outcome === undefined) throw new Error(`${page.path} has no answer to ${request.method}`);
        await send(outcome, page, visit);
      } catch (error) {
        if (response.headersSent || error instanceof ClientGone) return void response.destroy();
        // A body that was not read to its end would be taken for the next request.
        if (!request.complete) response.setHeader('Connection', 'close');
        show(failureView(error, requestId(), logger), page, visit, response);
      }
    };

  const router = Router({ caseSensitive: true });
  router.use(serveAsset);
  for (const page of pages) router.all(page.path, handlerOf(page));

  return (request, response, next) => {
    const given = request.url;
    request.url = paths.strip(given);
    router(request, response, (error?: unknown) => {
      request.url = given;
      // Express's own error is a path that cannot be decoded. Programs get the gateway's JSON.
      if (error === undefined && request.accepts(['json', 'html']) !== 'html') return next();
      const lost = new SightlineError('not_found', 'There is nothing at this address.');
      show(failureView(lost, requestId(), logger), undefined, undefined, response);
    });
  };
}

function allows(page: AnyPage, method: string): boolean {
  return method === 'POST'
    ? page.post !== undefined
    : page.get !== undefined && (method === 'GET' || method === 'HEAD');
}

function refusedMethod(page: AnyPage, response: ServerResponse): View {
  const allowed = [page.get && 'GET, HEAD', page.post && 'POST'].filter((name) => name !== undefined);
  response.setHeader('Allow', allowed.join(', '));
  const body = html`<p>This address only takes the form that leads to it.</p>`;
  return { title: 'There is nothing to read here', body, card: true, status: 405 };
}

function textsOf(params: Request['params']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

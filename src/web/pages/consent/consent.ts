import { z } from 'zod';
import { SightlineError } from '../../../contract/core/index.ts';
import {
  answeredParam,
  pagePaths,
  scopes as allScopes,
  type AuthorizationRequest,
  type AuthorizationAnswer,
  type AuthorizationClient,
} from '../../../contract/issuer/index.ts';
import type { Membership } from '../../../contract/storage/index.ts';
import { alert, facts, strangersName, warning } from '../../components.ts';
import { machineOf, scopeWords } from '../../connections.ts';
import { requireForm } from '../../forms.ts';
import { definePage, type SignedInVisit, type View } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { html, type Html } from '../../html.ts';

/** Where the answer to an authorization request goes, for a person. */
interface Destination {
  /** "example.com", "a program on this computer". */
  readonly text: string;
  /** What to think of before allowing it; in plain words. */
  readonly warning?: string;
}

/** Schemes that a browser gives a meaning of its own. */
const neverLinks = new Set(['about:', 'blob:', 'data:', 'file:', 'filesystem:', 'javascript:', 'vbscript:']);
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** @param redirectOrigin `https://example.com`, `http://127.0.0.1:4711`, `cursor:`. Undefined for anything else. */
function destinationOf(redirectOrigin: string, client: AuthorizationClient): Destination | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*:)(?:\/\/[A-Za-z0-9.:[\]_-]*)?$/.exec(redirectOrigin)?.[1];
  if (scheme === undefined || neverLinks.has(scheme)) return undefined;
  if (scheme !== 'http:' && scheme !== 'https:') {
    return {
      text: `the application on this computer that opens ${scheme} links`,
      warning: `Any application on this computer could have asked to open ${scheme} links. ${justStarted}`,
    };
  }
  const url = URL.parse(redirectOrigin);
  if (!url) return undefined;
  const { host, hostname } = url;
  if (loopback.has(hostname)) {
    return {
      text: `a program on this computer (${host})`,
      warning: `Any program on this computer can ask in this name. ${justStarted}`,
    };
  }
  const warning = warningOf(host, client);
  return { text: host, ...(warning === undefined ? {} : { warning }) };
}

const justStarted = 'Allow it only if you have just begun to connect it yourself.';

function warningOf(host: string, client: AuthorizationClient): string | undefined {
  if (client.known === 'registration') {
    return `The operator of ${host} gets this access, whatever the application calls itself. Allow it only if you know that site.`;
  }
  if (client.host !== undefined && client.host !== host) {
    return `The application is known by ${client.host}, but the access goes to ${host}. Allow it only if you know both.`;
  }
  return undefined;
}

function consentBody(
  { to, csrf, user, request, session }: SignedInVisit,
  { client, scopes }: AuthorizationRequest,
  destination: Destination,
  memberships: readonly Membership[],
): Html {
  const here = request.url ?? '/';
  return html`<p><strong>${strangersName(client.name)}</strong> asks for access to your organization in Sightline.</p>
    ${facts([
      ['Application', knownBy(client)],
      ['Access goes to', destination.text],
      ['Signed in as', user.email],
    ])}
    ${destination.warning !== undefined && warning(destination.warning)}
    <form method="post" action="${to(here)}">
      ${csrf}
      ${
        memberships.length === 0
          ? html`<p>Your account belongs to no organization, so there is nothing to allow.</p>`
          : html`${organizations(memberships, session.membership)}
              <fieldset>
                <legend>It may</legend>
                ${scopes.map(
                  (scope) =>
                    html`<label class="choice"
                      ><input type="checkbox" name="scopes" value="${scope}" checked />
                      <span>${scopeWords[scope].title}<small>${scopeWords[scope].detail}</small></span></label
                    >`,
                )}
              </fieldset>`
      }
      <p class="soft">You can take this back at any time, under Account.</p>
      <div class="actions">
        ${memberships.length > 0 && html`<button name="answer" value="allow">Allow</button>`}
        <button class="quiet" name="answer" value="deny" formnovalidate>Deny</button>
      </div>
    </form>
    <hr />
    <form method="post" action="${to('/sign-out')}">
      ${csrf}
      <input type="hidden" name="return_to" value="${here}" />
      <button class="linklike">Use another account</button>
    </form>`;
}

function knownBy({ known, host, name }: AuthorizationClient): Html {
  switch (known) {
    case 'document':
      return html`Verified by its web address, <strong>${host}</strong>.`;
    case 'registration':
      return html`Not verified. The application gave itself the name ${strangersName(name)}; anyone can use it.`;
    case 'configuration':
      return html`Set up by the operator of this Sightline.`;
    default:
      return known satisfies never;
  }
}

function organizations(memberships: readonly Membership[], shown: Membership | undefined): Html {
  const [only] = memberships;
  if (only && memberships.length === 1) {
    const { id, name } = only.organization;
    return html`<p class="label">In the organization</p>
      <p>${name}<input type="hidden" name="organization" value="${id}" /></p>`;
  }
  return html`<fieldset>
    <legend>In the organization</legend>
    ${memberships.map(
      ({ organization: { id, name } }) =>
        html`<label class="choice"
          ><input
            type="radio"
            name="organization"
            value="${id}"
            required${id === shown?.organization.id && html` checked`}
          /><span>${name}</span></label
        >`,
    )}
  </fieldset>`;
}

const fields = z.object({
  answer: z.enum(['allow', 'deny']),
  organization: z.string().max(64).optional(),
  scopes: z.array(z.enum(allScopes)).max(allScopes.length),
});

/** Whether an application may have access: asked every time, answered by who is signed in on our own pages. */
export const consentPage = definePage({
  path: `${pagePaths.consent}/:uid`,
  access: 'signed-in',

  async get(visit, services) {
    return consentView(visit, await find(visit, services), await services.people.memberships(visit.user.id));
  },

  async post(visit, form, services) {
    const { request, response, user } = visit;
    const requests = services.authorizationRequests;
    if (!requests) throw ended();
    const { answer, organization, scopes } = requireForm(fields, form);
    if (answer === 'deny') return { departure: await requests.deny(request, response) };

    const memberships = await services.people.memberships(user.id);
    const chosen = memberships.find(({ organization: { id } }) => id === organization)?.organization;
    const again = async (problem: string) => consentView(visit, await find(visit, services), memberships, problem);
    if (!chosen) return again('Choose an organization you are a member of.');
    if (scopes.length === 0) return again('Choose at least one thing to allow, or deny the request.');
    const machine = machineOf(request, services.clientAddress(request));
    const consent = { userId: user.id, organizationId: chosen.id, scopes, machine };
    return { departure: await requests.approve(request, response, consent) };
  },
});

async function find({ request, response }: SignedInVisit, services: PageServices): Promise<AuthorizationRequest> {
  const asked = await services.authorizationRequests?.find(request, response);
  if (!asked) throw ended();
  return asked;
}

function consentView(
  visit: SignedInVisit,
  asked: AuthorizationRequest,
  memberships: readonly Membership[],
  problem?: string,
): View {
  const destination = destinationOf(asked.redirectOrigin, asked.client);
  if (!destination) throw new SightlineError('invalid_argument', 'The application asked for an answer to nowhere.');
  if (asked.answer) return answeredView(asked.client, asked.answer, visit.search.has(answeredParam));
  return {
    title: 'Allow access?',
    body: html`${problem !== undefined && alert(problem)}${consentBody(visit, asked, destination, memberships)}`,
    card: true,
    status: problem ? 400 : 200,
  };
}

/** Goes on to the client where the person comes from answering; who only looks here again is not sent there once more. */
function answeredView(
  { name }: AuthorizationClient,
  { allowed, location }: AuthorizationAnswer,
  goesOn: boolean,
): View {
  if (!goesOn || location === undefined || neverLinks.has(new URL(location).protocol)) {
    return {
      title: 'You have answered this already',
      body: html`<p>Go back to ${strangersName(name)}. If it still waits for your answer, connect again there.</p>
        <p class="soft">You can close this window.</p>`,
      card: true,
    };
  }
  return {
    title: allowed ? 'Access allowed' : 'Access denied',
    body: html`<p>You are taken back to ${strangersName(name)}.</p>
      <p>Nothing happens? <a href="${location}">Go on to ${strangersName(name)}</a></p>
      <p class="soft">You can close this window.</p>`,
    card: true,
    goOn: location,
  };
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This request has ended, or was begun in another browser.', {
    hint: 'Begin again in the application that sent you here.',
  });
}

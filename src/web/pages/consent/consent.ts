import { z } from 'zod';
import { SightlineError } from '../../../contract/core/index.ts';
import { pagePaths, scopes as allScopes } from '../../../contract/issuer/index.ts';
import type { AuthorizationRequest } from '../../../contract/issuer/index.ts';
import type { Membership } from '../../../contract/storage/index.ts';
import { alert } from '../../components.ts';
import { requireForm } from '../../forms.ts';
import { definePage } from '../../page.ts';
import type { SignedInVisit, View } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { consentBody } from './view.ts';
import { destinationOf } from './destination.ts';

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
    const asked = await find(visit, services);
    return consentView(visit, asked, await services.people.memberships(visit.user.id));
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
    const consent = { userId: user.id, organizationId: chosen.id, scopes };
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
  return {
    title: 'Allow access?',
    body: consentBody({
      visit,
      asked,
      destination,
      memberships,
      problem: problem === undefined ? undefined : alert(problem),
    }),
    card: true,
    // Chromium holds the redirect after the POST against form-action.
    formAction: destination.source,
    status: problem ? 400 : 200,
  };
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This request has ended, or was begun in another browser.', {
    hint: 'Begin again in the application that sent you here.',
  });
}

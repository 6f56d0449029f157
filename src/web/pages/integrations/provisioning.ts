import { SightlineError } from '../../../contract/core/index.ts';
import { confirmation, copyable, doneNotice, facts, moment, table, warning } from '../../components.ts';
import { copiedForm, shownMinutes, shownOnce } from '../../shown-once.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import type { PageServices } from '../../services.ts';

const path = '/integrations/provisioning';
/** Of the token that was made last in an organization: it is shown on the list. */
function about({ organization }: MemberVisit): string {
  return `scim-token:${organization.id}`;
}

/** SCIM tokens, with which an identity provider provisions the organization's people; a POST here makes one. */
export const provisioningPage = definePage({
  path,
  access: 'admin',
  async get(visit, services) {
    const { organization, to, csrf } = visit;
    const { tokens, address } = services.scim;
    const rules = services.scim.rulesOf(organization);
    const kept = shownOnce(services).read(visit, about(visit));
    const listed = await tokens.list(organization.id);
    // It may have been ended since.
    const made = listed.some(({ lastFour }) => lastFour === kept?.slice(-4)) ? kept : undefined;
    const people = new Map((await services.people.members(organization.id)).map(({ user }) => [user.id, user.email]));
    const nameOf = (id: string): string => [...people].find(([userId]) => userId === id)?.[1] ?? id;
    return {
      title: 'Provisioning',
      body: html`${doneNotice(visit, { ended: 'The token is ended. Who shows it is refused from now on.' })}
        ${made !== undefined && newToken(visit, made, address)}
        <p>
          Your identity provider can say by SCIM 2.0 who belongs to this organization. Who leaves there loses sessions,
          connected applications and the API keys they made, at once.
        </p>
        ${
          rules === undefined
            ? warning(
                'This is not switched on: an operator names this organization and its e-mail domains in the configuration, under scim.organizations.',
              )
            : facts([
                ['Address', html`<code>${address}</code>`],
                ['E-mail domains', rules.emailDomains.join(', ')],
                ['Groups of admins', rules.adminGroups.length > 0 && rules.adminGroups.join(', ')],
              ])
        }
        ${table({
          label: 'SCIM tokens',
          columns: ['Token', 'Made', 'By', 'Last used', 'Change'],
          rows: listed.map(({ id, lastFour, createdAt, createdBy, lastUsedAt }) => [
            html`<code>…${lastFour}</code>`,
            moment(createdAt),
            html`<bdi>${nameOf(createdBy)}</bdi>`,
            lastUsedAt ? moment(lastUsedAt) : 'Never',
            html`<a class="button quiet small" href="${to(`${path}/${id}/end`)}"
              >End<span class="hidden">: …${lastFour}</span></a
            >`,
          ]),
          empty: 'There is no token yet.',
        })}
        ${rules !== undefined && html`<form method="post" action="${to(path)}">${csrf}<button>Make a token</button></form>`}`,
    };
  },

  async post(visit, _form, services) {
    const { organization, actor } = visit;
    const { token } = await services.scim.tokens.create(organization.id, actor);
    shownOnce(services).keep(visit, about(visit), token);
    return { redirect: path };
  },
});

function newToken(visit: MemberVisit, token: string, address: string): Html {
  return html`${warning(`Copy the token now: this page shows it for ${shownMinutes} minutes, and nobody can look it up after that.`)}
    <div class="card whole">
      <h2>For your identity provider</h2>
      ${copyable('address', address)} ${copyable('token', token)} ${copiedForm(visit, about(visit), path)}
    </div>`;
}

export const endScimTokenPage = definePage({
  path: `${path}/:id/end`,
  access: 'admin',
  async get(visit, services) {
    const { id, lastFour } = await tokenOf(visit, services);
    return confirmation(visit, {
      title: `End the token …${lastFour}?`,
      text: 'The identity provider that has it is refused from the next request on. People stay as they are.',
      button: 'End the token',
      action: `${path}/${id}/end`,
      back: path,
    });
  },
  async post(visit, _form, services) {
    const { organization, actor, params } = visit;
    await services.scim.tokens.revoke(organization.id, params['id'] ?? '', actor);
    return { redirect: `${path}?done=ended` };
  },
});

async function tokenOf({ organization, params }: MemberVisit, { scim }: PageServices) {
  const found = (await scim.tokens.list(organization.id)).find(({ id }) => id === params['id']);
  if (found === undefined) throw new SightlineError('not_found', 'There is no such SCIM token in this organization.');
  return found;
}

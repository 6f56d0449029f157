import type { AuthorizationClient, AuthorizationRequest } from '../../../contract/issuer/index.ts';
import type { Membership } from '../../../contract/storage/index.ts';
import { strangersName, warning } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { SignedInVisit } from '../../page.ts';
import { scopeWords } from '../../scope-words.ts';
import type { Destination } from './destination.ts';

export interface ConsentShown {
  readonly visit: SignedInVisit;
  readonly asked: AuthorizationRequest;
  readonly destination: Destination;
  readonly memberships: readonly Membership[];
  readonly problem?: Html | undefined;
}

export function consentBody({ visit, asked, destination, memberships, problem }: ConsentShown): Html {
  const { to, csrf, user, request } = visit;
  const { client, scopes } = asked;
  const here = request.url ?? '/';
  return html`${problem}
    <p><strong>${strangersName(client.name)}</strong> asks for access to your organization in Sightline.</p>
    <dl>
      <dt>Application</dt>
      <dd>${knownBy(client)}</dd>
      <dt>Access goes to</dt>
      <dd>${destination.text}</dd>
      <dt>Signed in as</dt>
      <dd>${user.email}</dd>
    </dl>
    ${destination.warning !== undefined && warning(destination.warning)}
    <form method="post" action="${to(here)}">
      ${csrf}
      ${
        memberships.length === 0
          ? html`<p>Your account belongs to no organization, so there is nothing to allow.</p>`
          : html`${organizations(memberships, visit.session.membership)}
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

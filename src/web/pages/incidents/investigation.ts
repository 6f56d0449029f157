import {
  chooseInvestigation,
  type Conclusion,
  type Incident,
  type Investigation,
  type InvestigationStatus,
} from '../../../contract/storage/index.ts';
import { facts, moment } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import type { PathTo } from '../../paths.ts';
import { foldCase } from '../../../contract/core/index.ts';

/** Whether an incident waits for the person who looks at it: by name, or for anybody of the organization. */
export function waitsForViewer({ waitingOn }: Pick<Incident, 'waitingOn'>, email: string): boolean {
  return waitingOn.party === 'human' && (waitingOn.name === undefined || isViewer(waitingOn.name, email));
}

/** Behind "Waits on". */
export function waitedOn({ waitingOn: { party, name } }: Pick<Incident, 'waitingOn'>, email: string): Html {
  switch (party) {
    case 'human':
      if (name === undefined) return html`anybody of this organization`;
      return isViewer(name, email) ? html`you` : html`<bdi>${name}</bdi>`;
    case 'agent':
      return html`the agent`;
    case 'external':
      return name === undefined ? html`somebody outside` : html`<bdi>${name}</bdi>, outside`;
    case 'none':
      return html`nobody`;
  }
}

function isViewer(name: string, email: string): boolean {
  return foldCase(name) === foldCase(email);
}

const words = {
  queued: 'Waits for its turn',
  running: 'The agent is at work',
  waiting: 'The agent asked something and waits for the answer',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<InvestigationStatus, string>;

const mostClaims = 50;

/** `isTold`: whether the document below says a text already. */
export function investigationSection(
  investigations: readonly Investigation[],
  incident: Incident,
  to: PathTo,
  isTold: (text: string) => boolean,
): Html {
  const chosen = chooseInvestigation(investigations);
  if (chosen === undefined) {
    return html`<h2>Investigation</h2>
      <p class="soft">Nothing has been investigated yet.</p>`;
  }
  const { conclusion, failure, doing } = chosen;
  const claims = conclusion?.claims.filter(({ text }) => !isTold(text.replace(/\.$/, ''))) ?? [];
  return html`<h2>Investigation</h2>
    <p>
      ${words[chosen.status]}. Asked
      ${moment(chosen.askedAt)}${chosen.finishedAt && html`, ended ${moment(chosen.finishedAt)}`}, by
      <bdi>${chosen.engine}</bdi>. ${investigations.length > 1 && `It is the latest of ${investigations.length}.`}
    </p>
    ${failure !== undefined && html`<p class="alert">${failure}</p>`}
    ${doing !== undefined && html`<p class="soft" role="status">${renderInline(doing)}</p>`}
    ${
      conclusion &&
      html`${facts([
        ['Root cause', conclusion.root_cause === '' ? 'Not found' : renderInline(conclusion.root_cause)],
        ['Confidence', conclusion.confidence],
        ['Service', conclusion.service !== '' && html`<bdi>${conclusion.service}</bdi>`],
        ['Kind', conclusion.category !== '' && html`<bdi>${conclusion.category}</bdi>`],
      ])}
      ${
        claims.length > 0 &&
        html`<ul>
          ${claims
            .slice(0, mostClaims)
            .map(
              ({ text, status, evidence_ids: ids }) =>
                html`<li>
                  ${status === 'hypothesis' && html`<em>Perhaps:</em> `}${renderInline(text)}${ids.length > 0 && html` <small>(${ids.join(', ')})</small>`}
                </li>`,
            )}
        </ul>`
      }
      ${suspectList(conclusion, isTold)}
      ${
        conclusion.not_checked !== undefined &&
        conclusion.not_checked.length > 0 &&
        html`<p>Not checked: ${renderInline(conclusion.not_checked.join('; '))}.</p>`
      }`
    }
    <p>
      <a href="${to(`/incidents/${incident.key}/evidence`)}">The evidence: each question, its SQL and what came back</a>
    </p>`;
}

/** Other services that may be the cause, with what speaks for and against each. */
function suspectList(
  { service, suspects = [], suspicions = [] }: Conclusion,
  isTold: (text: string) => boolean,
): Html | undefined {
  const others = suspects.filter((name) => name !== service).slice(0, 5);
  if (others.length === 0 || suspicions.some(({ why }) => isTold(why))) return undefined;
  return html`<p>${service === '' ? 'Look first at:' : 'Also looks unusual:'}</p>
    <ul>
      ${others.map((name) => {
        const found = suspicions.find((one) => one.service === name);
        return html`<li>
          <bdi>${name}</bdi
          >${found && html`: ${renderInline(found.why)}${found.why_not !== undefined && html` Against it: ${renderInline(found.why_not)}`} <small>(${found.evidence_ids.join(', ')})</small>`}
        </li>`;
      })}
    </ul>`;
}

import {
  chooseInvestigation,
  howItEnded,
  precedents,
  type Chat,
  type Incident,
  type IncidentAlerts,
  type IncidentDocument,
  type Precedent,
  type Resolution,
  type TimelineEntry,
} from '../../../contract/storage/index.ts';
import { facts, moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline, renderMarkdown } from '../../markdown/render.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import type { PathTo } from '../../paths.ts';
import { messageForm } from '../chats/chat.ts';
import { chatTable } from '../chats/list.ts';
import { documentHtml } from './document.ts';
import { findIncident, alertStatusWords, resolutionWords, severityWords, statusWords } from './words.ts';
import { investigationSection, waitedOn, waitsForViewer } from './investigation.ts';

const mostChats = 20;
const mostAlerts = 50;
const mostEntries = 200;

export const incidentPage = definePage({
  path: '/incidents/:key',
  access: 'member',
  async get(visit) {
    const { workspace, to, user, params } = visit;
    const incident = await findIncident(workspace, params['key'] ?? '');
    const [document, timeline, investigations, chats, alerts] = await Promise.all([
      workspace.incidents.document(incident.id),
      workspace.incidents.timeline(incident.id),
      workspace.investigations.ofIncident(incident.id),
      workspace.chats.list({ incidentId: incident.id, limit: mostChats }),
      workspace.alerts.ofIncident(incident.id),
    ]);
    const before = await precedents(workspace.incidents, incident.finding, incident);
    const question = chooseInvestigation(investigations)?.question;
    const asked = chats.items.find(({ createdBy, status }) => createdBy.id === user.id && status === 'waiting');
    const forViewer = waitsForViewer(incident, user.email);
    const isTold = (text: string): boolean => document?.markdown.includes(text) === true;
    return {
      title: `${incident.key}: ${incident.title}`,
      body: html`${forViewer && waitingNotice(visit, incident, asked, question)} ${incidentFacts(incident, visit)}
        <p><a class="button quiet" href="${to(`/incidents/${incident.key}/change`)}">Change</a></p>
        ${
          incident.summary !== '' &&
          !isTold(incident.summary) &&
          html`<h2>Summary</h2>
            <p dir="auto" class="wrap">${incident.summary}</p>`
        }
        ${investigationSection(investigations, incident, to, isTold)}
        ${before.length > 0 && precedentSection(before, to)} ${documentSection(document, incident, to)}
        ${alertSection(alerts)}
        <h2>Chats</h2>
        ${chatTable(chats.items, { to, user, empty: 'Nobody has asked the agent about this incident yet.' })}
        ${chats.nextCursor !== undefined && html`<p class="soft">The ${mostChats} that changed last are shown.</p>`}
        ${
          !forViewer &&
          html`<div class="card">
            <h3>Ask the agent about this incident</h3>
            ${answerForm(visit, incident, asked)}
          </div>`
        }
        ${timelineSection(timeline)}
        <p><a href="${to('/incidents')}">All incidents</a></p>`,
    };
  },
});

function waitingNotice(
  visit: MemberVisit,
  incident: Incident,
  asked: Chat | undefined,
  question: string | undefined,
): Html {
  const { reason, since } = incident.waitingOn;
  return html`<section class="warning" aria-labelledby="waiting">
    <h2 id="waiting">This incident waits on ${waitedOn(incident, visit.user.email)}</h2>
    ${question === undefined ? html`<p dir="auto">${reason ?? 'Nobody wrote why.'}</p>` : renderMarkdown(question, 3)}
    <p class="soft">Since ${moment(since)}.</p>
    ${answerForm(visit, incident, asked)}
  </section>`;
}

function incidentFacts(incident: Incident, { user: { email }, to }: MemberVisit): Html {
  const { waitingOn, services, environment, assignee, source, startedAt, detectedAt, mitigatedAt } = incident;
  const { resolvedAt, resolution } = incident;
  const words = (text: string | undefined): Html | undefined =>
    text === undefined || text === '' ? undefined : html`<bdi>${text}</bdi>`;
  const why = waitingOn.reason;
  return facts([
    ['Status', statusWords[incident.status]],
    ['Severity', severityWords[incident.severity]],
    ['Waits on', html`${waitedOn(incident, email)}${why !== undefined && html`: <bdi>${why}</bdi>`}`],
    ['Resolution', resolution && resolutionHtml(resolution, to)],
    ['Services', words(services.slice(0, 50).join(', '))],
    ['Environment', words(environment)],
    ['Assigned to', words(assignee)],
    ['Source', words(source)],
    ['Started', moment(startedAt)],
    ['Detected', moment(detectedAt)],
    ['Mitigated', mitigatedAt && moment(mitigatedAt)],
    ['Resolved', resolvedAt && moment(resolvedAt)],
  ]);
}

function resolutionHtml({ kind, duplicateOf }: Resolution, to: PathTo): Html {
  if (duplicateOf === undefined) return html`${resolutionWords[kind]}`;
  return html`Duplicate of <a href="${to(`/incidents/${duplicateOf}`)}">${duplicateOf}</a>`;
}

function precedentSection(before: readonly Precedent[], to: PathTo): Html {
  return html`<h2>Like this before</h2>
    <ul>
      ${before.map(
        (one) =>
          html`<li>
            <a href="${to(`/incidents/${one.key}`)}">${one.key} <bdi>${one.title}</bdi></a
            >: ${renderInline(one.finding.root_cause)} ${howItEnded(one)}
          </li>`,
      )}
    </ul>`;
}

function documentSection(document: IncidentDocument | undefined, { key }: Incident, to: PathTo): Html {
  return html`<h2>Document</h2>
    ${document === undefined ? html`<p class="soft">Nothing has been written yet.</p>` : documentHtml(document)}
    ${document !== undefined && document.version > 1 && html`<p><a href="${to(`/incidents/${key}/document`)}">All its versions</a></p>`}`;
}

function alertSection({ listed, total, active }: IncidentAlerts): Html {
  const rows = listed.slice(0, mostAlerts).map(({ title, status, severity, startsAt, endsAt, labels, url }) => [
    html`<bdi>${title}</bdi>${url !== undefined && alertLink(url)}`,
    alertStatusWords[status],
    severityWords[severity],
    moment(startsAt),
    endsAt ? moment(endsAt) : 'Not yet',
    html`<bdi
      >${Object.entries(labels)
        .slice(0, 20)
        .map(([name, value]) => `${name}=${value}`)
        .join(', ')}</bdi
    >`,
  ]);
  return html`<h2>Alerts</h2>
    ${table({
      label: 'Alerts',
      columns: ['Alert', 'Status', 'Severity', 'Since', 'Until', 'Labels'],
      rows,
      empty: 'No alert belongs to this incident.',
    })}
    ${total > mostAlerts && html`<p class="soft">${mostAlerts} of ${total} are shown; ${active} are not resolved.</p>`}`;
}

/** The address is untrusted: the alert's sender wrote it. */
function alertLink(address: string): Html | undefined {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  return html` <small><a href="${url.href}" rel="noopener noreferrer nofollow">Open at ${url.host}</a></small>`;
}

function timelineSection(entries: readonly TimelineEntry[]): Html {
  const shown = entries.slice(-mostEntries);
  const rows = shown.map(({ at, actor, change, from, to }) => [
    moment(at),
    html`<bdi>${actor.name}</bdi>`,
    html`${change.replaceAll('_', ' ')}`,
    html`${from !== undefined && html`<bdi>${from}</bdi>`}${from !== undefined && to !== undefined && ' → '}${to !== undefined && html`<bdi>${to}</bdi>`}`,
  ]);
  return html`<h2>Timeline</h2>
    ${entries.length > shown.length && html`<p class="soft">The newest ${mostEntries} of ${entries.length} changes are shown.</p>`}
    ${table({ label: 'Timeline', columns: ['Time', 'Who', 'What', 'Change'], rows, empty: 'Nothing has changed yet.' })}`;
}

/** The answer goes to the chat in which the agent asked, else to a new one, which joins a waiting investigation. */
function answerForm(visit: MemberVisit, incident: Incident, asked: Chat | undefined): Html {
  if (asked === undefined) {
    return messageForm(visit, { action: '/chats/new', label: 'Your message', button: 'Send', incident: incident.key });
  }
  return html`<p>
      The agent asked you in the chat <a href="${visit.to(`/chats/${asked.id}`)}"><bdi>${asked.title}</bdi></a
      >.
    </p>
    ${messageForm(visit, { action: `/chats/${asked.id}`, label: 'Your answer', button: 'Answer' })}`;
}

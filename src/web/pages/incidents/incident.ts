import type { Alert, Chat, Incident, IncidentDocument, TimelineEntry } from '../../../contract/index.ts';
import { moment } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { renderMarkdown } from '../../markdown/render.ts';
import { definePage } from '../../page.ts';
import type { MemberVisit } from '../../page.ts';
import { table } from '../../table.ts';
import { chatTable } from '../chats/table.ts';
import { answerForm } from './answer.ts';
import { findIncident } from './find.ts';
import { investigationSection } from './investigation.ts';
import { waitedOn, waitsForViewer } from './waiting.ts';
import { severityWords, statusWords } from './words.ts';

const mostChats = 20;
const mostAlerts = 50;
const mostEntries = 200;

export const incidentPage = definePage({
  path: '/incidents/:key',
  access: 'member',
  async get(visit) {
    const { workspace, to, user, params } = visit;
    const incident = await findIncident(workspace, params['key'] ?? '');
    const [document, timeline, investigations, chats] = await Promise.all([
      workspace.incidents.document(incident.id),
      workspace.incidents.timeline(incident.id),
      workspace.investigations.ofIncident(incident.id),
      workspace.chats.list({ incidentId: incident.id, limit: mostChats }),
    ]);
    const asked = chats.items.find(({ createdBy, status }) => createdBy.id === user.id && status === 'waiting');
    const forViewer = waitsForViewer(incident, user.email);
    return {
      title: `${incident.key}: ${incident.title}`,
      body: html`${forViewer && waitingNotice(visit, incident, asked)} ${facts(incident, user.email)}
        ${
          incident.summary !== '' &&
          html`<h2>Summary</h2>
            <p dir="auto" class="wrap">${incident.summary}</p>`
        }
        ${investigationSection(investigations, incident, to)} ${documentSection(document)}
        ${alertSection(incident.alerts)}
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

function waitingNotice(visit: MemberVisit, incident: Incident, asked: Chat | undefined): Html {
  const { reason, since } = incident.waitingOn;
  return html`<section class="warning" aria-labelledby="waiting">
    <h2 id="waiting">This incident waits on ${waitedOn(incident, visit.user.email)}</h2>
    <p dir="auto">${reason ?? 'Nobody wrote why.'}</p>
    <p class="soft">Since ${moment(since)}.</p>
    ${answerForm(visit, incident, asked)}
  </section>`;
}

function facts(incident: Incident, email: string): Html {
  const { waitingOn, services, environment, assignee, source, startedAt, detectedAt, mitigatedAt, resolvedAt } =
    incident;
  const fact = (name: string, value: Html | string | undefined): Html | false =>
    value !== undefined &&
    value !== '' &&
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  const words = (text: string | undefined): Html | undefined =>
    text === undefined || text === '' ? undefined : html`<bdi>${text}</bdi>`;
  const why = waitingOn.reason;
  return html`<dl>
    ${fact('Status', statusWords[incident.status])} ${fact('Severity', severityWords[incident.severity])}
    ${fact('Waits on', html`${waitedOn(incident, email)}${why !== undefined && html`: <bdi>${why}</bdi>`}`)}
    ${fact('Services', words(services.slice(0, 50).join(', ')))} ${fact('Environment', words(environment))}
    ${fact('Assigned to', words(assignee))} ${fact('Source', words(source))} ${fact('Started', moment(startedAt))}
    ${fact('Detected', moment(detectedAt))} ${fact('Mitigated', mitigatedAt && moment(mitigatedAt))}
    ${fact('Resolved', resolvedAt && moment(resolvedAt))}
  </dl>`;
}

function documentSection(document: IncidentDocument | undefined): Html {
  if (document === undefined)
    return html`<h2>Document</h2>
      <p class="soft">Nothing has been written yet.</p>`;
  const { markdown, version, author, updatedAt } = document;
  return html`<h2>Document</h2>
    <p class="soft">Version ${version}, by <bdi>${author.name}</bdi>, ${moment(updatedAt)}</p>
    <div class="card">${renderMarkdown(markdown, 2)}</div>`;
}

function alertSection(alerts: readonly Alert[]): Html {
  const rows = alerts.slice(0, mostAlerts).map(({ title, status, severity, startsAt, endsAt, labels, url }) => [
    html`<bdi>${title}</bdi>${url !== undefined && alertLink(url)}`,
    status === 'firing' ? 'Firing' : 'Resolved',
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
    ${alerts.length > mostAlerts && html`<p class="soft">${mostAlerts} of ${alerts.length} are shown.</p>`}`;
}

/** Whoever sends alerts writes their addresses. */
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

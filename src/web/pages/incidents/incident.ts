import {
  chooseInvestigation,
  howItEnded,
  nextStatuses,
  precedents,
  type Chat,
  type Incident,
  type IncidentAlerts,
  type IncidentDocument,
  type Investigation,
  type Precedent,
  type Resolution,
} from '../../../contract/storage/index.ts';
import { age, facts, figure, moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline, renderMarkdown } from '../../markdown/render.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { fromDayBefore, traceHref, type PathTo } from '../../paths.ts';
import { chatStatusWords } from '../chats/list.ts';
import { messageForm } from '../chats/chat.ts';
import { answerSection } from './answer.ts';
import { documentHtml } from './document.ts';
import { findings, traces } from './findings.ts';
import { coursePictures, courseOf, mapPicture, spreadPicture, type Shown } from './pictures.ts';
import { marksOf } from './rows.ts';
import { historySection, sign, timelineSection } from './timeline.ts';
import {
  alertStatusWords,
  findIncident,
  resolutionWords,
  severityWords,
  statusWords,
  waitedOn,
  waitsForViewer,
} from './words.ts';

const mostChats = 20;
const mostAlerts = 50;

/** One screen says what is wrong and what to do; below it stands why that is believed. Nothing is asked of the telemetry. */
export const incidentPage = definePage({
  path: '/incidents/:key',
  access: 'member',
  async get(visit, { now }) {
    const { workspace, to, user, params } = visit;
    const incident = await findIncident(workspace, params['key'] ?? '');
    const [document, history, investigations, chats, alerts, before] = await Promise.all([
      workspace.incidents.document(incident.id),
      workspace.incidents.timeline(incident.id),
      workspace.investigations.ofIncident(incident.id),
      workspace.chats.list({ incidentId: incident.id, limit: mostChats }),
      workspace.alerts.ofIncident(incident.id),
      precedents(workspace.incidents, incident.finding, incident),
    ]);
    const chosen = chooseInvestigation(investigations);
    // One that waits for its turn has asked nothing yet.
    const steps = chosen?.startedAt === undefined ? [] : await workspace.investigations.steps(chosen.id);
    const marks = marksOf(steps, chosen?.conclusion, alerts);
    const shown: Shown = { steps, conclusion: chosen?.conclusion, marks };
    const asked = chats.items.find(({ createdBy, status }) => createdBy.id === user.id && status === 'waiting');
    return {
      title: `${incident.key}: ${incident.title}`,
      body: html`${strip(visit, incident, now())}
        ${waitsForViewer(incident, user.email) && waitingNotice(visit, incident, chosen?.question)}
        <div class="incident">
          ${answerSection({ incident, chosen, document, shown })}
          <aside aria-label="Chat">
            <section class="card" aria-labelledby="ask">
              <h2 id="ask">${chosen?.question === undefined ? 'Ask the agent' : 'Answer the agent'}</h2>
              ${answerForm(visit, incident, asked)} ${chatList(chats.items, to)}
              ${chats.nextCursor !== undefined && html`<p class="soft">The ${mostChats} that changed last are shown.</p>`}
            </section>
            ${before.length > 0 && precedentSection(before, to)}
          </aside>
          <div class="below">
            ${overTime(shown, html`${incidentFacts(incident, visit)} ${chosen && investigationFacts(chosen, investigations.length)}`)}
            ${findings(shown, { to, key: incident.key })} ${traces(shown, { to, key: incident.key })}
            ${timelineSection(incident, marks)}
            ${steps.length > 0 && html`<p><a href="${to(`/incidents/${incident.key}/evidence`)}">All the evidence: each question, its SQL and what came back</a></p>`}
            ${documentSection(document, chosen, incident, to)} ${alertSection(alerts)} ${historySection(history)}
            <p><a href="${to('/incidents')}">All incidents</a></p>
          </div>
        </div>`,
    };
  },
});

/** How it stands, and what can be done about that. */
function strip({ to }: MemberVisit, { key, status, severity, startedAt }: Incident, now: Date): Html {
  const next = nextStatuses(status);
  const change = `/incidents/${key}/change`;
  const action = (wanted: 'mitigated' | 'resolved', label: string): Html | false =>
    next.includes(wanted) && html`<a class="button quiet small" href="${to(change)}?status=${wanted}">${label}</a>`;
  return html`<div class="strip">
    <span class="tag severity-${severity}">${severityWords[severity]}</span>
    <span class="tag">${statusWords[status]}</span>
    <span class="soft">started ${age(startedAt, now)} ago</span>
    <span class="actions"
      ><a class="button quiet small" href="#message">Ask or answer</a
      >${action('mitigated', 'Mitigated')}${action('resolved', 'Resolve')}<a
        class="button quiet small"
        href="${to(change)}"
        >Change</a
      ></span
    >
  </div>`;
}

function waitingNotice({ user }: MemberVisit, incident: Incident, question: string | undefined): Html {
  const { reason, since } = incident.waitingOn;
  return html`<section class="warning waiting" aria-labelledby="waiting">
    <h2 id="waiting">This incident waits on ${waitedOn(incident, user.email)}</h2>
    ${question === undefined ? html`<p dir="auto">${reason ?? 'Nobody wrote why.'}</p>` : renderMarkdown(question, 3)}
    <small>since ${moment(since)}</small>
  </section>`;
}

/** Requests over time with what happened, the service map, and the latency distribution. */
function overTime(shown: Shown, known: Html): Html {
  const courses = coursePictures(shown);
  const [map, spread] = [mapPicture(shown), spreadPicture(shown)];
  const of = courseOf(shown);
  return html`<section aria-labelledby="over-time">
    <h2 id="over-time">
      ${of === undefined ? 'How it stands' : html`Over time: <bdi>${of.service}</bdi> <bdi>${of.operation}</bdi>`}
    </h2>
    ${
      courses.length > 0 &&
      html`<div class="card">
        <div class="courses">${courses.map(figure)}</div>
        <ul class="key">
          ${shown.marks.map(({ at, kind, label }) => html`<li>${sign(kind)} ${new Date(at).toISOString().slice(11, 16)} <bdi>${label}</bdi></li>`)}
        </ul>
      </div>`
    }
    <div class="cards">
      ${map && html`<div class="card">${figure(map)}</div>`}
      <div>
        ${spread && html`<div class="card">${figure(spread)}</div>`}
        <section class="card" aria-labelledby="facts">
          <h3 id="facts">Facts</h3>
          ${known}
        </section>
      </div>
    </div>
  </section>`;
}

function chatList(chats: readonly Chat[], to: PathTo): Html | undefined {
  if (chats.length === 0) return undefined;
  return html`<ul class="plain">
    ${chats.map(
      (chat) =>
        html`<li>
          <a href="${to(`/chats/${chat.id}`)}"><bdi>${chat.title}</bdi></a>
          <small>${chatStatusWords[chat.status]}</small>
        </li>`,
    )}
  </ul>`;
}

function incidentFacts(incident: Incident, { user: { email }, to }: MemberVisit): Html {
  const { waitingOn, services, environment, assignee, source, startedAt, detectedAt, mitigatedAt } = incident;
  const { resolvedAt, resolution } = incident;
  const words = (text: string | undefined): Html | undefined =>
    text === undefined || text === '' ? undefined : html`<bdi>${text}</bdi>`;
  const why = waitingOn.reason;
  return facts([
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

function investigationFacts({ status, askedAt, finishedAt, engine, conclusion }: Investigation, count: number): Html {
  return html`<p class="soft">
    Investigated by <bdi>${engine}</bdi>, asked ${moment(askedAt)}${finishedAt && html`, ended ${moment(finishedAt)}`}:
    ${status}${conclusion && conclusion.category !== '' && html`, kind <bdi>${conclusion.category}</bdi>`}.
    ${count > 1 && `It is the latest of ${count}.`}
  </p>`;
}

function resolutionHtml({ kind, duplicateOf }: Resolution, to: PathTo): Html {
  if (duplicateOf === undefined) return html`${resolutionWords[kind]}`;
  return html`Duplicate of <a href="${to(`/incidents/${duplicateOf}`)}">${duplicateOf}</a>`;
}

function precedentSection(before: readonly Precedent[], to: PathTo): Html {
  return html`<section class="card" aria-labelledby="before">
    <h2 id="before">Like this before</h2>
    <ul>
      ${before.map(
        (one) =>
          html`<li>
            <a href="${to(`/incidents/${one.key}`)}">${one.key} <bdi>${one.title}</bdi></a
            >: ${renderInline(one.finding.root_cause)} ${howItEnded(one)}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** Folded where it only tells what stands above in other words: all of it is the agent's. */
function documentSection(
  document: IncidentDocument | undefined,
  chosen: Investigation | undefined,
  { key, startedAt }: Incident,
  to: PathTo,
): Html {
  if (document === undefined) return html`<p class="soft">No document has been written yet.</p>`;
  const isTold = chosen?.conclusion !== undefined && document.author.kind === 'agent';
  return html`<details ${!isTold && html` open`}>
    <summary>Document</summary>
    ${documentHtml(document, traceHref(to, fromDayBefore(startedAt)))}
    ${document.version > 1 && html`<p><a href="${to(`/incidents/${key}/document`)}">All its versions</a></p>`}
  </details>`;
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
  return html`<details>
    <summary>Alerts (${total})</summary>
    ${table({
      label: 'Alerts',
      columns: ['Alert', 'Status', 'Severity', 'Since', 'Until', 'Labels'],
      rows,
      empty: 'No alert belongs to this incident.',
    })}
    ${total > mostAlerts && html`<p class="soft">${mostAlerts} of ${total} are shown; ${active} are not resolved.</p>`}
  </details>`;
}

/** The address is untrusted: the alert's sender wrote it. */
function alertLink(address: string): Html | undefined {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  return html` <small><a href="${url.href}" rel="noopener noreferrer nofollow">Open at ${url.host}</a></small>`;
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

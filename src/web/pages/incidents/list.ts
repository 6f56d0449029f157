import { incidentStatuses, type Incident, type IncidentStatusFilter } from '../../../contract/storage/index.ts';
import { shortened } from '../../../contract/core/index.ts';
import { age, moment, table } from '../../components.ts';
import { sparkline } from '../../graphics/sparkline.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { olderPath } from '../../paths.ts';
import { severityWords, statusWords, waitedOn, waitsForViewer } from './words.ts';

const perPage = 25;
const filters = ['open', ...incidentStatuses] as const;

export const incidentsPage = definePage({
  path: '/incidents',
  access: 'member',
  async get(visit, { now }) {
    const { search, workspace, user } = visit;
    const status = filters.find((known) => known === search.get('status'));
    const mine = search.get('waiting') === 'me';
    const cursor = search.get('after');
    const page = await workspace.incidents.list({
      limit: perPage,
      statuses: status && [status],
      waitingOn: mine ? [user.email] : undefined,
      cursor: cursor ?? undefined,
    });
    return {
      title: 'Incidents',
      body: html`${filterForm(visit, status, mine)}
      ${table({
        label: 'Incidents, newest first',
        columns: ['Incident and cause', 'Course', 'Severity and status', 'Waits on', 'Started'],
        rows: page.items.map((incident) => row(visit, incident, now())),
        empty: status || mine || cursor !== null ? 'No incident matches.' : 'There has been no incident yet.',
      })}
      ${page.nextCursor !== undefined && html`<p><a class="button quiet" href="${olderPath(visit, '/incidents', page.nextCursor)}">Older incidents</a></p>`}`,
    };
  },
});

function row({ to, user }: MemberVisit, incident: Incident, now: Date): readonly Html[] {
  const {
    waitingOn: { reason },
    finding,
    services,
  } = incident;
  const waiting = waitedOn(incident, user.email);
  return [
    html`<a href="${to(`/incidents/${incident.key}`)}"><bdi>${incident.title}</bdi></a>
      <small
        >${incident.key}${services.length > 0 && html` · <bdi>${services.slice(0, 5).join(', ')}</bdi>${services.length > 5 && ' and more'}`}</small
      >${finding && html`<br /><small>${renderInline(shortened(finding.root_cause, 300))} (${finding.confidence} confidence)</small>`}${finding?.rivals?.map(
        ({ service, why, why_not: not }) =>
          html`<br /><small
              >Or <bdi>${service}</bdi>:
              ${renderInline(shortened(why, 160))}${not !== undefined && html` Against it: ${renderInline(shortened(not, 160))}`}</small
            >`,
      )}`,
    course(finding) ?? html`<span class="soft">–</span>`,
    html`<span class="tag severity-${incident.severity}">${severityWords[incident.severity]}</span>
      <br />${statusWords[incident.status]}`,
    waitsForViewer(incident, user.email)
      ? html`<strong>${waiting}</strong>${reason !== undefined && html`<br /><bdi>${reason}</bdi>`}`
      : waiting,
    html`${age(incident.startedAt, now)} ago<br /><small>${moment(incident.startedAt)}</small>`,
  ];
}

/** How bad it was, up to when it was investigated. */
function course(finding: Incident['finding']): Html | undefined {
  const { trend = [] } = finding ?? {};
  const worst = trend.indexOf(Math.max(...trend)) + 1;
  return sparkline(trend, `Course in ${trend.length} parts: worst in part ${worst}`);
}

function filterForm({ to }: MemberVisit, status: IncidentStatusFilter | undefined, mine: boolean): Html {
  const option = (value: string, label: string, chosen: boolean): Html =>
    html`<option value="${value}" ${chosen && html` selected`}>${label}</option>`;
  return html`<form method="get" action="${to('/incidents')}" class="filter">
    <div>
      <label for="status">Status</label>
      <select id="status" name="status">
        ${option('', 'All', status === undefined)}${option('open', 'Open', status === 'open')}
        ${incidentStatuses.map((each) => option(each, statusWords[each], each === status))}
      </select>
    </div>
    <div class="choice">
      <input type="checkbox" id="waiting" name="waiting" value="me" ${mine && html` checked`} />
      <label for="waiting">Waits on me</label>
    </div>
    <button class="quiet">Show</button>
  </form>`;
}

import { SightlineError } from '../../../contract/core/index.ts';
import { tableNames, type TableName } from '../../../contract/telemetry/index.ts';
import { moment, table, warning } from '../../components.ts';
import { isLedHereByUs } from '../../forms.ts';
import { grouped } from '../../graphics/scale.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { exploreHref } from '../../paths.ts';
import type { IngestActivity, PageServices, QueryAnswer, QueryResult } from '../../services.ts';
import { cellsOf, type Cells } from '../incidents/rows.ts';
import { describe, setUp } from '../integrations/telemetry.ts';
import { failureHtml, warnings } from './result.ts';

const path = '/telemetry';

/** What came in lately from which service, how soon it can be queried, and what was refused; before the first of it, how to send. */
export const arrivalsPage = definePage({
  path,
  access: 'member',
  get: async (visit, services) =>
    view(visit, services, isLedHereByUs(visit.request) ? await count(visit, services) : undefined),
  post: async (visit, _form, services) => view(visit, services, await count(visit, services)),
});

function count(visit: MemberVisit, { telemetry }: PageServices): Promise<QueryAnswer> {
  return telemetry.run(visit, { sql: countSql(telemetry.dialect) });
}

/** In every dialect, as its writer spells it. */
export function countSql({ write }: Pick<PageServices['telemetry']['dialect'], 'write'>): string {
  const since = write.ago(1, 'day');
  const lately = write.countIf(`time >= ${write.ago(1, 'hour')}`);
  return tableNames
    .map(
      (name) => `SELECT service_name, '${name}' AS kind_of, ${lately} AS last_hour, max(time) AS newest
FROM otel.${name}
WHERE time >= ${since}
GROUP BY service_name`,
    )
    .join('\nUNION ALL\n');
}

async function view(visit: MemberVisit, services: PageServices, counted: QueryAnswer | undefined): Promise<View> {
  const ours = services.ingestTokens !== undefined;
  const activity = ours ? await services.ingestActivity(visit.organization.id, visit.role) : undefined;
  const { to } = visit;
  const nothingCame = activity?.arrival === undefined;
  const isEmpty = counted === undefined ? activity !== undefined && nothingCame : isNone(counted) && nothingCame;
  return {
    title: 'Telemetry',
    body: isEmpty
      ? html`<p>Nothing has come in yet.</p>
          ${activity && activity.refusals.length > 0 && refusalsHtml(activity)} ${await guide(visit, services)}`
      : html`${activity && arrivalHtml(activity)} ${counted ? countHtml(visit, services, counted) : asks(visit)}
          ${activity && refusalsHtml(activity)}
          <p><a class="button quiet" href="${to('/integrations/telemetry')}">Connect another sender</a></p>`,
  };
}

function isNone(counted: QueryAnswer): boolean {
  return counted.ok && counted.result.row_count === 0;
}

function arrivalHtml({ arrival, crowded }: IngestActivity): Html {
  return html`${crowded !== undefined && warning(`${crowded} An operator of this gateway can change that.`)}
  ${
    arrival &&
    html`<p>
      Telemetry last came in
      ${moment(arrival.at)}${
        arrival.service !== undefined &&
        html` from ${arrival.service === '' ? 'a service without a name' : html`<code>${arrival.service}</code>`}`
      }.
      ${arrival.lagMs !== undefined && `What came in could be queried ${seconds(arrival.lagMs)} later.`}
    </p>`
  }`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function asks({ to, csrf }: MemberVisit): Html {
  return html`<form method="post" action="${to(path)}">
    ${csrf}
    <p><button class="quiet">Count by service</button></p>
  </form>`;
}

interface Service {
  readonly name: string;
  readonly newest: number;
  /** Records of the last hour. */
  readonly of: Readonly<Record<TableName, string>>;
}

function countHtml(visit: MemberVisit, services: PageServices, counted: QueryAnswer): Html {
  const heading = html`<h2>By service, in the last day</h2>`;
  if (!counted.ok) {
    const asked = { sql: countSql(services.telemetry.dialect), start: '', end: '' };
    return html`${heading} ${failureHtml(visit, counted.failure, asked)}`;
  }
  const { to } = visit;
  const { write } = services.telemetry.dialect;
  const spansOf = (name: string): string | undefined =>
    exploreHref(to, {
      sql: `SELECT time, name, kind, status_code, duration_nano, trace_id FROM otel.spans WHERE service_name = ${write.literal(name)} ORDER BY time DESC LIMIT 100`,
    });
  return html`${heading}
  ${table({
    label: 'Services that sent',
    columns: ['Service', 'Spans, last hour', 'Metric points, last hour', 'Log records, last hour', 'Newest'],
    rows: servicesIn(counted.result).map(({ name, newest, of }) => [
      html`<a href="${spansOf(name) ?? to('/explore')}"><bdi>${name === '' ? 'without a name' : name}</bdi></a>`,
      of.spans,
      of.metrics,
      of.logs,
      moment(new Date(newest)),
    ]),
    empty: 'Nothing of the last day can be queried.',
  })}
  ${warnings(counted.result)}`;
}

/** Those heard of last stand first, to the minute. */
function servicesIn({ columns, rows }: QueryResult): readonly Service[] {
  const all = cellsOf({ columns: columns.map(({ name }) => name), rows });
  const newest = (of: readonly Cells[]): number => Math.max(...of.map((row) => row.time('newest')));
  return [...Map.groupBy(all, (row) => row.text('service_name'))]
    .map(([name, of]) => {
      const lately = (table: TableName): string =>
        grouped(of.find((row) => row.text('kind_of') === table)?.number('last_hour') ?? 0);
      return {
        name,
        newest: newest(of),
        of: { spans: lately('spans'), metrics: lately('metrics'), logs: lately('logs') },
      };
    })
    .filter((service) => Number.isFinite(service.newest))
    .toSorted((a, b) => minuteOf(b) - minuteOf(a) || (a.name < b.name ? -1 : 1));
}

function minuteOf({ newest }: Service): number {
  return Math.floor(newest / 60_000);
}

function refusalsHtml({ refusals }: IngestActivity): Html {
  return html`<h2>Refused or altered in the last hour</h2>
    ${table({
      label: 'Refused or altered in the last hour',
      columns: ['Last', 'Times', 'Why', 'Sender'],
      rows: refusals.map(({ last, count: times, reason, userAgent }) => [
        moment(last),
        String(times),
        reason,
        userAgent,
      ]),
      empty: 'Nothing was refused or altered in the last hour.',
    })}`;
}

async function guide(visit: MemberVisit, services: PageServices): Promise<Html> {
  const described = await describe(visit, services);
  if (described instanceof SightlineError) {
    return html`<h2>Send the first span</h2>
      <p>${described.message}</p>
      ${described.hint !== undefined && html`<p class="soft">${described.hint}</p>`}`;
  }
  return html`<h2>Send the first span</h2>
    <ol>
      <li>Set the variables below where your application starts.</li>
      <li>Start it as its language is shown to, and let it answer a request.</li>
      <li>Look at this page again: what came in can be queried a second or two later.</li>
    </ol>
    ${setUp(described)}`;
}

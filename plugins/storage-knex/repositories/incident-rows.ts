import { foldCase, SightlineError, toId, type IncidentId } from '../../../src/contract/core/index.ts';
import {
  openStatuses,
  waitingParties,
  type Alert,
  type Incident,
  type IncidentFilter,
  type IncidentStatus,
  type Page,
  type Resolution,
  type WaitingOn,
} from '../../../src/contract/storage/index.ts';
import {
  date,
  incidentStatusColumn,
  integer,
  optional,
  resolutionColumn,
  severityColumn,
  sha256,
  waitingPartyColumn,
} from '../columns.ts';
import { alertsJson, findingJson, labelsJson, stringsJson } from '../json.ts';
import { page, matchesWords, searchText } from '../paging.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';

export function toIncidentRow(incident: Incident): Omit<RowIn<'incidents'>, 'organization_id'> {
  const { waitingOn, fingerprint, finding } = incident;
  const found = finding ? [finding.service, finding.root_cause, ...finding.claims] : [];
  return {
    id: incident.id,
    number: incident.number,
    title: incident.title,
    summary: incident.summary,
    search_text: searchText(incident.title, incident.summary, ...found),
    status: incident.status,
    severity: incident.severity,
    waiting_party: waitingOn.party,
    waiting_name: waitingOn.name ?? null,
    waiting_key: waitingOn.name === undefined ? null : foldCase(waitingOn.name),
    waiting_reason: waitingOn.reason ?? null,
    waiting_since: waitingOn.since.getTime(),
    services: stringsJson.write(incident.services),
    environment: incident.environment,
    source: incident.source,
    fingerprint: fingerprint ?? null,
    fingerprint_hash: fingerprint === undefined ? null : sha256(fingerprint),
    labels: labelsJson.write(incident.labels),
    assignee: incident.assignee ?? null,
    alerts: alertsJson.write(incident.alerts),
    started_at: incident.startedAt.getTime(),
    detected_at: incident.detectedAt.getTime(),
    created_at: incident.createdAt.getTime(),
    updated_at: incident.updatedAt.getTime(),
    mitigated_at: incident.mitigatedAt?.getTime() ?? null,
    resolved_at: incident.resolvedAt?.getTime() ?? null,
    resolution: incident.resolution?.kind ?? null,
    finding: finding ? findingJson.write(finding) : null,
    blamed_hash: finding && finding.service !== '' ? serviceHash(finding.service) : null,
    duplicate_of: incidentNumber(incident.resolution?.duplicateOf) ?? null,
  };
}

export function toIncident(row: RowIn<'incidents'>): Incident {
  const number = integer(row.number);
  return {
    id: toId('inc', row.id),
    organizationId: toId('org', row.organization_id),
    number,
    key: incidentKey(number),
    title: row.title,
    summary: row.summary,
    status: incidentStatusColumn.parse(row.status),
    severity: severityColumn.parse(row.severity),
    waitingOn: toWaitingOn(row),
    services: stringsJson.read(row.services),
    environment: row.environment,
    source: row.source,
    ...optional('fingerprint', row.fingerprint, String),
    labels: labelsJson.read(row.labels),
    ...optional('assignee', row.assignee, String),
    alerts: alertsJson.read(row.alerts),
    startedAt: date(row.started_at),
    detectedAt: date(row.detected_at),
    createdAt: date(row.created_at),
    updatedAt: date(row.updated_at),
    ...optional('mitigatedAt', row.mitigated_at, date),
    ...optional('resolvedAt', row.resolved_at, date),
    ...optional('resolution', row.resolution, (kind) => toResolution(kind, row)),
    ...optional('finding', row.finding, (text) => findingJson.read(text)),
  };
}

export function incidentKey(number: number): string {
  return `INC-${number}`;
}

/** The number in a key (`INC-12`, any case); undefined for what is no key. */
export function incidentNumber(key: string | undefined): number | undefined {
  const digits = /^INC-([1-9]\d{0,14})$/i.exec(key ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function toResolution(kind: string, row: RowIn<'incidents'>): Resolution {
  return {
    kind: resolutionColumn.parse(kind),
    ...optional('duplicateOf', row.duplicate_of, (number) => incidentKey(integer(number))),
  };
}

function toWaitingOn(row: RowIn<'incidents'>): WaitingOn {
  return {
    party: waitingPartyColumn.parse(row.waiting_party),
    ...optional('name', row.waiting_name, String),
    ...optional('reason', row.waiting_reason, String),
    since: date(row.waiting_since),
  };
}

export async function requireIncident(scope: Scope, id: IncidentId): Promise<void> {
  const row = await scope.from('incidents').where({ id }).first('id');
  if (row === undefined) throw new SightlineError('not_found', 'There is no such incident.');
}

/** How a service is looked for: by name, whatever its case. */
export function serviceHash(name: string): string {
  return sha256(foldCase(name));
}

export function sameAlerts(one: readonly Alert[], other: readonly Alert[]): boolean {
  return alertsJson.write(one) === alertsJson.write(other);
}

/** Newest start first. Values of one filter are alternatives; filters together all hold. */
export function listIncidents(scope: Scope, { limit, cursor, ...filter }: IncidentFilter): Promise<Page<Incident>> {
  const bound = ['incidents', scope.organizationId, normalized(filter)];
  return page(matching(scope, filter), { time: 'started_at', limit, cursor, bound }, toIncident);
}

type Filter = Omit<IncidentFilter, 'limit' | 'cursor'>;

function matching(scope: Scope, filter: Filter) {
  const query = scope.from('incidents');
  if (filter.statuses !== undefined) query.whereIn('status', [...statuses(filter.statuses)]);
  if (filter.severities !== undefined) query.whereIn('severity', [...filter.severities]);
  if (filter.waitingOn !== undefined) {
    const parties = filter.waitingOn.filter((value) => waitingParties.some((party) => party === value));
    const names = filter.waitingOn.filter((value) => !parties.includes(value)).map(foldCase);
    query.where((either) => void either.whereIn('waiting_party', parties).orWhereIn('waiting_key', names));
  }
  if (filter.service !== undefined) {
    const having = scope
      .from('incident_services')
      .where({ service_hash: serviceHash(filter.service) })
      .select('incident_id');
    query.whereIn('incidents.id', having);
  }
  if (filter.blamed !== undefined) query.where({ blamed_hash: serviceHash(filter.blamed) });
  for (const word of matchesWords(scope, filter.query)) query.where(word);
  if (filter.since !== undefined) query.where('started_at', '>=', filter.since.getTime());
  if (filter.until !== undefined) query.where('started_at', '<', filter.until.getTime());
  return query;
}

function statuses(filter: NonNullable<Filter['statuses']>): ReadonlySet<IncidentStatus> {
  return new Set(filter.flatMap((status) => (status === 'open' ? openStatuses : [status])));
}

/** The filter in one spelling, for the cursor to be bound to. */
function normalized(filter: Filter): readonly unknown[] {
  return [
    filter.statuses?.toSorted(),
    filter.severities?.toSorted(),
    filter.waitingOn?.toSorted(),
    filter.service,
    filter.blamed,
    filter.query,
    filter.since?.getTime(),
    filter.until?.getTime(),
  ];
}

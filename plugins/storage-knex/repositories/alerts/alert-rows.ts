import { type AlertSourceId, foldCase, type IncidentId, toId } from '../../../../src/contract/core/index.ts';
import type { AlertNotice } from '../../../../src/contract/alerts/index.ts';
import { type Actor, type Alert, alertRules, type AlertSource } from '../../../../src/contract/storage/index.ts';
import { alertStatusColumn, countOf, date, integer, optional, severityColumn, sha256 } from '../../columns.ts';
import { labelsJson, actorJson } from '../../json.ts';
import type { RowIn } from '../../rows.ts';
import type { Scope } from '../../scope.ts';

/** The incidents that alerts of this source came into within the window, the newest first; no more than the bound. */
export async function recentIncidents(
  scope: Scope,
  source: Pick<AlertSource, 'id'>,
  now: Date,
): Promise<readonly IncidentId[]> {
  const since = now.getTime() - alertRules.windowMs;
  const joined = scope.from('alert_groups').where('since', '>=', since).select('incident_id');
  const sent = scope
    .from('alerts')
    .where('incident_id', scope.raw('incidents.id', []))
    .where({ source_id: source.id })
    .select('position');
  const rows = await scope
    .from('incidents')
    .whereIn('id', joined)
    .whereExists(sent)
    .orderBy('number', 'desc')
    .limit(alertRules.incidents)
    .select('id');
  return rows.map(({ id }) => toId('inc', id));
}

/** How many investigations that alerts began wait or run; counted up to the bound. */
export async function openInvestigations(scope: Scope): Promise<number> {
  const open = await scope
    .from('investigations')
    .whereIn('status', ['queued', 'running'])
    .whereNull('chat_id')
    .limit(alertRules.investigations)
    .pluck('id');
  return open.length;
}

/** Whether an alert opened the incident, and whether a person was the last to set its status. */
export async function statusHistory(
  scope: Scope,
  id: IncidentId,
): Promise<{ readonly byAlert: boolean; readonly decided: boolean }> {
  const entries = await scope
    .from('incident_timeline')
    .where({ incident_id: id })
    .whereIn('change', ['created', 'status'])
    .orderBy('seq')
    .select('actor');
  const actors = entries.map(({ actor }) => actorJson.read(actor).kind);
  const last = actors.length > 1 ? actors.at(-1) : undefined;
  return { byAlert: actors[0] === 'alert', decided: last !== undefined && last !== 'alert' && last !== 'agent' };
}

/** An alert as it is kept: one firing of it, and how that ended. */
export interface KeptAlert extends Alert {
  readonly position: number;
  readonly sourceId: AlertSourceId;
  /** Of source and fingerprint; absent in what is history. */
  readonly key?: string;
  /** Absent where an end came of what never began here. */
  readonly incidentId?: IncidentId;
  readonly updatedAt: Date;
}

export function alertKey(source: Pick<AlertSource, 'id'>, { fingerprint }: AlertNotice): string {
  return sha256(`${source.id} ${fingerprint}`);
}

/** Who changes an incident when an alert does. */
export function sourceActor({ id, name }: Pick<AlertSource, 'id' | 'name'>): Actor {
  return { kind: 'alert', id, name };
}

export function toAlertRow(alert: KeptAlert) {
  return {
    position: alert.position,
    source_id: alert.sourceId,
    key_hash: alert.key ?? null,
    incident_id: alert.incidentId ?? null,
    fingerprint: alert.fingerprint,
    title: alert.title,
    description: alert.description ?? '',
    status: alert.status,
    severity: alert.severity,
    labels: labelsJson.write(alert.labels),
    url: alert.url ?? null,
    starts_at: alert.startsAt.getTime(),
    ends_at: alert.endsAt?.getTime() ?? null,
    updated_at: alert.updatedAt.getTime(),
  };
}

export function toKeptAlert(row: RowIn<'alerts'>): KeptAlert {
  return {
    position: integer(row.position),
    sourceId: toId('als', row.source_id),
    ...optional('key', row.key_hash, String),
    ...optional('incidentId', row.incident_id, (id) => toId('inc', id)),
    ...toAlert(row),
    updatedAt: date(row.updated_at),
  };
}

export function toAlert(row: RowIn<'alerts'>): Alert {
  return {
    fingerprint: row.fingerprint,
    title: row.title,
    ...(row.description === '' ? {} : { description: row.description }),
    status: alertStatusColumn.parse(row.status),
    severity: severityColumn.parse(row.severity),
    startsAt: date(row.starts_at),
    ...optional('endsAt', row.ends_at, date),
    labels: labelsJson.read(row.labels),
    ...optional('url', row.url, String),
  };
}

/** What a sender calls a group is its own. */
export function senderGroup(source: Pick<AlertSource, 'id'>, group: string): string {
  return sha256(JSON.stringify(['group', source.id, group]));
}

/** Alerts of the same services in the same environment, from any sender. */
export function servicesGroup(services: readonly string[], environment: string): string {
  const names = new Set(services.map(foldCase));
  return sha256(JSON.stringify(['services', foldCase(environment), ...[...names].toSorted()]));
}

/**
 * What alerts have in common beside a sender's group. Those that name neither service nor group say the same: a full disk of
 * many hosts is one matter, and a late backup is another.
 */
export function commonGroup(source: Pick<AlertSource, 'id'>, notice: AlertNotice): string | undefined {
  const { services, environment = '', title } = notice;
  if (services.length > 0) return servicesGroup(services, environment);
  if (notice.group !== undefined) return undefined;
  return sha256(JSON.stringify(['title', source.id, foldCase(environment), title]));
}

/** Alerts of this group look for the incident from now on. */
export function joinGroup(scope: Scope, group: string, incident: IncidentId, now: Date): Promise<void> {
  return scope.insertIfAbsent('alert_groups', { group_hash: group, incident_id: incident, since: now.getTime() }, [
    'organization_id',
    'group_hash',
    'incident_id',
  ]);
}

/** The groups that the alerts of one transaction belong to, and the incident that each joined. */
export class Groups {
  readonly #scope: Scope;
  readonly #now: Date;
  readonly #joined = new Map<string, IncidentId>();
  /** How many lead to an incident. */
  readonly #counts = new Map<IncidentId, number>();

  constructor(scope: Scope, now: Date) {
    this.#scope = scope;
    this.#now = now;
  }

  joined(group: string): IncidentId | undefined {
    return this.#joined.get(group);
  }

  async join(group: string, id: IncidentId): Promise<void> {
    if (this.#joined.get(group) === id) return;
    this.#joined.set(group, id);
    const kept = this.#scope.from('alert_groups').where({ incident_id: id });
    const count = this.#counts.get(id) ?? (await countOf(kept));
    if (count >= alertRules.groups) return;
    await joinGroup(this.#scope, group, id, this.#now);
    this.#counts.set(id, count + 1);
  }
}

import {
  alertRules,
  openStatuses,
  severities,
  type Actor,
  type AlertSource,
  type Incident,
  type IncidentPatch,
  type RecordedAlerts,
  type Severity,
} from '../../../../src/contract/storage/index.ts';
import type { AlertNotice } from '../../../../src/contract/alerts/index.ts';
import type { IncidentId } from '../../../../src/contract/core/index.ts';
import type { RowIn } from '../../rows.ts';
import type { Scope } from '../../scope.ts';
import { applyPatch } from '../incident-changes.ts';
import { toIncident } from '../incident-rows.ts';
import { openIncident, saveChanges } from '../incidents.ts';
import { insertQueued, nextPosition } from '../investigation-rows.ts';
import {
  commonGroup,
  Groups,
  openInvestigations,
  recentIncidents,
  senderGroup,
  sourceActor,
  statusHistory,
} from './alert-rows.ts';

type Source = Pick<AlertSource, 'id' | 'name'>;

const mostServices = 50;

/** The incidents that the alerts of a transaction come into. Each change of them is written at once. */
export class AlertedIncidents {
  readonly #scope: Scope;
  readonly #engine: string;
  readonly #now: Date;
  readonly #read = new Map<IncidentId, Incident>();
  readonly #groups: Groups;
  readonly #opened = new Array<{ readonly incident: Incident; readonly source: Source }>();
  readonly #reopened = new Array<string>();
  readonly #resolved = new Array<string>();
  /** Into which the alerts of a source came before this transaction. */
  readonly #recent = new Map<Source['id'], readonly IncidentId[]>();
  #queued = 0;
  #queuedBefore: number | undefined;

  constructor(scope: Scope, engine: string, now: Date) {
    this.#scope = scope;
    this.#engine = engine;
    this.#now = now;
    this.#groups = new Groups(scope, now);
  }

  outcome(): RecordedAlerts {
    const opened = this.#opened.map(({ incident }) => incident.key);
    return { opened, reopened: this.#reopened, resolved: this.#resolved, queued: this.#queued };
  }

  async closedAt(id: IncidentId): Promise<Date | undefined> {
    const incident = await this.#get(id);
    return incident === undefined || isOpen(incident) ? undefined : (incident.resolvedAt ?? incident.updatedAt);
  }

  /** The incident of an alert that begins to fire. */
  async join(source: Source, notice: AlertNotice, before: IncidentId | undefined): Promise<IncidentId> {
    const own = notice.group === undefined ? undefined : senderGroup(source, notice.group);
    const common = commonGroup(source, notice);
    const incident =
      (await this.#before(before)) ??
      (await this.#ofGroup(own, undefined)) ??
      (await this.#ofGroup(common, new Date(this.#now.getTime() - alertRules.windowMs))) ??
      (await this.#beyondBound(source)) ??
      (await this.#open(source, notice));
    for (const group of [own, common].filter((each) => each !== undefined)) await this.#groups.join(group, incident.id);
    await this.#add(incident, source, notice);
    return incident.id;
  }

  async raise(id: IncidentId, severity: Severity, actor: Actor): Promise<void> {
    const incident = await this.#get(id);
    if (incident && isOpen(incident) && isHigher(severity, incident.severity)) {
      await this.#change(incident, { severity }, actor);
    }
  }

  /** Somebody looks at it. */
  async acknowledge(id: IncidentId, actor: Actor): Promise<void> {
    const incident = await this.#get(id);
    if (incident?.status !== 'triage' || (await statusHistory(this.#scope, id)).decided) return;
    await this.#change(incident, { status: 'investigating' }, actor);
  }

  /** Of these, resolves what alerts opened and no alert holds open. A person's word on the status stands. */
  async resolveRecovered(incidents: ReadonlyMap<IncidentId, Actor>): Promise<void> {
    for (const [id, actor] of incidents) {
      const incident = await this.#get(id);
      if (incident === undefined || !isOpen(incident)) continue;
      const active = await this.#scope
        .from('alerts')
        .where({ incident_id: id })
        .whereIn('status', ['firing', 'acknowledged'])
        .first('position');
      if (active !== undefined) continue;
      const { byAlert, decided } = await statusHistory(this.#scope, id);
      if (!byAlert || decided) continue;
      await this.#change(incident, { status: 'resolved', resolution: { kind: 'self_recovered' } }, actor);
      this.#resolved.push(incident.key);
    }
  }

  async #get(id: IncidentId): Promise<Incident | undefined> {
    const read = this.#read.get(id);
    if (read !== undefined) return read;
    const row = await this.#scope.from('incidents').where({ id }).first();
    return row && this.#keep(toIncident(row));
  }

  #keep(incident: Incident): Incident {
    this.#read.set(incident.id, incident);
    return incident;
  }

  /** The incident that the alert was in, if alerts may come into it: it is open, or was resolved a moment ago. */
  async #before(id: IncidentId | undefined): Promise<Incident | undefined> {
    const incident = id && (await this.#get(id));
    if (!incident || isOpen(incident)) return incident || undefined;
    const { status, resolvedAt } = incident;
    const held = this.#now.getTime() - alertRules.holdMs;
    return status === 'resolved' && resolvedAt && resolvedAt.getTime() >= held ? incident : undefined;
  }

  async #ofGroup(group: string | undefined, openedSince: Date | undefined): Promise<Incident | undefined> {
    if (group === undefined) return undefined;
    const joined = this.#groups.joined(group);
    if (joined !== undefined) return this.#get(joined);
    const members = this.#scope.from('alert_groups').where({ group_hash: group }).select('incident_id');
    const query = this.#taking().whereIn('id', members);
    if (openedSince !== undefined) void query.where('created_at', '>=', openedSince.getTime());
    return this.#newest(await query.select());
  }

  /** Incidents that take alerts: open ones and recently resolved ones, newest first. */
  #taking() {
    const held = this.#now.getTime() - alertRules.holdMs;
    return this.#scope
      .from('incidents')
      .where((taking) => {
        void taking
          .whereIn('status', openStatuses)
          .orWhere((resolved) => void resolved.where({ status: 'resolved' }).where('resolved_at', '>=', held));
      })
      .orderBy('number', 'desc')
      .limit(alertRules.incidents);
  }

  /** The first that is open, else the first. */
  #newest(rows: readonly RowIn<'incidents'>[]): Incident | undefined {
    const found = rows.map(toIncident).map((incident) => this.#read.get(incident.id) ?? this.#keep(incident));
    return found.find(isOpen) ?? found[0];
  }

  /**
   * Alerts of very many services at once are one matter, too: the newest incident takes what is beyond the bound. Each source
   * has its own, so that a noisy one leaves room for the others.
   */
  async #beyondBound(source: Source): Promise<Incident | undefined> {
    const opened = this.#opened.filter((one) => one.source.id === source.id);
    const incidents = this.#recent.get(source.id) ?? (await recentIncidents(this.#scope, source, this.#now));
    this.#recent.set(source.id, incidents);
    if (incidents.length + opened.length < alertRules.incidents) return undefined;
    const newest = opened.at(-1)?.incident;
    if (newest !== undefined) return this.#get(newest.id);
    // Those that are resolved by now count, too: who sends pairs of a start and an end opens no more than anybody else.
    return this.#newest(
      await this.#taking()
        .whereIn('id', [...incidents])
        .select(),
    );
  }

  async #open(source: Source, notice: AlertNotice): Promise<Incident> {
    this.#queuedBefore ??= await openInvestigations(this.#scope);
    const investigated = this.#queuedBefore + this.#queued < alertRules.investigations;
    const incident = await openIncident(
      this.#scope,
      {
        title: notice.title,
        summary: notice.description ?? '',
        severity: notice.severity,
        services: notice.services,
        environment: notice.environment ?? '',
        source: source.name,
        labels: notice.labels,
        startedAt: notice.startsAt < this.#now ? notice.startsAt : this.#now,
        waitingOn: investigated
          ? { party: 'agent', reason: 'An investigation is queued' }
          : { party: 'human', reason: 'Many investigations are queued: start a chat to have this one investigated' },
      },
      sourceActor(source),
      this.#now,
    );
    if (investigated) {
      const position = await nextPosition(this.#scope);
      await insertQueued(this.#scope, { incidentId: incident.id, engine: this.#engine }, position, this.#now);
      this.#queued += 1;
    }
    this.#opened.push({ incident, source });
    return this.#keep(incident);
  }

  /** What an alert brings to an incident that it comes into. */
  async #add(incident: Incident, source: Source, notice: AlertNotice): Promise<void> {
    const services = [...new Set([...incident.services, ...notice.services])].slice(0, mostServices);
    const patch: IncidentPatch = {
      ...(services.length > incident.services.length && { services }),
      ...(isHigher(notice.severity, incident.severity) && { severity: notice.severity }),
    };
    if (isOpen(incident)) return this.#change(incident, patch, sourceActor(source));
    const busy = await this.#scope
      .from('investigations')
      .where({ incident_id: incident.id })
      .whereIn('status', ['queued', 'running'])
      .first('id');
    const { assignee } = incident;
    const waitingOn = busy
      ? ({ party: 'agent', reason: 'Investigating' } as const)
      : ({ party: 'human', reason: 'It fires again', ...(assignee !== undefined && { name: assignee }) } as const);
    await this.#change(incident, { ...patch, status: 'investigating', waitingOn }, sourceActor(source));
    this.#reopened.push(incident.key);
  }

  async #change(before: Incident, patch: IncidentPatch, actor: Actor): Promise<void> {
    if (Object.keys(patch).length === 0) return;
    const { incident, changes } = applyPatch(before, patch, this.#now);
    await saveChanges(this.#scope, incident, changes, actor, this.#now);
    this.#keep(incident);
  }
}

function isOpen({ status }: Incident): boolean {
  return openStatuses.some((open) => open === status);
}

function isHigher(one: Severity, other: Severity): boolean {
  return severities.indexOf(one) < severities.indexOf(other);
}

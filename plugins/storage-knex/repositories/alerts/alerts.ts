import { untitledAlert, type AlertNotice } from '../../../../src/contract/alerts/index.ts';
import type { IncidentId } from '../../../../src/contract/core/index.ts';
import {
  type Actor,
  type AlertDelivery,
  type AlertRepository,
  alertRules,
  type AlertSource,
  type IncidentAlerts,
  type RecordedAlerts,
} from '../../../../src/contract/storage/index.ts';
import { countOf } from '../../columns.ts';
import { alertsJson } from '../../json.ts';
import type { Scope } from '../../scope.ts';
import { OrganizationRepository } from '../repository.ts';
import { alertKey, type KeptAlert, sourceActor, toAlert, toAlertRow } from './alert-rows.ts';
import { AlertedIncidents } from './alerted-incidents.ts';
import { KeptAlerts } from './kept-alerts.ts';

export class Alerts extends OrganizationRepository implements AlertRepository {
  record(deliveries: readonly AlertDelivery[], engine: string): Promise<RecordedAlerts> {
    return this.database.write((scope) => takeAlerts(scope, deliveries, engine, this.now()));
  }

  ofIncident(id: IncidentId): Promise<IncidentAlerts> {
    return this.database.read(async (scope) => {
      const row = await scope.from('incidents').where({ id }).first('alerts');
      const made = row === undefined ? [] : alertsJson.read(row.alerts);
      // In the order of the alphabet, what fires stands before what is resolved.
      const kept = () => scope.from('alerts').where({ incident_id: id });
      const received = await kept()
        .orderBy(['status', 'position'].map((column) => ({ column })))
        .limit(alertRules.listed);
      const all = [...made, ...received.map(toAlert)];
      const isActive = ({ status }: { readonly status: string }): boolean => status !== 'resolved';
      return {
        listed: [...all.filter(isActive), ...all.filter((alert) => !isActive(alert))].slice(0, alertRules.listed),
        total: made.length + (await countOf(kept())),
        active: made.filter(isActive).length + (await countOf(kept().whereNot({ status: 'resolved' }))),
      };
    });
  }
}

/** Takes what was delivered into the organization's alerts and incidents, in the transaction of `scope`. */
async function takeAlerts(
  scope: Scope,
  deliveries: readonly AlertDelivery[],
  engine: string,
  now: Date,
): Promise<RecordedAlerts> {
  const intake = new Intake(scope, engine, now);
  await intake.load(deliveries);
  for (const { source, notices } of deliveries) {
    for (const notice of notices) await intake.take(source, notice);
  }
  return intake.end();
}

type Source = Pick<AlertSource, 'id' | 'name'>;

class Intake {
  readonly #scope: Scope;
  readonly #now: Date;
  readonly #alerts: KeptAlerts;
  readonly #incidents: AlertedIncidents;
  /** Incidents of alerts that ended, and who ended them. */
  readonly #recovering = new Map<IncidentId, Actor>();
  #strays = false;

  constructor(scope: Scope, engine: string, now: Date) {
    this.#scope = scope;
    this.#now = now;
    this.#alerts = new KeptAlerts(scope);
    this.#incidents = new AlertedIncidents(scope, engine, now);
  }

  load(deliveries: readonly AlertDelivery[]): Promise<void> {
    return this.#alerts.load(
      deliveries.flatMap(({ source, notices }) => notices.map((notice) => alertKey(source, notice))),
    );
  }

  async take(source: Source, notice: AlertNotice): Promise<void> {
    const key = alertKey(source, notice);
    const known = this.#alerts.latest(key);
    const closedAt = known?.incidentId && (await this.#incidents.closedAt(known.incidentId));
    switch (turnOf(known, notice, closedAt)) {
      case 'begins':
        return this.#begin(source, key, known, notice);
      case 'goes on':
        return known && this.#goOn(source, known, notice);
      case 'ended':
        return this.#end(source, key, known, notice);
      case 'nothing':
    }
  }

  async end(): Promise<RecordedAlerts> {
    await this.#alerts.write();
    if (this.#strays) await this.#forgetStrays();
    await this.#incidents.resolveRecovered(this.#recovering);
    return this.#incidents.outcome();
  }

  async #begin(source: Source, key: string, known: KeptAlert | undefined, notice: AlertNotice): Promise<void> {
    const actor = sourceActor(source);
    const id = await this.#incidents.join(source, notice, known?.incidentId);
    const alert = { ...this.#seen(source, notice), startsAt: notice.startsAt, incidentId: id };
    // The same incident lists the same alert once.
    if (known && (known.incidentId ?? id) === id) this.#alerts.change({ ...alert, position: known.position, key });
    else await this.#alerts.add(alert, key);
    if (notice.status === 'acknowledged') await this.#incidents.acknowledge(id, actor);
  }

  async #goOn(source: Source, known: KeptAlert, notice: AlertNotice): Promise<void> {
    const { incidentId, position, key } = known;
    const status = known.status === 'acknowledged' ? known.status : notice.status;
    const alert = {
      ...(isBare(notice) ? { ...known, updatedAt: this.#now } : this.#seen(source, notice)),
      position,
      ...(key !== undefined && { key }),
      ...(incidentId && { incidentId }),
      status,
      startsAt: known.startsAt,
    };
    if (sameButTime(alert, known)) return;
    this.#alerts.change(alert);
    if (incidentId === undefined) return;
    if (alert.severity !== known.severity) await this.#incidents.raise(incidentId, alert.severity, sourceActor(source));
    if (status !== known.status) await this.#incidents.acknowledge(incidentId, sourceActor(source));
  }

  async #end(source: Source, key: string, known: KeptAlert | undefined, notice: AlertNotice): Promise<void> {
    const fires = known !== undefined && known.status !== 'resolved';
    const startsAt = fires ? known.startsAt : notice.startsAt;
    const ended = notice.endsAt ?? this.#now;
    const times = { startsAt, endsAt: ended < startsAt ? startsAt : ended };
    if (known === undefined) {
      this.#strays = true;
      return this.#alerts.add({ ...this.#seen(source, notice), ...times }, key);
    }
    this.#alerts.change({ ...known, ...times, status: 'resolved', updatedAt: this.#now });
    if (fires && known.incidentId) this.#recovering.set(known.incidentId, sourceActor(source));
  }

  #seen(source: Source, notice: AlertNotice): Omit<KeptAlert, 'position' | 'startsAt'> {
    const { fingerprint, title, description, status, severity, labels, url } = notice;
    return {
      sourceId: source.id,
      fingerprint,
      title,
      ...(description === undefined ? {} : { description }),
      status,
      severity,
      labels,
      ...(url === undefined ? {} : { url }),
      updatedAt: this.#now,
    };
  }

  async #forgetStrays(): Promise<void> {
    await this.#scope
      .from('alerts')
      .whereNull('incident_id')
      .where('updated_at', '<', this.#now.getTime() - alertRules.strayMs)
      .delete();
  }
}

function sameButTime(one: KeptAlert, other: KeptAlert): boolean {
  const { updatedAt } = other;
  return JSON.stringify(toAlertRow({ ...one, updatedAt })) === JSON.stringify(toAlertRow(other));
}

/** Some senders acknowledge by the fingerprint alone. */
function isBare({ title, severity }: AlertNotice): boolean {
  return title === untitledAlert && severity === 'unknown';
}

/** What a notice says about an alert: that it begins to fire, goes on, ended, or nothing that is not known already. */
type Turn = 'begins' | 'goes on' | 'ended' | 'nothing';

/**
 * Senders repeat themselves, and what they send may overtake. A notice belongs to a firing by its start, since a sender says the
 * same start of the same firing each time; so does one that has no other start to give than the time it was sent.
 * @param closedAt when the incident of an alert that is not resolved was closed.
 */
function turnOf(known: KeptAlert | undefined, notice: AlertNotice, closedAt: Date | undefined): Turn {
  if (notice.status === 'resolved') {
    if (known === undefined) return 'ended';
    if (known.status === 'resolved') return beginsAfter(known, notice) ? 'ended' : 'nothing';
    const end = notice.endsAt ?? notice.startsAt;
    return end < known.startsAt && notice.startsAt < known.startsAt ? 'nothing' : 'ended';
  }
  if (known === undefined) return isBare(notice) && notice.status === 'acknowledged' ? 'nothing' : 'begins';
  if (known.status === 'resolved') return beginsAfter(known, notice) ? 'begins' : 'nothing';
  if (closedAt === undefined) return 'goes on';
  // Its end may have been lost. What began after the incident was closed is another firing; what began before was closed with it.
  return notice.startsAt > closedAt ? 'begins' : 'nothing';
}

function beginsAfter({ startsAt, endsAt = startsAt, updatedAt }: KeptAlert, notice: AlertNotice): boolean {
  // By the sender's clock or by ours, whichever is earlier: one of them may be ahead.
  const ended = Math.min(endsAt.getTime(), updatedAt.getTime());
  return notice.startsAt > startsAt && notice.startsAt.getTime() >= ended;
}

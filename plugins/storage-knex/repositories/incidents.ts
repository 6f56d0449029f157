import { newId, SightlineError, type IncidentId } from '../../../src/contract/core/index.ts';
import {
  openStatuses,
  type Actor,
  type DocumentCondition,
  type DocumentVersion,
  type Incident,
  type IncidentDocument,
  type IncidentFilter,
  type IncidentPatch,
  type IncidentRepository,
  type NewIncident,
  type Page,
  type TimelineEntry,
} from '../../../src/contract/storage/index.ts';
import { sha256 } from '../columns.ts';
import type { Scope } from '../scope.ts';
import { joinGroup, servicesGroup } from './alerts/alert-rows.ts';
import { applyPatch, type Change, waiting, titled } from './incident-changes.ts';
import { addDocument, requireMet, toVersion, versions, record, toEntry } from './incident-timeline.ts';
import { incidentKey, incidentNumber, listIncidents, serviceHash, toIncident, toIncidentRow } from './incident-rows.ts';
import { OrganizationRepository } from './repository.ts';

export class Incidents extends OrganizationRepository implements IncidentRepository {
  create(input: NewIncident, actor: Actor): Promise<Incident> {
    return this.database.write(async (scope) => {
      await scope.refuseErased(actor.id);
      // The counter's lock also keeps two alerts with one fingerprint from opening two incidents.
      await scope.lockCounter('incident');
      const open = input.fingerprint === undefined ? undefined : await openWith(scope, input.fingerprint);
      if (open !== undefined) return open;
      return openIncident(scope, input, actor, this.now());
    });
  }

  get(idOrKey: string): Promise<Incident | undefined> {
    return this.database.read((scope) => find(scope, idOrKey));
  }

  list(filter: IncidentFilter): Promise<Page<Incident>> {
    return this.database.list(filter, (scope) => listIncidents(scope, filter));
  }

  update(id: IncidentId, patch: IncidentPatch, actor: Actor): Promise<Incident> {
    return this.database.write(async (scope) => {
      await scope.refuseErased(actor.id);
      const now = this.now();
      const current = await lock(scope, id);
      await requireOriginal(scope, current, patch);
      const { incident, changes } = applyPatch(current, patch, now);
      await saveChanges(scope, incident, changes, actor, now);
      return incident;
    });
  }

  document(id: IncidentId, version?: number): Promise<IncidentDocument | undefined> {
    return this.database.read(async (scope) => {
      const row = await versions(scope, id, version).first();
      return row === undefined ? undefined : { markdown: row.markdown, ...toVersion(row) };
    });
  }

  documentVersions(id: IncidentId): Promise<readonly DocumentVersion[]> {
    return this.all((scope) => versions(scope, id).select('version', 'author', 'updated_at'), toVersion);
  }

  writeDocument(id: IncidentId, markdown: string, author: Actor, only?: DocumentCondition): Promise<IncidentDocument> {
    return this.database.write(async (scope) => {
      await scope.refuseErased(author.id);
      await lock(scope, id);
      if (only !== undefined) await requireMet(scope, id, only);
      const now = this.now();
      const document = await addDocument(scope, id, markdown, author, now);
      await scope.from('incidents').where({ id }).update({ updated_at: now.getTime() });
      await record(scope, id, now, author, [{ change: 'document', to: String(document.version) }]);
      return document;
    });
  }

  timeline(id: IncidentId): Promise<readonly TimelineEntry[]> {
    return this.all((scope) => scope.from('incident_timeline').where({ incident_id: id }).orderBy('seq'), toEntry);
  }
}

/** One more incident, in the transaction of `scope`. */
export async function openIncident(scope: Scope, input: NewIncident, actor: Actor, now: Date): Promise<Incident> {
  const incident = newIncident(input, await scope.next('incident'), scope.organizationId, now);
  const { id, services, environment } = incident;
  await scope.insert('incidents', toIncidentRow(incident));
  await writeServices(scope, incident);
  if (services.length > 0) await joinGroup(scope, servicesGroup(services, environment), id, now);
  await record(scope, id, now, actor, [{ change: 'created', to: incident.status }]);
  if (input.document !== undefined) await addDocument(scope, id, input.document, actor, now);
  return incident;
}

/** Writes what `applyPatch` made of an incident, with its lines of the timeline. */
export async function saveChanges(
  scope: Scope,
  incident: Incident,
  changes: readonly Change[],
  actor: Actor,
  now: Date,
): Promise<void> {
  if (changes.length === 0) return;
  const { id } = incident;
  await scope.from('incidents').where({ id }).update(toIncidentRow(incident));
  if (changes.some(({ change }) => change === 'services' || change === 'finding')) await writeServices(scope, incident);
  await record(scope, id, now, actor, changes);
}

function newIncident(
  input: NewIncident,
  number: number,
  organizationId: Incident['organizationId'],
  now: Date,
): Incident {
  const key = incidentKey(number);
  const status = input.status ?? 'triage';
  const nobody = { party: 'none', since: now } as const;
  return {
    id: newId('inc', now.getTime()),
    organizationId,
    number,
    key,
    title: titled(input.title),
    summary: input.summary ?? '',
    status,
    severity: input.severity,
    waitingOn: waiting({ key, status, waitingOn: nobody }, input.waitingOn, now),
    services: input.services ?? [],
    environment: input.environment ?? '',
    source: input.source,
    ...(input.fingerprint === undefined ? {} : { fingerprint: input.fingerprint }),
    labels: input.labels ?? {},
    ...(input.assignee === undefined ? {} : { assignee: input.assignee }),
    alerts: input.alerts ?? [],
    startedAt: input.startedAt,
    detectedAt: input.detectedAt ?? now,
    createdAt: now,
    updatedAt: now,
    ...(status === 'mitigated' ? { mitigatedAt: now } : {}),
    ...(status === 'resolved' ? { resolvedAt: now } : {}),
  };
}

async function find(scope: Scope, idOrKey: string): Promise<Incident | undefined> {
  const number = incidentNumber(idOrKey);
  const row = await scope
    .from('incidents')
    .where(number === undefined ? { id: idOrKey } : { number })
    .first();
  return row === undefined ? undefined : toIncident(row);
}

/** A duplicate repeats another incident that there is. */
async function requireOriginal(scope: Scope, incident: Incident, { resolution }: IncidentPatch): Promise<void> {
  if (resolution?.duplicateOf === undefined) return;
  const original = await find(scope, resolution.duplicateOf);
  if (original === undefined) {
    throw new SightlineError('not_found', 'The incident that this one should repeat does not exist.', {
      hint: 'Name it by its key, such as INC-12.',
    });
  }
  if (original.id === incident.id) {
    throw new SightlineError('invalid_argument', `${incident.key} cannot be a duplicate of itself.`);
  }
}

async function openWith(scope: Scope, fingerprint: string): Promise<Incident | undefined> {
  const row = await scope
    .from('incidents')
    .where({ fingerprint_hash: sha256(fingerprint) })
    .whereIn('status', openStatuses)
    .orderBy('number')
    .first();
  return row === undefined ? undefined : toIncident(row);
}

/** Reads the incident with its row locked until the transaction ends. */
async function lock(scope: Scope, id: IncidentId): Promise<Incident> {
  await scope.from('incidents').where({ id }).update({ id });
  const row = await scope.from('incidents').where({ id }).first();
  if (row === undefined) throw new SightlineError('not_found', 'There is no such incident.');
  return toIncident(row);
}

/** By which an incident is looked for: those that are affected, and the one that was found to blame. */
async function writeServices(scope: Scope, { id, services, finding }: Incident): Promise<void> {
  await scope.from('incident_services').where({ incident_id: id }).delete();
  const blamed = finding === undefined || finding.service === '' ? [] : [finding.service];
  const hashes = [...new Set([...services, ...blamed].map(serviceHash))];
  if (hashes.length === 0) return;
  await scope.insert(
    'incident_services',
    hashes.map((service_hash) => ({ incident_id: id, service_hash })),
  );
}

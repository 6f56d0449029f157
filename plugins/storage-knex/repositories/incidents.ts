import { newId, openStatuses, SightlineError } from '../../../src/contract/index.ts';
import type {
  Actor,
  Incident,
  IncidentDocument,
  IncidentFilter,
  IncidentId,
  IncidentPatch,
  IncidentRepository,
  NewIncident,
  Page,
  TimelineEntry,
} from '../../../src/contract/index.ts';
import { date, optional, sha256 } from '../columns.ts';
import type { ScopedDatabase } from '../database.ts';
import { actorJson } from '../json.ts';
import type { IncidentTimelineRow } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { applyPatch, type Change, waiting } from './incident-changes.ts';
import { listIncidents } from './incident-list.ts';
import { serviceHash, toIncident, toIncidentRow } from './incident-rows.ts';

export class Incidents implements IncidentRepository {
  readonly #database: ScopedDatabase;
  readonly #now: () => Date;

  constructor(database: ScopedDatabase, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  create(input: NewIncident, actor: Actor): Promise<Incident> {
    return this.#database.write(async (scope) => {
      // The counter's lock also keeps two alerts with one fingerprint from opening two incidents.
      const last = await scope.lockCounter('incident');
      const open = input.fingerprint === undefined ? undefined : await openWith(scope, input.fingerprint);
      if (open !== undefined) return open;
      await scope.setCounter('incident', last + 1);

      const now = this.#now();
      const incident = newIncident(input, last + 1, this.#database.organizationId, now);
      await scope.insert('incidents', toIncidentRow(incident));
      await writeServices(scope, incident);
      await record(scope, incident.id, now, actor, [{ change: 'created', to: incident.status }]);
      if (input.document !== undefined) await addDocument(scope, incident.id, input.document, actor, now);
      return incident;
    });
  }

  get(idOrKey: string): Promise<Incident | undefined> {
    return this.#database.read(async (scope) => {
      const number = /^INC-([1-9]\d{0,14})$/i.exec(idOrKey)?.[1];
      const row = await scope
        .from('incidents')
        .where(number === undefined ? { id: idOrKey } : { number: Number(number) })
        .first();
      return row === undefined ? undefined : toIncident(row);
    });
  }

  list(filter: IncidentFilter): Promise<Page<Incident>> {
    return this.#database.read((scope) => listIncidents(scope, filter));
  }

  update(id: IncidentId, patch: IncidentPatch, actor: Actor): Promise<Incident> {
    return this.#database.write(async (scope) => {
      const now = this.#now();
      const { incident, changes } = applyPatch(await lock(scope, id), patch, now);
      if (changes.length === 0) return incident;
      await scope.from('incidents').where({ id }).update(toIncidentRow(incident));
      if (changes.some(({ change }) => change === 'services')) await writeServices(scope, incident);
      await record(scope, id, now, actor, changes);
      return incident;
    });
  }

  document(id: IncidentId): Promise<IncidentDocument | undefined> {
    return this.#database.read((scope) => newestDocument(scope, id));
  }

  writeDocument(id: IncidentId, markdown: string, author: Actor): Promise<IncidentDocument> {
    return this.#database.write(async (scope) => {
      await lock(scope, id);
      const now = this.#now();
      const document = await addDocument(scope, id, markdown, author, now);
      await scope.from('incidents').where({ id }).update({ updated_at: now.getTime() });
      await record(scope, id, now, author, [{ change: 'document', to: String(document.version) }]);
      return document;
    });
  }

  timeline(id: IncidentId): Promise<readonly TimelineEntry[]> {
    return this.#database.read(async (scope) => {
      const rows = await scope.from('incident_timeline').where({ incident_id: id }).orderBy('seq');
      return rows.map(toEntry);
    });
  }
}

function newIncident(
  input: NewIncident,
  number: number,
  organizationId: Incident['organizationId'],
  now: Date,
): Incident {
  const key = `INC-${number}`;
  const status = input.status ?? 'triage';
  const nobody = { party: 'none', since: now } as const;
  return {
    id: newId('inc', now.getTime()),
    organizationId,
    number,
    key,
    title: input.title,
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

async function writeServices(scope: Scope, { id, services }: Incident): Promise<void> {
  await scope.from('incident_services').where({ incident_id: id }).delete();
  const hashes = [...new Set(services.map(serviceHash))];
  if (hashes.length === 0) return;
  await scope.insert(
    'incident_services',
    hashes.map((service_hash) => ({ incident_id: id, service_hash })),
  );
}

async function newestDocument(scope: Scope, id: IncidentId): Promise<IncidentDocument | undefined> {
  const row = await scope.from('incident_documents').where({ incident_id: id }).orderBy('version', 'desc').first();
  if (row === undefined) return undefined;
  return {
    markdown: row.markdown,
    version: row.version,
    author: actorJson.read(row.author),
    updatedAt: date(row.updated_at),
  };
}

async function addDocument(
  scope: Scope,
  id: IncidentId,
  markdown: string,
  author: Actor,
  now: Date,
): Promise<IncidentDocument> {
  const newest = await scope
    .from('incident_documents')
    .where({ incident_id: id })
    .orderBy('version', 'desc')
    .first('version');
  const version = (newest?.version ?? 0) + 1;
  await scope.insert('incident_documents', {
    incident_id: id,
    version,
    markdown,
    author: actorJson.write(author),
    updated_at: now.getTime(),
  });
  return { markdown, version, author, updatedAt: now };
}

function toEntry(row: IncidentTimelineRow): TimelineEntry {
  return {
    at: date(row.at),
    actor: actorJson.read(row.actor),
    change: row.change,
    ...optional('from', row.from_value, String),
    ...optional('to', row.to_value, String),
  };
}

async function record(scope: Scope, id: IncidentId, at: Date, actor: Actor, changes: readonly Change[]): Promise<void> {
  const last = await scope.from('incident_timeline').where({ incident_id: id }).orderBy('seq', 'desc').first('seq');
  await scope.insert(
    'incident_timeline',
    changes.map(({ change, from, to }, index) => ({
      incident_id: id,
      seq: (last?.seq ?? 0) + 1 + index,
      at: at.getTime(),
      actor: actorJson.write(actor),
      change,
      from_value: from ?? null,
      to_value: to ?? null,
    })),
  );
}

import {
  incidentRules,
  type Actor,
  type TimelineEntry,
  type DocumentCondition,
  type DocumentVersion,
  type IncidentDocument,
} from '../../../src/contract/storage/index.ts';
import { SightlineError, type IncidentId } from '../../../src/contract/core/index.ts';
import { countOf, date, optional } from '../columns.ts';
import { actorJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import type { Change } from './incident-changes.ts';
import { announceIncident } from './webhook-outbox.ts';
import { requireHeld } from './investigation-rows.ts';

export async function requireMet(scope: Scope, id: IncidentId, { after, held }: DocumentCondition): Promise<void> {
  const investigation = await scope.from('investigations').where({ id: held.id }).first();
  requireHeld(investigation, held.holder);
  if ((await newestVersion(scope, id)) === after) return;
  throw new SightlineError('conflict', 'The document has been changed meanwhile.', {
    hint: 'Read it again, and write what comes of both.',
  });
}

async function newestVersion(scope: Scope, id: IncidentId): Promise<number> {
  return (await versions(scope, id).first('version'))?.version ?? 0;
}

/** Newest first. */
export function versions(scope: Scope, id: IncidentId, version?: number) {
  return scope
    .from('incident_documents')
    .where({ incident_id: id, ...(version !== undefined && { version }) })
    .orderBy('version', 'desc');
}

export function toVersion(
  row: Pick<RowIn<'incident_documents'>, 'version' | 'author' | 'updated_at'>,
): DocumentVersion {
  return { version: row.version, author: actorJson.read(row.author), updatedAt: date(row.updated_at) };
}

/** One more version; the first is kept, and of the others the newest. */
export async function addDocument(
  scope: Scope,
  id: IncidentId,
  markdown: string,
  author: Actor,
  now: Date,
): Promise<IncidentDocument> {
  const version = (await newestVersion(scope, id)) + 1;
  await scope.insert('incident_documents', {
    incident_id: id,
    version,
    markdown,
    author: actorJson.write(author),
    updated_at: now.getTime(),
  });
  await scope
    .from('incident_documents')
    .where({ incident_id: id })
    .where('version', '>', 1)
    .where('version', '<=', version + 1 - incidentRules.documentVersions)
    .delete();
  return { markdown, version, author, updatedAt: now };
}

export function toEntry(row: RowIn<'incident_timeline'>): TimelineEntry {
  return {
    at: date(row.at),
    actor: actorJson.read(row.actor),
    change: row.change,
    ...optional('from', row.from_value, String),
    ...optional('to', row.to_value, String),
  };
}

/** Writes the changes down and tells the webhooks of them. */
export async function record(
  scope: Scope,
  id: IncidentId,
  at: Date,
  actor: Actor,
  changes: readonly Change[],
): Promise<void> {
  const last = await scope.from('incident_timeline').where({ incident_id: id }).orderBy('seq', 'desc').first('seq');
  const before = last?.seq ?? 0;
  await scope.insert(
    'incident_timeline',
    changes.map(({ change, from, to }, index) => ({
      incident_id: id,
      seq: before + 1 + index,
      at: at.getTime(),
      actor: actorJson.write(actor),
      change,
      from_value: from ?? null,
      to_value: to ?? null,
    })),
  );
  if (before + changes.length > incidentRules.timelineEntries) await dropOldest(scope, id);
  await announceIncident(scope, id, at, actor, changes);
}

/** An alert that comes and goes makes any number of these; what people and their keys did does not go for them. */
const automatic = ['%"kind":"alert"%', '%"kind":"agent"%'] as const;
/** More are there only once, where a bound was set later. */
const droppedAtOnce = 500;

/** Drops the oldest entries, of alerts and agents first; keeps the first entry and the last change of status. */
async function dropOldest(scope: Scope, id: IncidentId): Promise<void> {
  const entries = () => scope.from('incident_timeline').where({ incident_id: id });
  const over = (await countOf(entries())) - incidentRules.timelineEntries;
  if (over <= 0) return;
  const status = await entries().where({ change: 'status' }).orderBy('seq', 'desc').first('seq');
  const dropped = await entries()
    .whereNotIn('seq', [1, status?.seq ?? 1])
    .orderByRaw('case when actor like ? or actor like ? then 0 else 1 end, seq', automatic)
    .limit(Math.min(over, droppedAtOnce))
    .pluck('seq');
  await entries().whereIn('seq', dropped).delete();
}

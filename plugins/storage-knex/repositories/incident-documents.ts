import { SightlineError } from '../../../src/contract/core/index.ts';
import { incidentRules } from '../../../src/contract/storage/index.ts';
import type { IncidentId } from '../../../src/contract/core/index.ts';
import type {
  Actor,
  DocumentCondition,
  DocumentVersion,
  IncidentDocument,
} from '../../../src/contract/storage/index.ts';
import { date } from '../columns.ts';
import { actorJson } from '../json.ts';
import type { IncidentDocumentRow } from '../rows.ts';
import type { Scope } from '../scope.ts';
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

export function toVersion(row: Pick<IncidentDocumentRow, 'version' | 'author' | 'updated_at'>): DocumentVersion {
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

import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { Incident, Workspace } from '../../../contract/storage/index.ts';

/** By key or id. One of another organization is answered like one that was never there. */
export async function findIncident(workspace: Workspace, name: string): Promise<Incident> {
  const known = isId('inc', name) || /^inc-[1-9]\d{0,9}$/i.test(name);
  const incident = known ? await workspace.incidents.get(name) : undefined;
  if (incident) return incident;
  throw new SightlineError('not_found', 'There is no such incident in this organization.');
}

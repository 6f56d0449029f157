import type { IncidentId } from '../../../../src/contract/core/index.ts';
import { actorJson } from '../../json.ts';
import type { Scope } from '../../scope.ts';

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

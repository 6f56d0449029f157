import { toId } from '../../../../src/contract/core/index.ts';
import type { IncidentId } from '../../../../src/contract/core/index.ts';
import { alertRules } from '../../../../src/contract/storage/index.ts';
import type { AlertSource } from '../../../../src/contract/storage/index.ts';
import { actorJson } from '../../json.ts';
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

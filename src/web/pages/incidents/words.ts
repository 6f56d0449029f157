import type {
  Alert,
  Incident,
  IncidentStatus,
  Resolution,
  Severity,
  WaitingParty,
  Workspace,
} from '../../../contract/storage/index.ts';
import { foldCase, isId, SightlineError } from '../../../contract/core/index.ts';
import { html, type Html } from '../../html.ts';

/** By key or id. One of another organization is answered like one that was never there. */
export async function findIncident(workspace: Workspace, name: string): Promise<Incident> {
  const known = isId('inc', name) || /^inc-[1-9]\d{0,9}$/i.test(name);
  const incident = known ? await workspace.incidents.get(name) : undefined;
  if (incident) return incident;
  throw new SightlineError('not_found', 'There is no such incident in this organization.');
}

export const statusWords = {
  triage: 'Triage',
  investigating: 'Investigating',
  identified: 'Cause identified',
  mitigated: 'Mitigated',
  resolved: 'Resolved',
  dismissed: 'Dismissed',
} as const satisfies Record<IncidentStatus, string>;

export const severityWords = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  unknown: 'Unknown',
} as const satisfies Record<Severity, string>;

export const alertStatusWords = {
  firing: 'Firing',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
} as const satisfies Record<Alert['status'], string>;

export const partyWords = {
  agent: 'The agent',
  human: 'A person',
  external: 'Somebody outside',
  none: 'Nobody',
} as const satisfies Record<WaitingParty, string>;

export const resolutionWords = {
  '': 'Not said',
  fixed: 'Fixed',
  self_recovered: 'Recovered by itself',
  false_positive: 'False alarm',
  duplicate: 'Duplicate of another incident',
  accepted_risk: 'Accepted as a risk',
  other: 'Other',
} as const satisfies Record<Resolution['kind'] | '', string>;

/** Whether an incident waits for the person who looks at it: by name, or for anybody of the organization. */
export function waitsForViewer({ waitingOn }: Pick<Incident, 'waitingOn'>, email: string): boolean {
  return waitingOn.party === 'human' && (waitingOn.name === undefined || isViewer(waitingOn.name, email));
}

/** Behind "Waits on". */
export function waitedOn({ waitingOn: { party, name } }: Pick<Incident, 'waitingOn'>, email: string): Html {
  switch (party) {
    case 'human':
      if (name === undefined) return html`anybody of this organization`;
      return isViewer(name, email) ? html`you` : html`<bdi>${name}</bdi>`;
    case 'agent':
      return html`the agent`;
    case 'external':
      return name === undefined ? html`somebody outside` : html`<bdi>${name}</bdi>, outside`;
    case 'none':
      return html`nobody`;
  }
}

function isViewer(name: string, email: string): boolean {
  return foldCase(name) === foldCase(email);
}

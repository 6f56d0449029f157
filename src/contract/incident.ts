export const incidentStatuses = [
  'triage',
  'investigating',
  'identified',
  'mitigated',
  'resolved',
  'dismissed',
] as const;
export type IncidentStatus = (typeof incidentStatuses)[number];
/** `open` stands for the first four. */
export type IncidentStatusFilter = IncidentStatus | 'open';
export const openStatuses = [
  'triage',
  'investigating',
  'identified',
  'mitigated',
] as const satisfies readonly IncidentStatus[];

export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const waitingParties = ['agent', 'human', 'external', 'none'] as const;
export type WaitingParty = (typeof waitingParties)[number];

const transitions = {
  triage: ['investigating', 'identified', 'mitigated', 'resolved', 'dismissed'],
  investigating: ['triage', 'identified', 'mitigated', 'resolved', 'dismissed'],
  identified: ['investigating', 'mitigated', 'resolved', 'dismissed'],
  mitigated: ['investigating', 'identified', 'resolved'],
  resolved: ['investigating'],
  dismissed: ['triage', 'investigating'],
} as const satisfies Record<IncidentStatus, readonly IncidentStatus[]>;

/** Statuses an incident may go to from this one. */
export function nextStatuses(from: IncidentStatus): readonly IncidentStatus[] {
  return transitions[from];
}

import type { IncidentStatus, Severity } from '../../../contract/index.ts';

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

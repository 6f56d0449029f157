import { newId, type OrganizationId } from '../../src/contract/core/index.ts';
import type { Incident } from '../../src/contract/storage/index.ts';

/** An incident as an agent is given it, of which nothing matters but what the test says. */
export function incidentOf(
  organizationId: OrganizationId,
  { startedAt, ...more }: Partial<Incident> & Pick<Incident, 'startedAt'>,
): Incident {
  return {
    id: newId('inc'),
    organizationId,
    number: 1,
    key: 'INC-1',
    title: 'Checkout fails',
    summary: '',
    status: 'investigating',
    severity: 'high',
    waitingOn: { party: 'agent', since: startedAt },
    services: [],
    environment: '',
    source: 'test',
    labels: {},
    alerts: [],
    startedAt,
    detectedAt: startedAt,
    createdAt: startedAt,
    updatedAt: startedAt,
    ...more,
  };
}

import { z } from 'zod';
import { exportAudit } from '../../records/audit/export.ts';
import { ingestOperations, keyOperations } from './credentials.ts';
import type { Operation } from './operation.ts';
import { organizationOperations, peopleOperations } from './people.ts';
import { alertSourceOperations, webhookOperations } from './senders.ts';

const range = z.strictObject({
  from: z.iso.datetime().optional().describe('Records from this time on'),
  to: z.iso.datetime().optional().describe('Records before this time'),
});

const exported: Operation<typeof range> = {
  id: 'exportAudit',
  method: 'get',
  path: '/audit',
  summary: 'The audit as JSON lines, signed, for `audit verify` and for others to keep',
  scope: 'admin:read',
  of: 'organization',
  input: range,
  output: z.object({}),
  async lines({ services: { storage, vault, now }, organization }, { from, to }, write) {
    const times = {
      ...(from !== undefined && { from: new Date(from) }),
      ...(to !== undefined && { to: new Date(to) }),
    };
    await exportAudit({ storage, vault, now, organizations: [organization], ...times, write });
  },
  run: () => Promise.reject(new Error('the audit is exported as lines')),
};

/** All that the admin interface does. */
export const operations = {
  ...organizationOperations,
  ...peopleOperations,
  ...keyOperations,
  ...ingestOperations,
  ...alertSourceOperations,
  ...webhookOperations,
  exportAudit: exported,
} as const;

export const allOperations: readonly Operation[] = Object.values(operations);

/** Of the request, `{organization}` and names of the input in braces. */
export function routeOf({ of, path }: Pick<Operation, 'of' | 'path'>): string {
  return of === 'organization' ? `/organizations/{organization}${path}` : path;
}

export function placesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

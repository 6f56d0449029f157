import { z } from 'zod';
import { exportAudit } from '../../records/audit/export.ts';
import type { Organization } from '../../contract/storage/index.ts';
import { ingestOperations, keyOperations, scimTokenOperations } from './credentials.ts';
import { inLines, type AdminCall, type Operation } from './operation.ts';
import { auditedOrganizations, noOrganization, organizationOperations } from './organizations.ts';
import { peopleOperations } from './people.ts';
import { alertSourceOperations, webhookOperations } from './senders.ts';

const range = z.strictObject({
  from: z.iso.datetime().optional().describe('Records from this time on'),
  to: z.iso.datetime().optional().describe('Records before this time'),
});

type Range = z.output<typeof range>;

async function writeAudit(
  { services: { storage, vault, now }, onProgress }: AdminCall,
  organizations: readonly Organization[],
  { from, to }: Range,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const times = { ...(from !== undefined && { from: new Date(from) }), ...(to !== undefined && { to: new Date(to) }) };
  await exportAudit({ storage, vault, now, organizations, ...times, write, ...(onProgress && { onProgress }) });
}

const exported: Operation<typeof range> = {
  ...inLines({
    id: 'exportAudit',
    method: 'get',
    path: '/audit',
    summary: 'The audit as JSON lines, signed, for `audit verify` and for others to keep',
    scope: 'admin:read',
    input: range,
    async lines({ organization, ...call }, input, write) {
      if (organization === undefined) throw new Error('the audit of an organization needs one');
      await writeAudit(call, [organization], input, write);
    },
  }),
  of: 'organization',
};

const exportedWhole = inLines({
  id: 'exportWholeAudit',
  method: 'get',
  path: '/audit',
  summary: 'The same of all organizations that the key is for; of all with the deleted ones and the instance',
  scope: 'admin:read',
  input: range.extend({ organization: z.string().optional().describe('Only this one, by id or name') }),
  async lines({ organization: own, ...call }, { organization: named, ...input }, write) {
    const { storage } = call.services;
    if (own === undefined) return writeAudit(call, await auditedOrganizations(storage, named), input, write);
    if (named !== undefined && (await storage.directory.findOrganization(named))?.id !== own.id) {
      throw noOrganization(named);
    }
    return writeAudit(call, [own], input, write);
  },
});

/** All that the admin interface does. */
export const operations = {
  ...organizationOperations,
  ...peopleOperations,
  ...keyOperations,
  ...ingestOperations,
  ...scimTokenOperations,
  ...alertSourceOperations,
  ...webhookOperations,
  exportAudit: exported,
  exportWholeAudit: exportedWhole,
} as const;

export const allOperations: readonly Operation[] = Object.values(operations);

/** Of the request, `{organization}` and names of the input in braces. */
export function routeOf({ of, path }: Pick<Operation, 'of' | 'path'>): string {
  return of === 'organization' ? `/organizations/{organization}${path}` : path;
}

export function placesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

import { z } from 'zod';
import { isId, toId, type OrganizationId } from '../../contract/core/index.ts';
import type { Organization } from '../../contract/storage/index.ts';
import { exportAudit, gatherFindings, verifyAudit, type Head, type Problem } from '../../records/audit/export.ts';
import { inLines, ofInstance, type AdminCall, type OrganizationCall } from './operation.ts';
import { auditedOrganizations, noOrganization } from './organizations.ts';

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

const named = z.string().optional().describe('Only this one, by id or name');

/** All that the key is for, or the one that is named. */
async function chosen(
  { services: { storage }, organization: own }: AdminCall & Partial<OrganizationCall>,
  name: string | undefined,
): Promise<readonly Organization[]> {
  if (own === undefined) return auditedOrganizations(storage, name);
  if (name !== undefined && (await storage.directory.findOrganization(name))?.id !== own.id) throw noOrganization(name);
  return [own];
}

/** Where a chain stood when it was verified. */
const headShape = z.object({
  organization: z.string().refine((value) => isId('org', value), 'must be the id of an organization'),
  chain: z.int(),
  seq: z.int(),
  hash: z.string().max(100),
});

/** Problems that are told. */
export const mostProblems = 200;

export const auditOperations = {
  exportAudit: inLines({
    of: 'organization',
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
  exportWholeAudit: inLines({
    method: 'get',
    path: '/audit',
    summary: 'The same of all organizations that the key is for; of all with the deleted ones and the instance',
    scope: 'admin:read',
    input: range.extend({ organization: named }),
    async lines(call, { organization: name, ...input }, write) {
      await writeAudit(call, await chosen(call, name), input, write);
    },
  }),
  verifyAudit: ofInstance({
    method: 'post',
    path: '/audit/verification',
    summary: 'Check whether records of the audit were changed, moved, forged or removed',
    scope: 'admin:read',
    // Heads of 25,000 chains, one for each organization and start of a process.
    mostBodyBytes: 5 * 1_024 * 1_024,
    input: z.strictObject({
      organization: named,
      known: z.array(headShape).optional().describe('The heads of an earlier answer: tells what was cut off since'),
    }),
    output: z.object({
      organizations: z.int(),
      records: z.int(),
      chains: z.int(),
      unchained: z.int().describe('Records that are older than the chains, which nothing protects'),
      heads: z.array(headShape),
      problem_count: z.int(),
      problems: z
        .array(
          z.object({
            organization: z.string(),
            chain: z.int().optional(),
            seq: z.int().optional(),
            what: z.string(),
          }),
        )
        .describe(`The first ${mostProblems}`),
    }),
    async run(call, { organization: name, known: earlier = [] }) {
      const known = earlier.map(({ organization, chain, seq, hash }): Head => ({
        organization: toId('org', organization),
        chain,
        seq,
        hash,
      }));
      const { services, onProgress } = call;
      const organizations = await chosen(call, name);
      const { report, kept, count } = gatherFindings<Problem>(mostProblems);
      const there = new Set<OrganizationId>(organizations.map(({ id }) => id));
      const isWhole = name === undefined && call.organization === undefined;
      for (const organization of isWhole ? new Set(known.map((head) => head.organization)) : []) {
        if (!there.has(organization)) report({ organization, what: 'the organization is missing' });
      }
      const total = { records: 0, chains: 0, unchained: 0 };
      const heads: Head[] = [];
      for (const [index, { id }] of organizations.entries()) {
        const { audit } = services.storage.workspace(id);
        const verified = await verifyAudit({ audit, organization: id, vault: services.vault, report, known });
        total.records += verified.records;
        total.chains += verified.chains;
        total.unchained += verified.unchained;
        heads.push(...verified.heads);
        onProgress?.((index + 1) / organizations.length);
      }
      return { organizations: organizations.length, ...total, heads, problem_count: count(), problems: [...kept] };
    },
  }),
} as const;

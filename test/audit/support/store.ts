import { DatabaseSync } from 'node:sqlite';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import plugin from '../../../plugins/storage-knex/index.ts';
import type { ServerStore } from '../../../plugins/storage-knex/support/store.ts';
import { verifyAudit, type Head, type Problem } from '../../../src/records/audit/export.ts';
import { testHost } from '../../contract/host.ts';
import type { Host, OrganizationId, Vault } from '../../../src/contract/core/index.ts';
import type { AuditRecord, Storage } from '../../../src/contract/storage/index.ts';

/** A database in which an audit is kept, and what somebody does who has the database alone. */
export interface AuditStore {
  /** One more gateway on it. */
  open(overrides?: Partial<Host>): Storage;
  /** Past every layer of ours. */
  sql(statement: string): Promise<void>;
  cleanup(): Promise<void>;
}

export const soon = (): AbortSignal => AbortSignal.timeout(60_000);

export async function onServer(made: Promise<ServerStore>): Promise<AuditStore> {
  const store = await made;
  return {
    open: store.open,
    sql: async (statement) => void (await store.admin(statement)),
    cleanup: store.cleanup,
  };
}

export async function sqliteStore(): Promise<AuditStore> {
  const directory = await mkdtemp(join(tmpdir(), 'sl-audit-'));
  return {
    open: (overrides) => plugin.create(plugin.configSchema.parse({}), testHost(directory, overrides)),
    async sql(statement) {
      const database = new DatabaseSync(join(directory, 'sightline.sqlite'));
      database.exec(`PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = OFF; ${statement}`);
      database.close();
    },
    cleanup: () => rm(directory, { recursive: true }),
  };
}

export function record(at: number, overrides: Partial<AuditRecord> = {}): AuditRecord {
  return {
    at: new Date(at),
    event: 'tool.call',
    subject: 'ak_x',
    requestId: `r${at}`,
    target: 'query_otel',
    outcome: 'ok',
    ...overrides,
  };
}

/** What a verification says is wrong, each in a line. */
export async function problemsOf(
  storage: Storage,
  vault: Vault,
  organization: OrganizationId,
  known: readonly Head[] = [],
): Promise<readonly string[]> {
  const { problems } = await verified(storage, vault, organization, known);
  return problems.map(({ chain, seq, what }) => [chain, seq, what].filter((part) => part !== undefined).join(' '));
}

export async function verified(
  storage: Storage,
  vault: Vault,
  organization: OrganizationId,
  known: readonly Head[] = [],
) {
  const problems: Problem[] = [];
  const { audit } = storage.workspace(organization);
  const report = (problem: Problem): void => void problems.push(problem);
  return { ...(await verifyAudit({ audit, organization, vault, report, known })), problems };
}

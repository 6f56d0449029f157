import type {
  AuditCensus,
  AuditChainState,
  AuditRecord,
  AuditRepository,
  ChainedRecord,
} from '../../../src/contract/storage/index.ts';
import { countOf, pageSize } from '../columns.ts';
import { toChain, toChained, toRecord, toRegister } from './audit-rows.ts';
import { OrganizationRepository } from './repository.ts';

export class Audit extends OrganizationRepository implements AuditRepository {
  async append(records: readonly AuditRecord[]): Promise<void> {
    if (records.length > 0) await this.parts.auditChains.append(this.database, records);
  }

  list({ limit, before }: { readonly limit: number; readonly before?: Date }): Promise<readonly AuditRecord[]> {
    return this.all(async (scope) => {
      const query = scope.from('audit').orderBy(['at', 'id'].map((column) => ({ column, order: 'desc' })));
      if (before !== undefined) query.where('at', '<', before.getTime());
      return query.limit(pageSize(limit));
    }, toRecord);
  }

  census(): Promise<AuditCensus> {
    return this.database.read(async (scope) => {
      const row = await scope.from('audit_registers').first();
      const unchained = scope.from('audit').where({ chain: 0 });
      const known = scope.from('audit_chains').select('number');
      const astray = scope.from('audit').whereNot({ chain: 0 }).whereNotIn('chain', known);
      return {
        register: row && { ...toRegister(row), seal: row.seal },
        unchained: await countOf(unchained),
        astray: await countOf(astray),
      };
    });
  }

  chains({ after, limit }: { readonly after: number; readonly limit: number }): Promise<readonly AuditChainState[]> {
    return this.all(
      (scope) => scope.from('audit_chains').where('number', '>', after).orderBy('number').limit(pageSize(limit)),
      toChain,
    );
  }

  chain(number: number): Promise<AuditChainState | undefined> {
    return this.one((scope) => scope.from('audit_chains').where({ number }).first(), toChain);
  }

  records({ chain, after, limit }: Parameters<AuditRepository['records']>[0]): Promise<readonly ChainedRecord[]> {
    return this.all(
      (scope) => scope.from('audit').where({ chain }).where('seq', '>', after).orderBy('seq').limit(pageSize(limit)),
      toChained,
    );
  }
}

import type { AuditPlace, ChainedRecord, SealedPlace } from '../../src/contract/storage/index.ts';
import { auditColumns, auditValues } from './repositories/audit-rows.ts';
import type { Scope } from './scope.ts';

/** An audit chain's way from where it was left to a later place, with the records between. */
export interface ChainAdvance {
  readonly chain: number;
  readonly from: AuditPlace;
  readonly to: SealedPlace;
  readonly records: readonly ChainedRecord[];
}

/** False, and nothing done, where the chain is not where it was left. */
export async function advanceChain(scope: Scope, { chain, from, to, records }: ChainAdvance): Promise<boolean> {
  const changed = await scope
    .from('audit_chains')
    .where({ number: chain, seq: from.seq, hash: from.hash })
    .update({ ...to });
  if (changed === 0) return false;
  await scope.insertMany(
    'audit',
    auditColumns,
    records.map((each) => auditValues(chain, each)),
  );
  return true;
}

import type {
  AuditChainState,
  AuditPlace,
  AuditRecord,
  AuditRegister,
  ChainedRecord,
  SealedPlace,
} from '../../../src/contract/storage/index.ts';
import { auditEventColumn, boolean, date, integer, optional } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';

export function auditRow(chain: number, { seq, hash, record }: ChainedRecord) {
  return {
    chain,
    seq,
    hash,
    at: record.at.getTime(),
    event: record.event,
    subject: record.subject,
    request_id: record.requestId,
    target: record.target,
    outcome: record.outcome,
    arguments_hash: record.argumentsHash ?? null,
    duration_ms: record.durationMs ?? null,
    row_count: record.rows ?? null,
    bytes: record.bytes ?? null,
    truncated: record.truncated ?? null,
    statement: record.statement ?? null,
    erasure_seal: null,
  };
}

export function toRecord(row: RowIn<'audit'>): AuditRecord {
  return {
    at: date(row.at),
    event: auditEventColumn.parse(row.event),
    subject: row.subject,
    requestId: row.request_id,
    target: row.target,
    outcome: row.outcome,
    ...optional('argumentsHash', row.arguments_hash, String),
    ...optional('durationMs', row.duration_ms, Number),
    ...optional('rows', row.row_count, integer),
    ...optional('bytes', row.bytes, integer),
    ...optional('truncated', row.truncated, boolean),
    ...optional('statement', row.statement, String),
  };
}

export function toChained(row: RowIn<'audit'>): ChainedRecord {
  return {
    seq: integer(row.seq),
    hash: row.hash,
    record: toRecord(row),
    ...optional('erased', row.erasure_seal, String),
  };
}

export function toRegister(row: RowIn<'audit_registers'>): AuditRegister {
  return { chains: integer(row.chains), unchained: integer(row.unchained), damaged: boolean(row.damaged) };
}

export function toChain(row: RowIn<'audit_chains'>): AuditChainState {
  const { cut_seq: seq, cut_hash: hash, cut_seal: seal } = row;
  return {
    number: integer(row.number),
    instance: row.instance,
    openedAt: date(row.opened_at),
    head: { seq: integer(row.seq), hash: row.hash, seal: row.seal },
    ...(seq !== null && { cut: { seq: integer(seq), hash: hash ?? '', seal: seal ?? '' } }),
  };
}

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
    records.map((each) => auditRow(chain, each)),
  );
  return true;
}

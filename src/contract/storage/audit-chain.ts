import { hash } from 'node:crypto';
import type { AuditChain, AuditPlace, AuditRecord, AuditRegister, ChainedRecord } from './audit.ts';
import type { OrganizationId } from '../core/ids.ts';
import type { Vault } from '../core/component.ts';

/*
 * A record's hash is SHA-256 over the record, its organization, chain and position, and the hash before it: an attacker who changes,
 * moves, swaps or removes one has to rewrite every later hash. The last hash is sealed with the master key in the same
 * transaction, and only the newest seal is kept: an attacker with the database alone can make none.
 */

/** What stands before the first record of a chain. */
export function chainRoot(organizationId: OrganizationId, { number, instance, openedAt }: AuditChain): AuditPlace {
  return { seq: 0, hash: sha256(['sightline audit chain 1', organizationId, number, instance, openedAt.getTime()]) };
}

/** The records in their order, each chained to the one before. */
export function chainRecords(
  organizationId: OrganizationId,
  chain: number,
  last: AuditPlace,
  records: readonly AuditRecord[],
): readonly ChainedRecord[] {
  let { seq, hash: previous } = last;
  return records.map((record) => {
    seq += 1;
    previous = recordHash(organizationId, chain, seq, previous, record);
    return { seq, hash: previous, record };
  });
}

export function recordHash(
  organizationId: OrganizationId,
  chain: number,
  seq: number,
  previous: string,
  record: AuditRecord,
): string {
  return sha256([organizationId, chain, seq, previous, ...fieldsOf(record)]);
}

function fieldsOf(record: AuditRecord): readonly unknown[] {
  return [
    record.at.getTime(),
    record.event,
    record.subject,
    record.requestId,
    record.target,
    record.outcome,
    record.argumentsHash ?? null,
    record.durationMs ?? null,
    record.rows ?? null,
    record.bytes ?? null,
    record.truncated ?? null,
    record.statement ?? null,
  ];
}

/** What the seals of an organization's audit are over. */
export function auditSeals(vault: Pick<Vault, 'sign' | 'verifies'>, organizationId: OrganizationId) {
  const head = (chain: number, place: AuditPlace) => ['head', organizationId, chain, place.seq, place.hash];
  const cut = (chain: number, place: AuditPlace) => ['cut', organizationId, chain, place.seq, place.hash];
  const register = ({ chains, unchained, damaged }: AuditRegister) => [
    'register',
    organizationId,
    chains,
    unchained,
    damaged,
  ];
  // Stands for the hash of a record whose statement was erased: nobody can compute that any more.
  const erasure = (chain: number, previous: string, { seq, hash: at, record }: ChainedRecord) => [
    'erasure',
    organizationId,
    chain,
    seq,
    previous,
    at,
    ...fieldsOf(record),
  ];
  return {
    head: seal(vault, head),
    cut: seal(vault, cut),
    register: seal(vault, register),
    erasure: seal(vault, erasure),
  };
}

export interface Seal<Sealed extends readonly unknown[]> {
  make(...sealed: Sealed): string;
  fits(seal: string, ...sealed: Sealed): boolean;
}

function seal<Sealed extends readonly unknown[]>(
  vault: Pick<Vault, 'sign' | 'verifies'>,
  content: (...sealed: Sealed) => readonly unknown[],
): Seal<Sealed> {
  return {
    make: (...sealed) => vault.sign(JSON.stringify(content(...sealed)), 'audit'),
    fits: (given, ...sealed) => vault.verifies(given, JSON.stringify(content(...sealed)), 'audit'),
  };
}

function sha256(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values), 'hex');
}

import { newId, toId, type OrganizationId, type UserId, type Vault } from '../../../src/contract/core/index.ts';
import { auditSeals, chainRoot, recordHash, type ChainedRecord } from '../../../src/contract/storage/index.ts';
import { integer } from '../columns.ts';
import type { Database } from '../database.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../transact.ts';
import { toChain, toChained } from './audit-rows.ts';

const recordsAtOnce = 500;

/** In the transaction that deletes a person: from here on `Scope.refuseErased` knows them. */
export async function noteErasure(
  knex: Statements,
  {
    userId,
    organizationId,
    keys,
  }: { userId: UserId; organizationId: OrganizationId | undefined; keys: readonly string[] },
  now: Date,
): Promise<void> {
  await knex('erasures').insert({
    id: newId('usr', now.getTime()),
    user_id: userId,
    organization_id: organizationId ?? null,
    subjects: [userId, ...keys].join(' '),
    created_at: now.getTime(),
  });
}

/** Erases the statements that the audit kept of deleted people, of one or of all, and of the keys they made. */
export async function eraseStatements(
  database: Database,
  vault: Vault,
  of: Partial<Pick<RowIn<'erasures'>, 'user_id'>> = {},
): Promise<void> {
  for (const erasure of await database.read((knex) => knex('erasures').where(of))) {
    if (!(await database.read((knex) => cameBack(knex, erasure)))) await eraseOne(database, vault, erasure);
  }
}

async function cameBack(knex: Statements, { user_id, organization_id }: RowIn<'erasures'>): Promise<boolean> {
  return (
    organization_id !== null && (await knex('members').where({ user_id, organization_id }).first('role')) !== undefined
  );
}

async function eraseOne(
  database: Database,
  vault: Vault,
  { user_id, organization_id, subjects }: RowIn<'erasures'>,
): Promise<void> {
  const within = organization_id === null ? {} : { organization_id };
  const made = await database.read(
    (knex) =>
      knex('audit')
        .where({ ...within, event: 'key.created', subject: user_id })
        .pluck('target'),
    'directory',
    'search',
  );
  const actors = [...new Set([...subjects.split(' '), ...made])];
  for (let after = 0; ;) {
    const found = await database.read(
      (knex) =>
        knex('audit')
          .where(within)
          .where('id', '>', after)
          .whereIn('subject', actors)
          .whereNotNull('statement')
          .orderBy('id')
          .limit(recordsAtOnce)
          .select('id', 'organization_id'),
      'directory',
      'search',
    );
    for (const [id, rows] of Map.groupBy(found, (row) => row.organization_id)) {
      const ids = rows.map((row) => integer(row.id ?? 0));
      await database.scoped(toId('org', id)).write((scope) => eraseRecords(scope, vault, ids));
    }
    if (found.length < recordsAtOnce) return;
    after = integer(found.at(-1)?.id ?? 0);
  }
}

const previousHash = `(select earlier.hash from audit as earlier
  where earlier.organization_id = audit.organization_id and earlier.chain = audit.chain
    and earlier.seq = audit.seq - 1) as previous_hash`;

type Found = RowIn<'audit'> & { readonly previous_hash: string | null };

async function eraseRecords(scope: Scope, vault: Vault, ids: readonly number[]): Promise<void> {
  const rows: readonly Found[] = await scope
    .from('audit')
    .whereIn('id', [...ids])
    .whereNotNull('statement')
    .select('audit.*', scope.raw(previousHash, []));
  for (const row of rows) {
    const erasure_seal = (await sealOf(scope, vault, row)) ?? null;
    await scope
      .from('audit')
      .where('id', integer(row.id ?? 0))
      .update({ statement: null, erasure_seal });
  }
}

/** Undefined where the record is in no chain, or was changed before: then its hash goes on telling so. */
async function sealOf(scope: Scope, vault: Vault, row: Found): Promise<string | undefined> {
  const { organizationId } = scope;
  const chain = integer(row.chain);
  const chained = readable(row);
  if (chain === 0 || chained === undefined) return undefined;
  const { seq, hash, record } = chained;
  const previous = row.previous_hash ?? (await startOf(scope, chain, seq));
  if (previous === undefined || recordHash(organizationId, chain, seq, previous, record) !== hash) return undefined;
  const { statement: _, ...rest } = record;
  return auditSeals(vault, organizationId).erasure.make(chain, previous, { seq, hash, record: rest });
}

function readable(row: Found): ChainedRecord | undefined {
  try {
    return toChained(row);
  } catch {
    return undefined;
  }
}

/** The hash before the first record that retention left. */
async function startOf(scope: Scope, chain: number, seq: number): Promise<string | undefined> {
  const row = await scope.from('audit_chains').where({ number: chain }).first();
  if (row === undefined) return undefined;
  const state = toChain(row);
  const place = state.cut ?? chainRoot(scope.organizationId, state);
  return place.seq === seq - 1 ? place.hash : undefined;
}

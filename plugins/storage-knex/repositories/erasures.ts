import { newId, toId, type OrganizationId, type UserId, type Vault } from '../../../src/contract/core/index.ts';
import { auditSeals, chainRoot, recordHash, type ChainedRecord } from '../../../src/contract/storage/index.ts';
import { inChunks, integer } from '../columns.ts';
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
  signal?: AbortSignal,
): Promise<void> {
  for (const erasure of await database.read((knex) => knex('erasures').where(of))) {
    if (!(await database.read((knex) => cameBack(knex, erasure)))) await eraseOne(database, vault, erasure, signal);
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
  signal: AbortSignal | undefined,
): Promise<void> {
  const within = organization_id === null ? {} : { organization_id };
  const kept = await keptRecords(database);
  const actors = new Set(subjects.split(' '));
  for (const part of parts(kept)) {
    signal?.throwIfAborted();
    const made = await search(database, (knex) =>
      among(knex, part)
        .where({ ...within, event: 'key.created', subject: user_id })
        .select('id', 'organization_id', 'target'),
    );
    for (const { target } of made) actors.add(target);
  }
  for (const part of parts(kept)) {
    signal?.throwIfAborted();
    const found = await search(database, (knex) =>
      among(knex, part)
        .where(within)
        .whereIn('subject', [...actors])
        .whereNotNull('statement')
        .select('id', 'organization_id'),
    );
    for (const [id, rows] of Map.groupBy(found, (row) => row.organization_id)) {
      for (const some of inChunks(rows, recordsAtOnce)) {
        const ids = some.map((row) => integer(row.id ?? 0));
        await database.scoped(toId('org', id)).write((scope) => eraseRecords(scope, vault, ids));
      }
    }
  }
}

type Part = readonly [first: number, last: number];

/** No index tells whose records are: a statement looks at so many, and ends in time however many there are. */
const recordsLookedAt = 50_000;

async function keptRecords(database: Database): Promise<Part | undefined> {
  const [found] = await database.read((knex) => knex('audit').min({ first: 'id' }).max({ last: 'id' }));
  const { first, last } = found ?? {};
  return first == null || last == null ? undefined : [integer(first), integer(last)];
}

function* parts(kept: Part | undefined): Generator<Part> {
  if (kept === undefined) return;
  const [first, last] = kept;
  for (let from = first; from <= last; from += recordsLookedAt) yield [from, from + recordsLookedAt - 1];
}

function among(knex: Statements, [first, last]: Part) {
  return knex('audit').where('id', '>=', first).where('id', '<=', last);
}

function search<Result>(database: Database, work: (knex: Statements) => Promise<Result>): Promise<Result> {
  return database.read(work, 'directory', 'search');
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

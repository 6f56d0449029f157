import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  auditSeals,
  chainRecords,
  chainRoot,
  instanceId,
  type AuditPlace,
  type AuditRecord,
  type AuditRegister,
} from '../../src/contract/storage/index.ts';
import type { Host, OrganizationId } from '../../src/contract/core/index.ts';
import { countOf, integer } from './columns.ts';
import { toRegister } from './repositories/audit-rows.ts';
import type { ScopedDatabase } from './database.ts';
import type { Scope } from './scope.ts';

/** Where this process stands in an organization's audit. */
interface Lane {
  chain: number | undefined;
  last: AuditPlace;
  /** An append whose commit was not acknowledged: it was kept, or not. */
  doubt: { readonly records: readonly AuditRecord[]; readonly last: AuditPlace } | undefined;
  /** Records that an append in doubt did store: a caller may repeat them at any time, also after others appended. */
  readonly kept: WeakSet<AuditRecord>;
  turn: Promise<unknown>;
}

const nowhere: AuditPlace = { seq: 0, hash: '' };

/** The chains of this process, one an organization: opened with its first record, never taken up again by another process. */
export class AuditChains {
  readonly #host: Pick<Host, 'logger' | 'now' | 'vault'>;
  readonly #instance = `${hostname().slice(0, 200)}:${process.pid}:${randomUUID()}`;
  readonly #lanes = new Map<OrganizationId, Lane>();

  constructor(host: Pick<Host, 'logger' | 'now' | 'vault'>) {
    this.#host = host;
  }

  append(database: ScopedDatabase, records: readonly AuditRecord[]): Promise<void> {
    const { organizationId } = database;
    let lane = this.#lanes.get(organizationId);
    if (lane === undefined) {
      lane = { chain: undefined, last: nowhere, doubt: undefined, kept: new WeakSet(), turn: Promise.resolve() };
      this.#lanes.set(organizationId, lane);
    }
    const own = lane;
    const done = own.turn.then(() => this.#write(database, own, records));
    own.turn = done.catch(() => undefined);
    return done;
  }

  async #write(database: ScopedDatabase, lane: Lane, records: readonly AuditRecord[]): Promise<void> {
    lane.chain ??= await this.#open(database, lane);
    const { chain } = lane;
    if (lane.doubt !== undefined) await this.#settle(database, lane, chain, lane.doubt);
    const rest = records.filter((record) => !lane.kept.has(record));
    if (rest.length === 0) return;
    const { organizationId } = database;
    const linked = chainRecords(organizationId, chain, lane.last, rest.map(keepable));
    const last = linked.at(-1) ?? lane.last;
    const place = { seq: last.seq, hash: last.hash };
    const seal = auditSeals(this.#host.vault, organizationId).head.make(chain, place);
    let moved;
    try {
      moved = await database.advance({ chain, from: lane.last, to: { ...place, seal }, records: linked });
    } catch (error) {
      lane.doubt = { records: rest, last: place };
      throw error;
    }
    if (moved) {
      lane.last = place;
      return;
    }
    this.#host.logger.error(
      { organizationId, chain, seq: lane.last.seq },
      'the audit was changed from outside: its chain is not where it was left; run `sightline audit verify`',
    );
    lane.chain = undefined;
    return this.#write(database, lane, rest);
  }

  /**
   * Finds out what became of an append whose end was not heard of. As one who writes: the server may still be committing it, and
   * until then a reader does not see it.
   */
  async #settle(database: ScopedDatabase, lane: Lane, chain: number, doubt: NonNullable<Lane['doubt']>): Promise<void> {
    const row = await database.write((scope) =>
      scope.from('audit_chains').where({ number: chain }).first('seq', 'hash'),
    );
    lane.doubt = undefined;
    if (row === undefined || integer(row.seq) !== doubt.last.seq || row.hash !== doubt.last.hash) return;
    lane.last = doubt.last;
    for (const record of doubt.records) lane.kept.add(record);
  }

  async #open(database: ScopedDatabase, lane: Lane): Promise<number> {
    const { organizationId } = database;
    const { vault, now } = this.#host;
    const seals = auditSeals(vault, organizationId);
    const openedAt = now();
    const opened = await database.write(async (scope) => {
      if (organizationId === instanceId) await scope.keepInstance(openedAt);
      // Only who opens a chain waits for another one who does.
      await scope.lockCounter('audit chains');
      const { chains, ...known } = await registerOf(scope, (seal, register) => seals.register.fits(seal, register));
      const register = { ...known, chains: chains + 1 };
      const number = register.chains;
      const root = chainRoot(organizationId, { number, instance: this.#instance, openedAt });
      await scope.insert('audit_chains', {
        number,
        instance: this.#instance,
        opened_at: openedAt.getTime(),
        seq: root.seq,
        hash: root.hash,
        seal: seals.head.make(number, root),
        cut_seq: null,
        cut_hash: null,
        cut_seal: null,
      });
      await scope.upsert(
        'audit_registers',
        { ...register, seal: seals.register.make(register) },
        ['organization_id'],
        ['chains', 'unchained', 'damaged', 'seal'],
      );
      return { number, root };
    });
    lane.last = opened.root;
    return opened.number;
  }
}

const texts = ['subject', 'requestId', 'target', 'outcome', 'argumentsHash', 'statement'] as const;

/**
 * As every database gives it back, for that is what a verification hashes: without half of a surrogate pair, and without NUL, which
 * PostgreSQL refuses, with all records that wait behind.
 */
function keepable(record: AuditRecord): AuditRecord {
  if (texts.every((name) => isKeepable(record[name] ?? ''))) return record;
  const kept = texts.flatMap((name) => {
    const text = record[name];
    return text === undefined ? [] : [[name, text.toWellFormed().replaceAll('\0', '\u{FFFD}')] as const];
  });
  return { ...record, ...Object.fromEntries(kept) };
}

function isKeepable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The register as it is to go on: a damaged one stays marked so, since nothing tells any more what was there. */
async function registerOf(
  scope: Scope,
  fits: (seal: string, register: AuditRegister) => boolean,
): Promise<AuditRegister> {
  const row = await scope.from('audit_registers').first();
  const [found] = await scope.from('audit_chains').max({ most: 'number' });
  const most = Number(found?.['most'] ?? 0);
  if (row === undefined) {
    return { chains: most, unchained: await countOf(scope.from('audit').where({ chain: 0 })), damaged: most > 0 };
  }
  const register = toRegister(row);
  const sound = fits(row.seal, register) && register.chains >= most;
  return { ...register, chains: Math.max(register.chains, most), damaged: register.damaged || !sound };
}

import type { Knex } from 'knex';
import { auditSeals, type RetentionRepository } from '../../../src/contract/storage/index.ts';
import { integer } from '../columns.ts';
import { organizationTables } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { OrganizationRepository } from './repository.ts';

const recordsAtOnce = 500;
/** With their messages, of which there may be hundreds. */
const chatsAtOnce = 20;
/** With their alerts, of which there may be thousands. */
const incidentsAtOnce = 5;

const firstOfChain = `select earliest.at from audit as earliest
  where earliest.organization_id = audit_chains.organization_id and earliest.chain = audit_chains.number
  order by earliest.seq limit 1`;

export class Retention extends OrganizationRepository implements RetentionRepository {
  async removeAudit(before: Date): Promise<number> {
    const chained = await this.database.read((scope) =>
      scope
        .from('audit_chains')
        .whereRaw('audit_chains.seq > coalesce(cut_seq, 0)')
        .whereRaw(`(${firstOfChain}) < ?`, [before.getTime()])
        .orderBy('number')
        .first('number'),
    );
    const removed = await this.database.write((scope) => this.#cut(scope, 0, before));
    if (removed > 0 || chained === undefined) return removed;
    return this.database.write((scope) => this.#cut(scope, integer(chained.number), before));
  }

  /** Chains are cut at their beginning alone, and the last hash that goes is sealed, so that what stays can be verified. */
  async #cut(scope: Scope, chain: number, before: Date): Promise<number> {
    const first = await scope
      .from('audit')
      .where({ chain })
      .orderBy('seq')
      .limit(recordsAtOnce)
      .select('seq', 'hash', 'at');
    const recent = first.findIndex(({ at }) => integer(at) >= before.getTime());
    const last = first.at(recent < 0 ? -1 : recent - 1);
    if (recent === 0 || last === undefined) return 0;
    const place = { seq: integer(last.seq), hash: last.hash };
    if (chain > 0) {
      await scope
        .from('audit_chains')
        .where({ number: chain })
        .update({
          cut_seq: place.seq,
          cut_hash: place.hash,
          cut_seal: auditSeals(this.parts.vault, scope.organizationId).cut.make(chain, place),
        });
    }
    return scope.from('audit').where({ chain }).where('seq', '<=', place.seq).delete();
  }

  removeChats(before: Date): Promise<number> {
    return this.database.write(async (scope) => {
      const ended = scope.from('chats').whereIn('status', ['completed', 'failed', 'cancelled']);
      const old = await oldest(ended, before, chatsAtOnce);
      return old.length === 0 ? 0 : removeChats(scope, old);
    });
  }

  removeIncidents(before: Date): Promise<number> {
    return this.database.write(async (scope) => {
      const closed = scope.from('incidents').whereIn('status', ['resolved', 'dismissed']);
      const old = await oldest(closed, before, incidentsAtOnce);
      return old.length === 0 ? 0 : removeIncidents(scope, old);
    });
  }

  removeAll(): Promise<number> {
    return this.database.write(async (scope) => {
      const chats = await scope.from('chats').limit(chatsAtOnce).pluck('id');
      if (chats.length > 0) return removeChats(scope, chats);
      const incidents = await scope.from('incidents').limit(incidentsAtOnce).pluck('id');
      if (incidents.length > 0) return removeIncidents(scope, incidents);
      await scope.artifactsOf({}).delete();
      return scope.clear(organizationTables.filter((table) => !table.startsWith('audit')).toReversed());
    });
  }
}

/** With their messages. An investigation of an incident stays with the incident. */
export async function removeChats(scope: Scope, ids: readonly string[]): Promise<number> {
  const investigations = () => scope.from('investigations').whereIn('chat_id', ids);
  await investigations().whereNotNull('incident_id').update({ chat_id: null });
  await investigations().delete();
  await scope.from('chat_requests').whereIn('chat_id', ids).delete();
  return scope.from('chats').whereIn('id', ids).delete();
}

/** With their alerts, documents and timeline. What was investigated in a chat stays with the chat. */
async function removeIncidents(scope: Scope, ids: readonly string[]): Promise<number> {
  const investigations = () => scope.from('investigations').whereIn('incident_id', ids);
  await investigations().whereNotNull('chat_id').update({ incident_id: null });
  await investigations().delete();
  await scope.from('chats').whereIn('incident_id', ids).update({ incident_id: null });
  return scope.from('incidents').whereIn('id', ids).delete();
}

/** Ids of rows last changed before then, the oldest first. */
async function oldest(query: Knex.QueryBuilder, before: Date, most: number): Promise<readonly string[]> {
  return query.where('updated_at', '<', before.getTime()).orderBy('updated_at').limit(most).pluck('id');
}

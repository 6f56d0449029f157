import type { Knex } from 'knex';
import { toId, type InvestigationId } from '../../../src/contract/core/index.ts';
import type { ClaimedInvestigation, Lease } from '../../../src/contract/storage/index.ts';
import { integer } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

/** Hands investigations of all organizations to workers, each to one at a time. */
export class InvestigationLeases extends DirectoryRepository {
  /** Which claim was an organization's last here. In memory: where several processes claim, each of them goes round. */
  readonly #turns = new Map<string, number>();
  #claims = 0;

  async claim(lease: Lease): Promise<ClaimedInvestigation | undefined> {
    for (;;) {
      // The look takes no lock, so that idle workers cost the writers nothing; the update decides who gets it.
      const candidate = await this.database.read((knex) => this.#next(knex, lease.now));
      if (candidate === undefined) return undefined;
      const won = await this.database.write(async (_, enter) => {
        const scope = await enter(toId('org', candidate.organization_id));
        return scope
          .from('investigations')
          .where({ id: candidate.id })
          .where((free) => void claimable(free, lease.now))
          .update({
            status: 'running',
            lease_holder: lease.holder,
            lease_until: lease.until.getTime(),
            started_at: candidate.started_at ?? lease.now.getTime(),
          });
      });
      if (won === 1) {
        this.#claims += 1;
        this.#turns.set(candidate.organization_id, this.#claims);
        return { id: toId('inv', candidate.id), organizationId: toId('org', candidate.organization_id) };
      }
    }
  }

  /** The oldest of the organization that waits for its turn the longest; at first, that asked first. */
  async #next(knex: Statements, now: Date) {
    const waiting = await claimableRows(knex, now)
      .groupBy('investigations.organization_id')
      .select('investigations.organization_id')
      .min({ asked_at: 'investigations.asked_at' });
    const turn = (organization: string): number => this.#turns.get(organization) ?? 0;
    const [first] = waiting.toSorted(
      (left, right) =>
        turn(left.organization_id) - turn(right.organization_id) || integer(left.asked_at) - integer(right.asked_at),
    );
    if (first === undefined) return undefined;
    return claimableRows(knex, now)
      .where('investigations.organization_id', first.organization_id)
      .orderBy(['asked_at', 'id'])
      .first('id', 'organization_id', 'started_at');
  }

  renew(id: InvestigationId, lease: Lease): Promise<boolean> {
    return this.some((knex) =>
      knex('investigations')
        .where({ id, status: 'running', lease_holder: lease.holder })
        .update({ lease_until: lease.until.getTime() }),
    );
  }
}

function claimable(query: Knex.QueryBuilder<RowIn<'investigations'>>, now: Date) {
  return query
    .where('investigations.status', 'queued')
    .orWhere(
      (lost) =>
        void lost.where('investigations.status', 'running').where('investigations.lease_until', '<=', now.getTime()),
    );
}

/** A queued one whose chat still has one running is left until that ends. */
function claimableRows(knex: Statements, now: Date) {
  const runningInChat = knex('investigations as other')
    .where('other.chat_id', knex.ref('investigations.chat_id'))
    .where('other.status', 'running')
    .whereNot('other.id', knex.ref('investigations.id'));
  return knex('investigations')
    .where((free) => void claimable(free, now))
    .whereNotExists(runningInChat);
}

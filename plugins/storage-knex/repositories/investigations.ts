import { type ChatId, type IncidentId, type InvestigationId, toId } from '../../../src/contract/core/index.ts';
import type {
  Investigation,
  InvestigationRepository,
  InvestigationResult,
  InvestigationStep,
  ClaimedInvestigation,
  Lease,
} from '../../../src/contract/storage/index.ts';
import { conclusionJson, stepJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { advanceChat, lockChat, type NewMessage } from './chat-rows.ts';
import { requireIncident } from './incident-rows.ts';
import {
  insertQueued,
  nextPosition,
  type NewInvestigation,
  queueForChat,
  requireHeld,
  toInvestigation,
} from './investigation-rows.ts';
import { liveOrganizations } from './users.ts';
import { OrganizationRepository, DirectoryRepository, leaseEnded } from './repository.ts';
import type { Knex } from 'knex';
import { integer } from '../columns.ts';
import type { Statements } from '../transact.ts';

export class Investigations extends OrganizationRepository implements InvestigationRepository {
  get(id: InvestigationId): Promise<Investigation | undefined> {
    return this.one((scope) => scope.from('investigations').where({ id }).first(), toInvestigation);
  }

  ofIncident(id: IncidentId): Promise<readonly Investigation[]> {
    return this.#of({ incident_id: id });
  }

  ofChat(id: ChatId): Promise<readonly Investigation[]> {
    return this.#of({ chat_id: id });
  }

  steps(id: InvestigationId): Promise<readonly InvestigationStep[]> {
    return this.all(
      (scope) => scope.from('investigation_steps').where({ investigation_id: id }).orderBy('seq').select('step'),
      ({ step }) => stepJson.read(step),
    );
  }

  async enqueue(input: NewInvestigation): Promise<Investigation> {
    const { chatId, incidentId, engine } = input;
    const investigation = await this.database.write(async (scope) => {
      const now = this.now();
      if (incidentId !== undefined) await requireIncident(scope, incidentId);
      if (chatId === undefined) return insertQueued(scope, input, await nextPosition(scope), now);
      const chat = await lockChat(scope, chatId);
      await advanceChat(scope, chat, 'running', now);
      return queueForChat(scope, { chatId, engine, incidentId: incidentId ?? chat.incidentId }, now);
    });
    if (chatId !== undefined) this.parts.changes.notify(chatId);
    return investigation;
  }

  addStep(id: InvestigationId, step: InvestigationStep, holder?: string): Promise<void> {
    return this.database.write(async (scope) => {
      requireHeld(await scope.from('investigations').where({ id }).first(), holder);
      await scope.insertIfAbsent(
        'investigation_steps',
        { investigation_id: id, seq: step.seq, step: stepJson.write(step) },
        ['investigation_id', 'seq'],
      );
    });
  }

  async progress(id: InvestigationId, doing: string): Promise<void> {
    await this.database.write((scope) =>
      scope.from('investigations').where({ id, status: 'running' }).update({ doing }),
    );
  }

  /** Nothing happens to an investigation that has ended or waits already. */
  async finish(id: InvestigationId, result: InvestigationResult, holder?: string): Promise<void> {
    const chatId = await this.database.write(async (scope) => {
      const now = this.now();
      const row = requireHeld(await scope.from('investigations').where({ id }).first(), holder);
      const { chatId } = toInvestigation(row);
      // Locks are taken in one order everywhere: the chat, then its investigations.
      const chat = chatId === undefined ? undefined : await lockChat(scope, chatId);
      const ended = await finishable(scope, id).update({
        ...outcome(result, now),
        started_at: row.started_at ?? now.getTime(),
      });
      if (ended === 0 || chat === undefined) return undefined;
      const open: readonly string[] = await scope
        .from('investigations')
        .where({ chat_id: chat.id })
        .whereIn('status', ['queued', 'waiting'])
        .pluck('status');
      // What was asked before stays asked, whatever ends meanwhile.
      const status = open.includes('queued') ? 'running' : open.includes('waiting') ? 'waiting' : result.status;
      await advanceChat(scope, chat, status, now, closingMessage(result));
      return chat.id;
    });
    if (chatId !== undefined) this.parts.changes.notify(chatId);
  }

  #of(match: { readonly incident_id: IncidentId } | { readonly chat_id: ChatId }): Promise<readonly Investigation[]> {
    return this.all((scope) => scope.from('investigations').where(match).orderBy('position', 'desc'), toInvestigation);
  }
}

/** Running, or queued and never begun: one that a reply took up again is not ended by a late repetition of its first end. */
function finishable(scope: Scope, id: InvestigationId) {
  return scope
    .from('investigations')
    .where({ id })
    .where(
      (open) =>
        void open
          .where({ status: 'running' })
          .orWhere((fresh) => void fresh.where({ status: 'queued' }).whereNull('started_at')),
    );
}

function outcome(result: InvestigationResult, now: Date): Partial<RowIn<'investigations'>> {
  const released = { status: result.status, doing: null, lease_holder: null, lease_until: null };
  const finished_at = now.getTime();
  switch (result.status) {
    case 'completed':
      return {
        ...released,
        finished_at,
        ...(result.conclusion && { conclusion: conclusionJson.write(result.conclusion) }),
      };
    case 'failed':
      return { ...released, finished_at, failure: result.failure };
    case 'cancelled':
      return { ...released, finished_at };
    case 'waiting':
      return { ...released, question: result.message };
  }
}

function closingMessage(result: InvestigationResult): NewMessage | undefined {
  if (result.status === 'cancelled') return undefined;
  const { message: content, author, parts = [] } = result;
  return { role: author.kind === 'agent' ? 'agent' : 'system', author, content, parts };
}

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
        void lost
          .where('investigations.status', 'running')
          .where((ended) => leaseEnded(ended, 'investigations.lease_until', now)),
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
    .whereIn('investigations.organization_id', liveOrganizations(knex))
    .whereNotExists(runningInChat);
}

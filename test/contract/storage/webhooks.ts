import { newId } from '../../../src/contract/core/index.ts';
import {
  webhookEvents,
  type ClaimedWebhookMessage,
  type Lease,
  type NewWebhook,
  type Storage,
  type WebhookEvent,
  type Workspace,
} from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { ada, agent, awkward, type MakeStorage, newChat, newIncident, ownStage, present, refusal } from './stage.ts';

/** Webhooks: what happened is told of, all of it, to one gateway at a time. */
export function webhookPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('webhooks', () => {
    const stage = ownStage(runner, make);

    const newWebhook = (events: readonly WebhookEvent[] = webhookEvents): NewWebhook => ({
      id: newId('whk'),
      url: 'https://hooks.example.com/one?key=ü',
      events,
      sealedSecret: awkward,
    });
    const lease = (holder = 'here', ahead = 0): Lease => {
      const now = new Date(Date.now() + ahead);
      return { holder, now, until: new Date(now.getTime() + 30_000) };
    };
    const claim = (storage: Storage = stage().storage, taken: Lease = lease()) =>
      storage.directory.claimWebhookMessage(taken);
    /** Takes everything there is, and says that it was delivered. */
    const drain = async (): Promise<readonly ClaimedWebhookMessage[]> => {
      const all: ClaimedWebhookMessage[] = [];
      for (let message = await claim(); message; message = await claim()) {
        all.push(message);
        await stage().storage.directory.settleWebhookMessage(message, lease(), { kind: 'delivered' });
      }
      return all;
    };
    const told = async () => (await drain()).map(({ event, subject }) => `${event} ${subject}`);

    it('are kept as they were given, and go with what was on its way to them', async () => {
      const { webhooks, chats } = await stage().workspace();
      const given = newWebhook(['chat.created']);
      const made = await webhooks.create(given);
      expect(made).toMatchObject({ ...given, waiting: 0 });
      await chats.start(newChat());
      expect(await webhooks.list()).toEqual([{ ...made, waiting: 1 }]);
      expect(await webhooks.get(made.id)).toEqual({ ...made, waiting: 1 });
      expect(await webhooks.remove(made.id)).toBe(true);
      expect(await webhooks.remove(made.id)).toBe(false);
      expect(await webhooks.get(made.id)).toBeUndefined();
      expect(await claim()).toBeUndefined();
    });

    it('are twenty at most', async () => {
      const { webhooks } = await stage().workspace();
      for (let count = 0; count < 20; count += 1) await webhooks.create(newWebhook());
      expect(await refusal(webhooks.create(newWebhook()))).toBe('conflict');
    });

    it('are told of each change to incidents and chats, in order, and of what was asked for only', async () => {
      const { webhooks, incidents, chats } = await stage().workspace();
      const incident = await incidents.create(newIncident({ title: awkward }), ada);
      expect(await told()).toEqual([]);
      const all = await webhooks.create(newWebhook());
      await webhooks.create(newWebhook(['chat.updated']));
      await incidents.update(incident.id, { status: 'investigating' }, ada);
      const [message] = await drain();
      expect(message).toMatchObject({ event: 'incident.updated', subject: incident.key, attempts: 0 });
      expect(message?.webhook).toMatchObject({ id: all.id, url: all.url, sealedSecret: awkward });
      expect(JSON.parse(present(message).data)).toMatchObject({
        id: incident.id,
        key: incident.key,
        title: awkward,
        status: 'investigating',
        changes: [{ change: 'status', from: 'triage', to: 'investigating' }],
        actor: { kind: 'user', name: ada.name },
      });
      await incidents.update(incident.id, { status: 'investigating' }, ada);
      expect(await told()).toEqual([]);
      await incidents.writeDocument(incident.id, 'It was the pool.', ada);
      expect(await told()).toEqual([`incident.updated ${incident.key}`]);
      const { chat } = await chats.start(newChat({ idempotencyKey: 'once' }));
      await chats.start(newChat({ idempotencyKey: 'once' }));
      expect(await told()).toEqual([`chat.created ${chat.id}`]);
      await chats.cancel(chat.id, agent);
      expect(await told()).toEqual([`chat.updated ${chat.id}`, `chat.updated ${chat.id}`]);
      expect((await webhooks.get(all.id))?.deliveredAt).toBeInstanceOf(Date);
    });

    it('hear nothing of a change that was refused', async () => {
      const { webhooks, incidents } = await stage().workspace();
      const incident = await incidents.create(newIncident({ status: 'resolved' }), ada);
      await webhooks.create(newWebhook());
      expect(await refusal(incidents.update(incident.id, { title: 'x', status: 'mitigated' }, ada))).toBe('conflict');
      expect(await told()).toEqual([]);
    });

    it('get an event from one gateway at a time, and one event at a time', async () => {
      const [workspace, others] = [await stage().workspace(), await stage().workspace()];
      for (const { webhooks } of [workspace, others]) await webhooks.create(newWebhook(['incident.created']));
      for (const { incidents } of [workspace, workspace, others]) await incidents.create(newIncident(), ada);
      const claimed = await Promise.all(
        Array.from({ length: 6 }, (_, turn) =>
          claim(turn % 2 === 0 ? stage().storage : stage().other, lease(`h${turn}`)),
        ),
      );
      const taken = claimed.filter((each) => each !== undefined);
      expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
      expect(new Set(taken.map(({ webhook }) => webhook.organizationId)).size).toBe(2);
      // Two gateways that look in the same moment may each find that nothing is under way.
      expect(taken.length).toBeLessThanOrEqual(3);
      expect(await claim()).toBeUndefined();
    });

    it('get it by a clock that was set back after the lease was given', async () => {
      const { webhooks, chats } = await stage().workspace();
      await webhooks.create(newWebhook(['chat.created']));
      await chats.start(newChat());
      const first = present(await claim(stage().storage, lease('dead', 3_600_000)));
      expect(await claim(stage().other, lease('alive', 3_590_000))).toBeUndefined();
      expect(await claim(stage().other, lease('alive'))).toEqual(first);
      expect(await claim()).toBeUndefined();
    });

    it('get it again when a lease ends, when it is to be tried again, and then no more', async () => {
      const { webhooks, incidents }: Workspace = await stage().workspace();
      const { id } = await webhooks.create(newWebhook());
      await incidents.create(newIncident(), ada);
      const first = present(await claim(stage().storage, lease('dead')));
      expect(await claim()).toBeUndefined();
      const second = present(await claim(stage().other, lease('alive', 31_000)));
      expect(second).toEqual(first);
      const { directory } = stage().other;
      // Who lost the lease changes nothing.
      await directory.settleWebhookMessage(first, lease('dead', 32_000), { kind: 'delivered' });
      await directory.settleWebhookMessage(second, lease('alive'), {
        kind: 'retry',
        at: new Date(Date.now() + 60_000),
      });
      expect(await claim()).toBeUndefined();
      const third = present(await claim(stage().storage, lease('here', 61_000)));
      expect(third).toEqual({ ...first, attempts: 1 });
      // Who stops gives it back: it can be had at once, and no attempt was made.
      await directory.settleWebhookMessage(third, lease('here'), { kind: 'returned' });
      expect(await claim(stage().storage, lease('there', 61_000))).toEqual(third);
      await directory.settleWebhookMessage(third, lease('there'), { kind: 'abandoned', failure: awkward });
      expect(await claim(stage().storage, lease('here', 600_000))).toBeUndefined();
      expect(await webhooks.get(id)).toMatchObject({ failure: awkward, waiting: 0 });
      expect((await webhooks.get(id))?.failedAt).toBeInstanceOf(Date);
    });
  });
}

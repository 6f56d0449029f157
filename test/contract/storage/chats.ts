import { getEventListeners } from 'node:events';
import { newId } from '../../../src/contract/core/index.ts';
import type { Chat, ChatFilter, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  awkward,
  bob,
  inTurn,
  type MakeStorage,
  newChat,
  newIncident,
  present,
  refusal,
  sharedStage,
  soon,
} from './stage.ts';

/** Chats: that nothing said is lost or doubled, who may speak, and that a reader can wait for more. */
export function chatPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('chats', () => {
    const stage = sharedStage(runner, make);

    it('come back field by field, with their first message and a queued investigation', async () => {
      const [here, there] = await stage().workspaces();
      const incident = await here.incidents.create(newIncident(), ada);
      const input = newChat({ title: awkward, message: awkward, incidentId: incident.id, engine: 'playbook' });
      const { chat, message } = await here.chats.start(input);
      expect(chat).toMatchObject({
        organizationId: here.organizationId,
        title: awkward,
        status: 'running',
        createdBy: ada,
        incidentId: incident.id,
        lastSeq: 1,
      });
      expect(message).toMatchObject({ seq: 1, role: 'user', author: ada, content: awkward, parts: [] });
      expect(await there.chats.get(chat.id)).toEqual(chat);
      expect(await there.chats.messages(chat.id, { limit: 10 })).toEqual([message]);
      expect(await there.chats.message(chat.id, message.id)).toEqual(message);
      const [investigation, ...others] = await there.investigations.ofChat(chat.id);
      expect(others).toEqual([]);
      expect(investigation).toMatchObject({
        status: 'queued',
        chatId: chat.id,
        incidentId: incident.id,
        engine: 'playbook',
        askedAt: chat.createdAt,
      });
    });

    it('are not started about an incident that does not exist', async () => {
      const workspace = await stage().workspace();
      const key = { idempotencyKey: 'once' };
      expect(await refusal(workspace.chats.start(newChat({ incidentId: newId('inc'), ...key })))).toBe('not_found');
      expect((await workspace.chats.list({ limit: 10 })).items).toEqual([]);
      // The refused attempt has not used the key up.
      expect((await workspace.chats.start(newChat(key))).chat.status).toBe('running');
    });

    it('are started once for one key of one author, however many ask at once', async () => {
      const [here, there] = await stage().workspaces();
      const key = { idempotencyKey: awkward.repeat(20) };
      const started = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? here : there).chats.start(newChat(key))),
      );
      const [first] = started;
      expect(new Set(started.map(({ chat }) => chat.id)).size).toBe(1);
      expect(started.every(({ message }) => message.content === first?.message.content)).toBe(true);
      const { items } = await here.chats.list({ limit: 10 });
      expect(items).toHaveLength(1);
      expect(await here.investigations.ofChat(present(items.at(0)).id)).toHaveLength(1);
    });

    it('refuse another message or incident under a key that was used', async () => {
      const { chats, incidents } = await stage().workspace();
      const key = { idempotencyKey: 'k' };
      const { chat } = await chats.start(newChat(key));
      expect(await refusal(chats.start(newChat({ ...key, message: 'another' })))).toBe('conflict');
      const { id: incidentId } = await incidents.create(newIncident(), ada);
      expect(await refusal(chats.start(newChat({ ...key, incidentId })))).toBe('conflict');
      const input = { author: ada, engine: 'e', message: awkward, idempotencyKey: 'k' };
      const reply = await chats.reply(chat.id, input);
      expect(await refusal(chats.reply(chat.id, { ...input, message: `${awkward} ` }))).toBe('conflict');
      expect((await chats.reply(chat.id, input)).message).toEqual(reply.message);
      expect(await chats.messages(chat.id, { limit: 10 })).toHaveLength(2);
      expect((await chats.list({ limit: 10 })).items).toHaveLength(1);
    });

    it('are started apart for other keys, other authors, and no key', async () => {
      const { chats } = await stage().workspace();
      const started = await inTurn(
        [
          newChat({ idempotencyKey: 'k' }),
          newChat({ idempotencyKey: 'K' }),
          newChat({ idempotencyKey: 'k', author: bob }),
          newChat({ idempotencyKey: 'k', author: { ...ada, kind: 'operator' } }),
          newChat(),
          newChat(),
        ],
        (input) => chats.start(input),
      );
      expect(new Set(started.map(({ chat }) => chat.id)).size).toBe(6);
    });

    it('take replies, which are numbered and reopen a finished chat', async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      const [first] = await here.investigations.ofChat(chat.id);
      await here.investigations.finish(present(first).id, {
        status: 'failed',
        failure: 'f',
        message: 'm',
        author: agent,
      });
      expect((await here.chats.get(chat.id))?.status).toBe('failed');

      const replied = await there.chats.reply(chat.id, { message: awkward, author: ada, engine: 'llm' });
      expect(replied.message).toMatchObject({ seq: 3, role: 'user', author: ada, content: awkward, parts: [] });
      expect(replied.chat).toMatchObject({ status: 'running', lastSeq: 3 });
      expect(await here.chats.get(chat.id)).toEqual(replied.chat);
      expect(await here.chats.message(chat.id, replied.message.id)).toEqual(replied.message);
      const [next] = await here.investigations.ofChat(chat.id);
      expect(next).toMatchObject({ status: 'queued', engine: 'llm' });
      expect(next?.id).not.toBe(first?.id);
    });

    it('take replies only from who started them', async () => {
      const { chats } = await stage().workspace();
      const { chat } = await chats.start(newChat());
      for (const author of [bob, { ...ada, kind: 'key' as const }, { ...ada, id: `${ada.id}x` }]) {
        const reply = chats.reply(chat.id, { message: 'mine', author, engine: 'playbook', idempotencyKey: 'k' });
        expect(await refusal(reply)).toBe('forbidden');
      }
      expect(await chats.get(chat.id)).toEqual(chat);
      const renamed = { ...ada, name: 'Ada King' };
      expect((await chats.reply(chat.id, { message: 'x', author: renamed, engine: 'e' })).message.author).toEqual(
        renamed,
      );
    });

    it('refuse a reply when they do not exist', async () => {
      const { chats } = await stage().workspace();
      const input = { message: 'x', author: ada, engine: 'e' };
      expect(await refusal(chats.reply(newId('chat'), input))).toBe('not_found');
      expect(await refusal(chats.cancel(newId('chat'), ada))).toBe('not_found');
      expect(await chats.get(newId('chat'))).toBeUndefined();
      expect(await chats.messages(newId('chat'), { limit: 10 })).toEqual([]);
    });

    it('take a reply once for one key, however many ask at once, and apart in each chat', async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat({ idempotencyKey: 'k' }));
      const input = { author: ada, engine: 'e', idempotencyKey: 'k' };
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? here : there).chats.reply(chat.id, { ...input, message: 'attempt' }),
        ),
      );
      expect(new Set(replies.map(({ message }) => message.id)).size).toBe(1);
      expect((await here.chats.get(chat.id))?.lastSeq).toBe(2);

      const { chat: second } = await here.chats.start(newChat());
      const elsewhere = await here.chats.reply(second.id, { ...input, message: 'elsewhere' });
      expect(elsewhere.message.content).toBe('elsewhere');
    });

    it('number replies of two processes at once without gaps, and queue one investigation for all', async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? here : there).chats.reply(chat.id, { message: `r${index}`, author: ada, engine: 'e' }),
        ),
      );
      const messages = await there.chats.messages(chat.id, { limit: 100 });
      expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
      expect(new Set(messages.map(({ content }) => content)).size).toBe(13);
      expect(await here.investigations.ofChat(chat.id)).toHaveLength(1);
    });

    it('are read from any message on', async () => {
      const { chats } = await stage().workspace();
      const { chat } = await chats.start(newChat({ message: '1' }));
      await inTurn(['2', '3', '4', '5'], (message) => chats.reply(chat.id, { message, author: ada, engine: 'e' }));
      const contents = async (options: { afterSeq?: number; limit: number }) =>
        (await chats.messages(chat.id, options)).map(({ content }) => content);
      expect(await contents({ limit: 2 })).toEqual(['1', '2']);
      expect(await contents({ afterSeq: 2, limit: 2 })).toEqual(['3', '4']);
      expect(await contents({ afterSeq: 4, limit: 10 })).toEqual(['5']);
      expect(await contents({ afterSeq: 5, limit: 10 })).toEqual([]);
      expect(await refusal(contents({ limit: 0 }))).toBe('invalid_argument');
    });

    it('give a message only under its own chat', async () => {
      const { chats } = await stage().workspace();
      const [one, two] = [await chats.start(newChat()), await chats.start(newChat())];
      expect(await chats.message(one.chat.id, two.message.id)).toBeUndefined();
      expect(await chats.message(one.chat.id, newId('msg'))).toBeUndefined();
    });

    it('are cancelled with everything that runs, queued or waits in them', async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      const cancelled = await there.chats.cancel(chat.id, bob);
      expect(cancelled).toMatchObject({ status: 'cancelled', lastSeq: 2 });
      expect(await here.chats.get(chat.id)).toEqual(cancelled);
      expect((await here.chats.messages(chat.id, { afterSeq: 1, limit: 5 })).at(0)).toMatchObject({
        role: 'system',
        author: bob,
      });
      const [investigation] = await here.investigations.ofChat(chat.id);
      expect(investigation?.status).toBe('cancelled');
      expect(investigation?.finishedAt).toBeInstanceOf(Date);
      // A second time there is nothing to end.
      expect(await here.chats.cancel(chat.id, bob)).toEqual(cancelled);
    });

    it('have a time of change that rises with every change, also within a millisecond', async () => {
      const now = new Date(1_800_000_000_000);
      const storage = await stage().open({ now: () => now });
      const { chats } = storage.workspace((await stage().organization()).id);
      const { chat } = await chats.start(newChat());
      let last = chat.updatedAt.getTime();
      for (const message of ['a', 'b', 'c']) {
        const next = (await chats.reply(chat.id, { message, author: ada, engine: 'e' })).chat.updatedAt.getTime();
        expect(next).toBeGreaterThan(last);
        last = next;
      }
    });
  });

  describe('the list of chats', () => {
    const stage = sharedStage(runner, make);
    const titles = async ({ chats }: Workspace, filter: Partial<ChatFilter> = {}) =>
      (await chats.list({ limit: 100, ...filter })).items.map(({ title }) => title);
    const started = async ({ chats }: Workspace, title: string, overrides: object = {}): Promise<Chat> => {
      const { chat } = await chats.start(newChat({ title, ...overrides }));
      await new Promise((resolve) => setTimeout(resolve, 2));
      return chat;
    };

    it('has the most recently changed first', async () => {
      const workspace = await stage().workspace();
      const first = await started(workspace, 'first');
      await started(workspace, 'second');
      expect(await titles(workspace)).toEqual(['second', 'first']);
      await workspace.chats.reply(first.id, { message: 'again', author: ada, engine: 'e' });
      expect(await titles(workspace)).toEqual(['first', 'second']);
    });

    it('is filtered by status, author, incident and words', async () => {
      const workspace = await stage().workspace();
      const incident = await workspace.incidents.create(newIncident(), ada);
      await started(workspace, 'about it', { incidentId: incident.id, message: 'Ünder 50% of_all' });
      await started(workspace, "bob's", { author: bob });
      await workspace.chats.cancel((await started(workspace, 'over')).id, ada);
      expect(await titles(workspace, { statuses: ['cancelled'] })).toEqual(['over']);
      expect((await titles(workspace, { statuses: ['running'] })).toSorted()).toEqual(['about it', "bob's"]);
      expect(await titles(workspace, { createdBy: bob.id })).toEqual(["bob's"]);
      expect(await titles(workspace, { createdBy: '%' })).toEqual([]);
      expect(await titles(workspace, { incidentId: incident.id })).toEqual(['about it']);
      expect(await titles(workspace, { incidentId: newId('inc') })).toEqual([]);
      expect(await titles(workspace, { query: 'ABOUT ünder' })).toEqual(['about it']);
      expect(await titles(workspace, { query: '0%' })).toEqual(['about it']);
      expect(await titles(workspace, { query: 'f_a' })).toEqual(['about it']);
      expect(await titles(workspace, { query: "'S" })).toEqual(["bob's"]);
    });

    it('pages without gap or double while chats are started', async () => {
      const [here, there] = await stage().workspaces();
      const names = Array.from({ length: 9 }, (_, index) => `old ${index}`);
      await inTurn(names, (title) => there.chats.start(newChat({ title })));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await here.chats.list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.items.map(({ title }) => title));
        cursor = page.nextCursor;
        await new Promise((resolve) => setTimeout(resolve, 2));
        await there.chats.start(newChat({ title: 'newer' }));
      } while (cursor !== undefined);
      expect(seen.toSorted()).toEqual(names.toSorted());
    });

    it('takes a cursor only with the filter it came from', async () => {
      const { chats } = await stage().workspace();
      await inTurn(['a', 'b'], (title) => chats.start(newChat({ title })));
      const cursor = present((await chats.list({ limit: 1 })).nextCursor);
      expect((await chats.list({ limit: 1, cursor })).items).toHaveLength(1);
      expect(await refusal(chats.list({ limit: 1, createdBy: ada.id, cursor }))).toBe('invalid_argument');
      expect(await refusal(chats.list({ limit: 1, cursor: 'x' }))).toBe('invalid_argument');
    });
  });

  describe('waiting for a chat to change', () => {
    const stage = sharedStage(runner, make);
    const begin = async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      return { here, there, chat };
    };
    const reply = { message: 'news', author: ada, engine: 'e' };

    it('ends at once when it has changed already, or does not exist', async () => {
      const { here, chat } = await begin();
      await here.chats.changed(chat.id, new Date(chat.updatedAt.getTime() - 1), soon());
      await here.chats.changed(newId('chat'), new Date(), soon());
      expect(true).toBe(true);
    });

    it('goes on while it has not changed, and ends when the caller leaves', async () => {
      const { here, chat } = await begin();
      const caller = new AbortController();
      let ended = false;
      const waiting = here.chats.changed(chat.id, chat.updatedAt, caller.signal).then(() => (ended = true));
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      expect(ended).toBe(false);
      caller.abort();
      await waiting;
      expect(ended).toBe(true);
      await here.chats.changed(chat.id, chat.updatedAt, AbortSignal.abort());
    });

    it('ends for a reply, an end and a cancellation, of this process or of another', async () => {
      const { here, there, chat } = await begin();
      let seen = chat;
      for (const change of [
        () => here.chats.reply(chat.id, reply),
        () => there.chats.reply(chat.id, reply),
        async () => {
          const [investigation] = await there.investigations.ofChat(chat.id);
          await there.investigations.finish(present(investigation).id, {
            status: 'waiting',
            message: 'Which?',
            author: agent,
          });
        },
        () => here.chats.cancel(chat.id, ada),
      ]) {
        const signal = soon();
        const waiting = here.chats.changed(chat.id, seen.updatedAt, signal);
        await change();
        await waiting;
        expect(signal.aborted).toBe(false);
        const next = present(await here.chats.get(chat.id));
        expect(next.updatedAt.getTime()).toBeGreaterThan(seen.updatedAt.getTime());
        seen = next;
      }
    });

    it('leaves no listener behind', async () => {
      const { here, chat } = await begin();
      const caller = new AbortController();
      const waiting = Array.from({ length: 25 }, () => here.chats.changed(chat.id, chat.updatedAt, caller.signal));
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(getEventListeners(caller.signal, 'abort').length).toBeLessThanOrEqual(25);
      await here.chats.reply(chat.id, reply);
      await Promise.all(waiting);
      expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
    });

    it('ends when the storage stops', async () => {
      const storage = await stage().open();
      const { chats } = storage.workspace((await stage().organization()).id);
      const { chat } = await chats.start(newChat());
      const signal = soon();
      const waiting = chats.changed(chat.id, chat.updatedAt, signal);
      await storage.stop();
      await waiting;
      expect(signal.aborted).toBe(false);
    });
  });
}

import { newId } from '../../../src/contract/core/index.ts';
import type { InvestigationResult, Lease } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  awkward,
  conclusion,
  eventually,
  inTurn,
  type MakeStorage,
  newChat,
  newIncident,
  newStep,
  ownStage,
  present,
  refusal,
} from './stage.ts';

/** Investigations: each is worked on by one worker at a time, goes on after a crash, and ends once. */
export function investigationPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;
  const completed: InvestigationResult = {
    status: 'completed',
    conclusion,
    message: awkward,
    author: agent,
    parts: [
      { type: 'finding', evidence_id: 'E1', text: awkward },
      { type: 'query', evidence_id: 'E1', sql: awkward },
      { type: 'question', text: awkward },
    ],
  };
  const lease = (holder: string, from: number, forMs: number): Lease => ({
    holder,
    now: new Date(from),
    until: new Date(from + forMs),
  });
  // Ahead of the clock, so that everything queued is due and a lease of the test does not end by itself.
  const now = Date.now() + 3_600_000;

  describe('investigations', () => {
    const stage = ownStage(runner, make);
    const claim = (holder: string, at = now, forMs = 1_000) =>
      stage().storage.directory.claimInvestigation(lease(holder, at, forMs));
    const started = async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      const [investigation] = await here.investigations.ofChat(chat.id);
      return { here, there, chat, id: present(investigation).id };
    };

    it('come back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const incident = await here.incidents.create(newIncident(), ada);
      const asked = await here.investigations.enqueue({ incidentId: incident.id, engine: 'playbook' });
      expect(asked).toMatchObject({
        organizationId: here.organizationId,
        incidentId: incident.id,
        status: 'queued',
        engine: 'playbook',
      });
      expect(await there.investigations.get(asked.id)).toEqual(asked);
      expect(await there.investigations.ofIncident(incident.id)).toEqual([asked]);
      expect(await claim('w')).toEqual({ id: asked.id, organizationId: here.organizationId });
      await here.investigations.finish(asked.id, completed);
      const ended = present(await there.investigations.get(asked.id));
      expect(ended).toMatchObject({ status: 'completed', conclusion, startedAt: new Date(now) });
      expect(ended.finishedAt).toBeInstanceOf(Date);
    });

    it('are not queued for what does not exist', async () => {
      const { investigations } = await stage().workspace();
      expect(await refusal(investigations.enqueue({ incidentId: newId('inc'), engine: 'e' }))).toBe('not_found');
      expect(await refusal(investigations.enqueue({ chatId: newId('chat'), engine: 'e' }))).toBe('not_found');
      expect(await refusal(investigations.addStep(newId('inv'), newStep(1)))).toBe('not_found');
      expect(await refusal(investigations.finish(newId('inv'), { status: 'cancelled' }))).toBe('not_found');
      expect(await investigations.get(newId('inv'))).toBeUndefined();
      expect(await investigations.steps(newId('inv'))).toEqual([]);
      expect(await claim('w')).toBeUndefined();
    });

    it('are listed newest first', async () => {
      const workspace = await stage().workspace();
      const { id } = await workspace.incidents.create(newIncident(), ada);
      const asked = await inTurn(['a', 'b', 'c'], (engine) =>
        workspace.investigations.enqueue({ incidentId: id, engine }),
      );
      expect(await workspace.investigations.ofIncident(id)).toEqual(asked.toReversed());
    });

    it('are handed out oldest first, over all organizations', async () => {
      const asked = await inTurn([1, 2, 3], async () => {
        const { investigations } = await stage().workspace();
        const { id } = await investigations.enqueue({ engine: 'e' });
        await new Promise((resolve) => setTimeout(resolve, 2));
        return id;
      });
      expect(await inTurn(asked, async () => (await claim('w'))?.id)).toEqual(asked);
      expect(await claim('w')).toBeUndefined();
    });

    it('are handed out in turns, so that one organization that asks much does not hold up the others', async () => {
      const [busy, quiet, late] = await inTurn([1, 2, 3], () => stage().workspace());
      const whose = async () => (await claim('w'))?.organizationId;
      await inTurn([1, 2, 3, 4], () => present(busy).investigations.enqueue({ engine: 'e' }));
      await new Promise((resolve) => setTimeout(resolve, 2));
      await present(quiet).investigations.enqueue({ engine: 'e' });
      expect(await inTurn([1, 2], whose)).toEqual([busy?.organizationId, quiet?.organizationId]);
      await present(late).investigations.enqueue({ engine: 'e' });
      expect(await inTurn([1, 2, 3], whose)).toEqual([late, busy, busy].map((workspace) => workspace?.organizationId));
    });

    it('are handed to exactly one of many workers in two processes', async () => {
      const { investigations } = await stage().workspace();
      const asked = await inTurn(Array.from({ length: 10 }), () => investigations.enqueue({ engine: 'e' }));
      const claims = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          (index % 2 === 0 ? stage().storage : stage().other).directory.claimInvestigation(
            lease(`w${index}`, now, 1_000),
          ),
        ),
      );
      const ids = claims.flatMap((claimed) => (claimed === undefined ? [] : [claimed.id]));
      expect(ids.toSorted()).toEqual(asked.map(({ id }) => id).toSorted());
    });

    it('are handed out again when a lease ends, and the first worker learns that it was lost', async () => {
      const { here, id } = await started();
      expect((await claim('first'))?.id).toBe(id);
      const first = present(await here.investigations.get(id));
      expect(await claim('second', now + 999)).toBeUndefined();
      expect((await claim('second', now + 1_000))?.id).toBe(id);
      const { directory } = stage().storage;
      expect(await directory.renewInvestigation(id, lease('first', now + 1_001, 1_000))).toBe(false);
      expect(await directory.renewInvestigation(id, lease('second', now + 1_001, 1_000))).toBe(true);
      expect(await here.investigations.get(id)).toEqual(first);
    });

    it('take nothing any more from one that lost its lease', async () => {
      const { here, id, chat } = await started();
      await claim('first');
      await here.investigations.addStep(id, newStep(1), 'first');
      await claim('second', now + 1_000);
      for (const late of [
        here.investigations.addStep(id, newStep(2), 'first'),
        here.investigations.finish(id, completed, 'first'),
      ]) {
        expect(await refusal(late)).toBe('conflict');
      }
      expect((await here.investigations.steps(id)).map(({ seq }) => seq)).toEqual([1]);
      expect((await here.investigations.get(id))?.status).toBe('running');
      await here.investigations.addStep(id, newStep(2), 'second');
      await here.investigations.finish(id, completed, 'second');
      expect((await here.investigations.steps(id)).map(({ seq }) => seq)).toEqual([1, 2]);
      expect((await here.chats.get(chat.id))?.status).toBe('completed');
    });

    it('write a document while they are held, and after the version it was made from', async () => {
      const { here, there, id } = await started();
      const incident = await here.incidents.create(newIncident(), ada);
      await claim('first');
      const write = (holder: string, after: number) =>
        here.incidents.writeDocument(incident.id, `after ${after}`, agent, { after, held: { id, holder } });
      await write('first', 0);
      await there.incidents.writeDocument(incident.id, 'by a person', ada);
      expect(await refusal(write('first', 1))).toBe('conflict');
      await write('first', 2);
      await claim('second', now + 1_000);
      expect(await refusal(write('first', 3))).toBe('conflict');
      expect(await refusal(write('nobody', 3))).toBe('conflict');
      expect(await there.incidents.document(incident.id)).toMatchObject({ version: 3, markdown: 'after 2' });
    });

    it('stay with a worker that renews its lease', async () => {
      const { here, id } = await started();
      await claim('w');
      const { directory } = stage().other;
      expect(await directory.renewInvestigation(id, lease('w', now + 900, 1_000))).toBe(true);
      expect(await claim('other', now + 1_500)).toBeUndefined();
      await here.investigations.finish(id, completed);
      expect(await directory.renewInvestigation(id, lease('w', now + 1_600, 1_000))).toBe(false);
      expect(await directory.renewInvestigation(newId('inv'), lease('w', now, 1_000))).toBe(false);
    });

    it('are handed out again by a clock that was set back after the lease was given', async () => {
      const taken = async (at: number): Promise<readonly string[]> => {
        const ids: string[] = [];
        for (let one = await claim('alive', at); one; one = await claim('alive', at)) ids.push(one.id);
        return ids;
      };
      for (const backMs of [3_600_000, 86_400_000]) {
        await taken(now);
        const { here, id } = await started();
        expect((await claim('dead'))?.id).toBe(id);
        expect(await taken(now - 5_000)).not.toContain(id);
        expect(await taken(now - backMs)).toContain(id);
        await here.investigations.finish(id, completed);
      }
    });

    it('of one chat run one after the other', async () => {
      const { here, there, chat, id } = await started();
      await claim('w');
      await here.chats.reply(chat.id, { message: 'and this?', author: ada, engine: 'e' });
      await there.chats.reply(chat.id, { message: 'and that?', author: ada, engine: 'e' });
      const [queued, ...rest] = await here.investigations.ofChat(chat.id);
      expect(rest.map((investigation) => investigation.id)).toEqual([id]);
      expect(queued?.status).toBe('queued');
      expect(await claim('x')).toBeUndefined();

      await here.investigations.finish(id, completed);
      expect((await here.chats.get(chat.id))?.status).toBe('running');
      expect((await claim('x'))?.id).toBe(queued?.id);
      await here.investigations.finish(present(queued).id, completed);
      expect((await here.chats.get(chat.id))?.status).toBe('completed');
    });

    it('keep their steps field by field and in order', async () => {
      const { here, there, id } = await started();
      const odd = newStep(2, {
        question: awkward,
        sql: awkward,
        rows: [[awkward, null, true, 1e300, '', [1, { deep: [awkward] }]]],
        observation: awkward,
        verdict: 'refutes',
        error: awkward,
      });
      const steps = [newStep(1), odd, newStep(10)];
      for (const step of steps.toReversed()) await here.investigations.addStep(id, step);
      expect(await there.investigations.steps(id)).toEqual(steps);
    });

    it('keep the first step of a number when a resumed run, or two workers at once, record it again', async () => {
      const { here, there, id } = await started();
      await here.investigations.addStep(id, newStep(1, { observation: 'first' }));
      await Promise.all(
        [here, there, here].map(({ investigations }) =>
          investigations.addStep(id, newStep(1, { observation: 'again' })),
        ),
      );
      expect((await here.investigations.steps(id)).map(({ observation }) => observation)).toEqual(['first']);
    });

    it('tell their chat how they ended, in the same moment', async () => {
      const results: readonly InvestigationResult[] = [
        completed,
        {
          status: 'waiting',
          message: 'Which region?',
          author: agent,
          parts: [{ type: 'question', text: 'Which region?' }],
        },
        { status: 'failed', failure: 'The warehouse was away.', message: 'It failed.', author: ada },
        { status: 'cancelled' },
      ];
      for (const result of results) {
        const { here, there, chat, id } = await started();
        await claim('w');
        await here.investigations.finish(id, result);
        const after = present(await there.chats.get(chat.id));
        expect(after.status).toBe(result.status);
        expect(after.updatedAt.getTime()).toBeGreaterThan(chat.updatedAt.getTime());
        const [closing] = await there.chats.messages(chat.id, { afterSeq: 1, limit: 5 });
        expect(after.lastSeq).toBe(closing?.seq ?? 1);
        if (result.status === 'cancelled') expect(closing).toBeUndefined();
        else {
          expect(closing).toMatchObject({
            role: result.author.kind === 'agent' ? 'agent' : 'system',
            author: result.author,
            content: result.message,
            parts: result.parts ?? [],
          });
        }
        const ended = present(await there.investigations.get(id));
        expect(ended.status).toBe(result.status);
        expect(ended.failure).toBe(result.status === 'failed' ? result.failure : undefined);
        expect(ended.finishedAt === undefined).toBe(result.status === 'waiting');
      }
    });

    it('end once, whoever says so again', async () => {
      const { here, there, chat, id } = await started();
      await claim('w');
      await Promise.all([
        here.investigations.finish(id, completed),
        there.investigations.finish(id, completed),
        here.investigations.finish(id, { status: 'failed', failure: 'x', message: 'x', author: agent }),
      ]);
      const ended = await here.investigations.get(id);
      const messages = await here.chats.messages(chat.id, { limit: 10 });
      expect(messages).toHaveLength(2);
      await there.investigations.finish(id, { status: 'cancelled' });
      expect(await here.investigations.get(id)).toEqual(ended);
      expect(await here.chats.messages(chat.id, { limit: 10 })).toEqual(messages);
    });

    it('that were cancelled cannot be ended otherwise, nor be claimed', async () => {
      const { here, chat, id } = await started();
      await claim('w');
      const cancelled = await here.chats.cancel(chat.id, ada);
      expect(await stage().storage.directory.renewInvestigation(id, lease('w', now, 1_000))).toBe(false);
      await here.investigations.finish(id, completed);
      expect(await here.chats.get(chat.id)).toEqual(cancelled);
      expect((await here.investigations.get(id))?.status).toBe('cancelled');
      expect(await claim('x', now + 5_000)).toBeUndefined();
    });

    it('that wait on a person go on with their evidence when the answer comes', async () => {
      const { here, there, chat, id } = await started();
      await claim('w');
      await here.investigations.addStep(id, newStep(1));
      const question: InvestigationResult = { status: 'waiting', message: 'Which region?', author: agent };
      await here.investigations.finish(id, question);
      expect(await claim('w', now + 5_000)).toBeUndefined();

      await there.chats.reply(chat.id, { message: 'Europe', author: ada, engine: 'e' });
      expect((await here.investigations.ofChat(chat.id)).map((one) => [one.id, one.status])).toEqual([[id, 'queued']]);
      // A late repetition of the first end does not end what goes on.
      await here.investigations.finish(id, question);
      expect((await here.chats.get(chat.id))?.status).toBe('running');
      expect((await claim('w'))?.id).toBe(id);
      expect(await here.investigations.steps(id)).toHaveLength(1);
    });

    it('keep their chat waiting for as long as a question stands, whatever else ends in it', async () => {
      const question: InvestigationResult = { status: 'waiting', message: 'Which region?', author: agent };
      for (const other of [completed, { status: 'failed', failure: 'x', message: 'x', author: agent } as const]) {
        const { here, there, chat, id } = await started();
        await claim('w');
        await here.chats.reply(chat.id, { message: 'and this?', author: ada, engine: 'e' });
        await here.investigations.finish(id, question);
        expect((await there.chats.get(chat.id))?.status).toBe('running');
        const second = present(await claim('w'));
        expect(second.id).not.toBe(id);
        await here.investigations.finish(second.id, other);
        expect((await there.chats.get(chat.id))?.status).toBe('waiting');

        await there.chats.reply(chat.id, { message: 'Europe', author: ada, engine: 'e' });
        expect((await claim('w'))?.id).toBe(id);
        await here.investigations.finish(id, completed);
        expect((await there.chats.get(chat.id))?.status).toBe('completed');
      }
    });

    it('that are answered are asked anew: their now is that of the answer', async () => {
      const { here, chat, id } = await started();
      const { askedAt } = present(await here.investigations.get(id));
      await claim('w');
      await here.investigations.finish(id, { status: 'waiting', message: 'Which region?', author: agent });
      await eventually(async () => Date.now() > askedAt.getTime());
      const { message } = await here.chats.reply(chat.id, { message: 'Europe', author: ada, engine: 'e' });
      expect((await here.investigations.get(id))?.askedAt).toEqual(message.time);
      expect(message.time.getTime()).toBeGreaterThan(askedAt.getTime());
    });

    it('that an alert began and that wait are joined by a chat about their incident', async () => {
      const workspace = await stage().workspace();
      const { id: incidentId } = await workspace.incidents.create(newIncident(), ada);
      const alert = await workspace.investigations.enqueue({ incidentId, engine: 'e' });
      await claim('w');
      await workspace.investigations.finish(alert.id, { status: 'waiting', message: 'Who?', author: agent });

      const { chat } = await workspace.chats.start(newChat({ incidentId }));
      expect((await workspace.investigations.ofChat(chat.id)).map((one) => [one.id, one.status])).toEqual([
        [alert.id, 'queued'],
      ]);
      const { chat: second } = await workspace.chats.start(newChat({ incidentId }));
      expect((await workspace.investigations.ofChat(second.id)).map((one) => one.id)).not.toContain(alert.id);
      expect(await workspace.investigations.ofIncident(incidentId)).toHaveLength(2);
    });

    it('that nobody works on may be ended too', async () => {
      const { here, chat, id } = await started();
      await here.investigations.finish(id, completed);
      expect((await here.chats.get(chat.id))?.status).toBe('completed');
      expect((await here.investigations.get(id))?.startedAt).toBeInstanceOf(Date);
    });
  });
}

import { incidentRules, resolutions, type IncidentPatch } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  awkward,
  bob,
  conclusion,
  type MakeStorage,
  newChat,
  newIncident,
  ownStage,
  present,
  refusal,
} from './stage.ts';

/** From the question behind an incident to how it ended: who is asked, who answers, what is written down of it. */
export function incidentLifePromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('what is kept of an incident', () => {
    const stage = ownStage(runner, make);

    it('is the first version of its document and the newest', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident({ document: 'version 1' }), ada);
      const most = incidentRules.documentVersions;
      for (let version = 2; version <= most + 3; version += 1) {
        await here.incidents.writeDocument(id, `version ${version}`, agent);
      }
      const kept = await there.incidents.documentVersions(id);
      expect(kept.map(({ version }) => version)).toEqual([
        ...Array.from({ length: most - 1 }, (_, index) => most + 3 - index),
        1,
      ]);
      expect(await there.incidents.document(id, 1)).toMatchObject({ markdown: 'version 1', author: ada });
      expect(await there.incidents.document(id, 4)).toBeUndefined();
      expect(await there.incidents.document(id)).toMatchObject({ version: most + 3 });
    });

    it('is the first entry of its timeline, the last change of status, what people did, and the newest', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident(), ada);
      await incidents.update(id, { status: 'investigating' }, bob);
      await incidents.update(id, { status: 'identified' }, bob);
      const most = incidentRules.timelineEntries;
      const turns = most / 5 + 2;
      for (let turn = 0; turn < turns; turn += 1) {
        const severity = turn % 2 === 0 ? 'low' : 'medium';
        const text = `turn ${turn}`;
        await incidents.update(id, { title: text, summary: text, severity, services: [text], assignee: text }, agent);
      }
      const entries = await incidents.timeline(id);
      expect(entries).toHaveLength(most);
      expect(entries.slice(0, 3).map(({ change, to }) => [change, to])).toEqual([
        ['created', 'triage'],
        ['status', 'investigating'],
        ['status', 'identified'],
      ]);
      expect(entries.at(-1)).toMatchObject({ change: 'assignee', to: `turn ${turns - 1}` });
    });
  });

  describe('how an incident ends', () => {
    const stage = ownStage(runner, make);

    it('is kept with it, and taken back when it is opened again', async () => {
      const [here, there] = await stage().workspaces();
      for (const kind of resolutions.filter((each) => each !== 'duplicate')) {
        const { id } = await here.incidents.create(newIncident(), ada);
        const resolved = await here.incidents.update(id, { status: 'resolved', resolution: { kind } }, ada);
        expect(resolved.resolution).toEqual({ kind });
        expect(await there.incidents.get(id)).toEqual(resolved);
        expect((await there.incidents.list({ limit: 1 })).items[0]?.resolution).toEqual({ kind });
        const reopened = await here.incidents.update(id, { status: 'investigating' }, bob);
        expect(Object.keys(reopened)).not.toContain('resolution');
        const changes = (await there.incidents.timeline(id)).filter(({ change }) => change === 'resolution');
        expect(changes.map(({ actor, from, to }) => [actor, from, to])).toEqual([
          [ada, undefined, kind],
          [bob, kind, undefined],
        ]);
      }
    });

    it('may be said afterwards, also of one that is dismissed, and corrected', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident({ status: 'dismissed' }), ada);
      await incidents.update(id, { resolution: { kind: 'other' } }, ada);
      const corrected = await incidents.update(id, { resolution: { kind: 'false_positive' } }, ada);
      expect(corrected).toMatchObject({ status: 'dismissed', resolution: { kind: 'false_positive' } });
      expect((await incidents.timeline(id)).at(-1)).toMatchObject({ from: 'other', to: 'false_positive' });
    });

    it('names the incident that a duplicate repeats, one that there is and another', async () => {
      const { incidents } = await stage().workspace();
      const [original, repeated] = [
        await incidents.create(newIncident(), ada),
        await incidents.create(newIncident({ status: 'resolved' }), ada),
      ];
      const end = (resolution: NonNullable<IncidentPatch['resolution']>) =>
        incidents.update(repeated.id, { resolution }, ada);
      expect((await end({ kind: 'duplicate', duplicateOf: original.key })).resolution).toEqual({
        kind: 'duplicate',
        duplicateOf: 'INC-1',
      });
      expect((await incidents.timeline(repeated.id)).at(-1)?.to).toBe('duplicate of INC-1');
      expect(await refusal(end({ kind: 'duplicate' }))).toBe('invalid_argument');
      expect(await refusal(end({ kind: 'fixed', duplicateOf: original.key }))).toBe('invalid_argument');
      expect(await refusal(end({ kind: 'duplicate', duplicateOf: repeated.key }))).toBe('invalid_argument');
      expect(await refusal(end({ kind: 'duplicate', duplicateOf: 'INC-99' }))).toBe('not_found');
      expect(await refusal(end({ kind: 'duplicate', duplicateOf: awkward }))).toBe('not_found');
    });

    it('is refused for one that is open', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident(), ada);
      expect(await refusal(incidents.update(id, { resolution: { kind: 'fixed' } }, ada))).toBe('conflict');
    });
  });

  describe('who cares for an incident', () => {
    const stage = ownStage(runner, make);

    it('may be nobody again', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident({ assignee: 'ada@example.org' }), ada);
      const freed = await incidents.update(id, { assignee: null }, bob);
      expect(Object.keys(freed)).not.toContain('assignee');
      expect(await incidents.get(id)).toEqual(freed);
      const last = present((await incidents.timeline(id)).at(-1));
      expect([last.change, last.from, last.to]).toEqual(['assignee', 'ada@example.org', undefined]);
    });

    it('is written down with the reason why it waits', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident(), ada);
      await incidents.update(
        id,
        { waitingOn: { party: 'human', name: 'ada@example.org', reason: 'Which one?' } },
        agent,
      );
      await incidents.update(
        id,
        { waitingOn: { party: 'human', name: 'ada@example.org', reason: 'Roll back?' } },
        agent,
      );
      const [first, second] = (await incidents.timeline(id)).slice(-2);
      expect([first?.from, first?.to]).toEqual(['none', 'human: ada@example.org (Which one?)']);
      expect([second?.from, second?.to]).toEqual([first?.to, 'human: ada@example.org (Roll back?)']);
    });
  });

  describe('the versions of a document', () => {
    const stage = ownStage(runner, make);

    it('can all be read, the newest first', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident({ document: 'one' }), ada);
      await here.incidents.writeDocument(id, awkward, agent);
      await here.incidents.writeDocument(id, 'three', bob);
      const versions = await there.incidents.documentVersions(id);
      expect(versions.map(({ version, author }) => [version, author])).toEqual([
        [3, bob],
        [2, agent],
        [1, ada],
      ]);
      for (const [version, markdown] of [
        [1, 'one'],
        [2, awkward],
        [3, 'three'],
      ] as const) {
        const about = present(versions.find((each) => each.version === version));
        expect(await there.incidents.document(id, version)).toEqual({ ...about, markdown });
      }
      for (const version of [0, 4, -1]) expect(await there.incidents.document(id, version)).toBeUndefined();
    });
  });

  describe('what an investigation asks', () => {
    const stage = ownStage(runner, make);
    const waiting = async () => {
      const [here, there] = await stage().workspaces();
      const incident = await here.incidents.create(newIncident(), ada);
      const { id } = await here.investigations.enqueue({ incidentId: incident.id, engine: 'playbook' });
      await here.investigations.finish(id, { status: 'waiting', message: awkward, author: agent });
      return { here, there, incident, id };
    };

    it('is kept until a chat answers it, in which it stands first', async () => {
      const { here, there, incident, id } = await waiting();
      expect(await there.investigations.get(id)).toMatchObject({ status: 'waiting', question: awkward });
      const { chat, message } = await there.chats.start(newChat({ incidentId: incident.id, message: 'eu-west' }));
      expect(message).toMatchObject({ seq: 2, role: 'user', content: 'eu-west' });
      expect(chat).toMatchObject({ status: 'running', lastSeq: 2 });
      expect(await here.chats.get(chat.id)).toEqual(chat);
      const messages = await here.chats.messages(chat.id, { limit: 9 });
      expect(messages.map(({ seq, role, content }) => [seq, role, content])).toEqual([
        [1, 'agent', awkward],
        [2, 'user', 'eu-west'],
      ]);
      expect(messages[0]?.parts).toEqual([{ type: 'question', text: awkward }]);
      const [joined, ...others] = await here.investigations.ofIncident(incident.id);
      expect(others).toEqual([]);
      expect(joined).toMatchObject({ id, chatId: chat.id, status: 'queued' });
      expect(Object.keys(present(joined))).not.toContain('question');
    });

    it('is answered by one of two chats that are started at once', async () => {
      const { here, there, incident } = await waiting();
      const chats = await Promise.all(
        [here, there].map((each) => each.chats.start(newChat({ incidentId: incident.id }))),
      );
      const investigations = await here.investigations.ofIncident(incident.id);
      expect(investigations.map(({ status }) => status)).toEqual(['queued', 'queued']);
      expect(new Set(investigations.map(({ chatId }) => chatId))).toEqual(new Set(chats.map(({ chat }) => chat.id)));
    });
  });

  describe('what an investigation does', () => {
    const stage = ownStage(runner, make);

    it('can be read by everybody while it runs, and no longer', async () => {
      const [here, there] = await stage().workspaces();
      const { chat } = await here.chats.start(newChat());
      const { id } = present((await here.investigations.ofChat(chat.id))[0]);
      const doing = async () => (await there.investigations.get(id))?.doing;
      await here.investigations.progress(id, 'not begun');
      expect(await doing()).toBeUndefined();
      const now = new Date(Date.now() + 1_000);
      await stage().storage.directory.claimInvestigation({ holder: 'w', now, until: new Date(now.getTime() + 9_000) });
      await here.investigations.progress(id, awkward);
      await here.investigations.progress(id, 'second');
      expect(await doing()).toBe('second');
      await here.investigations.finish(id, { status: 'completed', conclusion, message: 'done', author: agent });
      expect(await doing()).toBeUndefined();
    });

    it('may end with an answer and no conclusion', async () => {
      const workspace = await stage().workspace();
      const { chat } = await workspace.chats.start(newChat());
      const { id } = present((await workspace.investigations.ofChat(chat.id))[0]);
      await workspace.investigations.finish(id, { status: 'completed', message: 'As I said.', author: agent });
      const ended = present(await workspace.investigations.get(id));
      expect(ended.status).toBe('completed');
      expect(Object.keys(ended)).not.toContain('conclusion');
      expect((await workspace.chats.get(chat.id))?.status).toBe('completed');
    });
  });
}

import { newId, type ChatId } from '../../../src/contract/core/index.ts';
import { auditSeals, chainRecords, type AuditRecord, type Workspace } from '../../../src/contract/storage/index.ts';
import { testHost } from '../host.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  conclusion,
  eventually,
  inAnHour,
  type MakeStorage,
  newChat,
  newIncident,
  newStep,
  present,
  sharedStage,
} from './stage.ts';

/** What is older than it is wanted goes, a little at a time; everything else stays. */
export function retentionPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;
  const record = (at: number): AuditRecord => ({
    at: new Date(at),
    event: 'tool.call',
    subject: 'ak_x',
    requestId: `r${at}`,
    target: 'query_otel',
    outcome: 'ok',
  });
  const all = async (remove: () => Promise<number>): Promise<number> => {
    let removed = 0;
    await eventually(async () => {
      const batch = await remove();
      removed += batch;
      return batch === 0;
    });
    return removed;
  };
  const finish = async ({ investigations }: Workspace, id: ChatId) => {
    const [investigation] = await investigations.ofChat(id);
    const found = present(investigation);
    await investigations.addStep(found.id, newStep(1));
    await investigations.finish(found.id, { status: 'completed', conclusion, message: 'done', author: agent });
    return found;
  };

  describe('retention', () => {
    const stage = sharedStage(runner, make);

    it('removes audit records that are older, some at a time, and no others', async () => {
      const [here, there] = await stage().workspaces();
      await here.audit.append(Array.from({ length: 3_000 }, (_, index) => record(index + 1)));
      const first = await here.retention.removeAudit(new Date(2_999));
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThanOrEqual(1_000);
      expect(first + (await all(() => there.retention.removeAudit(new Date(2_999))))).toBe(2_998);
      expect((await here.audit.list({ limit: 10 })).map(({ requestId }) => requestId)).toEqual(['r3000', 'r2999']);
    });

    it('cuts chains of the audit at their beginning, and seals the place', async () => {
      const { vault } = testHost('.');
      const storage = await stage().open({ vault });
      const { id } = await stage().organization();
      const { audit, retention } = storage.workspace(id);
      // The second was written late: what is newer than the retention holds back what is behind it.
      await audit.append([record(1), record(9), record(2), record(12)]);
      expect(await all(() => retention.removeAudit(new Date(5)))).toBe(1);
      expect(await all(() => retention.removeAudit(new Date(10)))).toBe(2);
      const [chain] = await audit.chains({ after: 0, limit: 10 });
      const { cut, head } = present(chain);
      const [left] = await audit.records({ chain: 1, after: 0, limit: 10 });
      expect([cut?.seq, head.seq, left?.seq]).toEqual([3, 4, 4]);
      expect(cut && auditSeals(vault, id).cut.fits(cut.seal, 1, cut)).toBe(true);
      expect(cut && chainRecords(id, 1, cut, [record(12)])).toEqual([left]);
      expect(await all(() => retention.removeAudit(inAnHour()))).toBe(1);
      await audit.append([record(20)]);
      expect((await audit.records({ chain: 1, after: 0, limit: 10 })).map(({ seq }) => seq)).toEqual([5]);
    });

    it('removes finished chats with all that belongs to them', async () => {
      const workspace = await stage().workspace();
      const { chats, investigations, retention } = workspace;
      const key = 'again';
      const { chat, message } = await chats.start(newChat({ idempotencyKey: key }));
      const { id } = await finish(workspace, chat.id);
      expect(await all(() => retention.removeChats(inAnHour()))).toBe(1);
      expect(await chats.get(chat.id)).toBeUndefined();
      expect(await chats.message(chat.id, message.id)).toBeUndefined();
      expect(await investigations.get(id)).toBeUndefined();
      expect(await investigations.steps(id)).toEqual([]);
      // What the idempotency key stood for is gone, so it stands for something new.
      expect((await chats.start(newChat({ idempotencyKey: key }))).chat.id).not.toBe(chat.id);
    });

    it('leaves chats that run or changed since', async () => {
      const workspace = await stage().workspace();
      const { chats, retention } = workspace;
      const running = await chats.start(newChat());
      const reopened = await chats.start(newChat());
      await finish(workspace, reopened.chat.id);
      await chats.reply(reopened.chat.id, { message: 'and now?', author: ada, engine: 'e' });
      expect(await retention.removeChats(inAnHour())).toBe(0);
      await chats.cancel(running.chat.id, ada);
      const { updatedAt } = present(await chats.get(running.chat.id));
      expect(await retention.removeChats(updatedAt)).toBe(0);
      expect(await retention.removeChats(new Date(updatedAt.getTime() + 1))).toBe(1);
      expect(await chats.get(reopened.chat.id)).toMatchObject({ status: 'running' });
    });

    it('leaves an incident the investigation that was made of it in a chat', async () => {
      const workspace = await stage().workspace();
      const { chats, incidents, investigations, retention } = workspace;
      const incident = await incidents.create(newIncident(), ada);
      const { chat } = await chats.start(newChat({ incidentId: incident.id }));
      const { id } = await finish(workspace, chat.id);
      expect(await all(() => retention.removeChats(inAnHour()))).toBe(1);
      const [kept] = await investigations.ofIncident(incident.id);
      expect(kept).toMatchObject({ id, status: 'completed', conclusion });
      expect(Object.keys(present(kept))).not.toContain('chatId');
      expect(await investigations.steps(id)).toEqual([newStep(1)]);
    });
  });

  describe('retention of incidents', () => {
    const stage = sharedStage(runner, make);

    it('removes those that are over with all that belongs to them, and leaves chats what was investigated in them', async () => {
      const workspace = await stage().workspace();
      const { alerts, chats, incidents, investigations, retention } = workspace;
      const open = await incidents.create(newIncident({ document: '# Open' }), ada);
      const source = { id: newId('als'), name: 'Alertmanager' };
      const notice = {
        fingerprint: 'f',
        status: 'firing',
        title: 'Errors',
        severity: 'high',
        startsAt: new Date(),
        labels: {},
        services: ['removed'],
      } as const;
      const [key] = (await alerts.record([{ source, notices: [notice] }], 'e')).opened;
      const over = present(await incidents.get(present(key)));
      await incidents.writeDocument(over.id, '# Over', ada);
      const { chat } = await chats.start(newChat({ incidentId: over.id }));
      const { id } = await finish(workspace, chat.id);
      const [, queued] = await investigations.ofIncident(over.id);
      expect(await retention.removeIncidents(inAnHour())).toBe(0);

      const { updatedAt } = await incidents.update(over.id, { status: 'resolved' }, ada);
      expect(await retention.removeIncidents(updatedAt)).toBe(0);
      expect(await all(() => retention.removeIncidents(new Date(updatedAt.getTime() + 1)))).toBe(1);
      expect(await incidents.get(over.key)).toBeUndefined();
      expect(await incidents.document(over.id)).toBeUndefined();
      expect(await incidents.timeline(over.id)).toEqual([]);
      expect(await alerts.ofIncident(over.id)).toEqual({ listed: [], total: 0, active: 0 });
      expect(await investigations.get(present(queued).id)).toBeUndefined();
      expect(Object.keys(present(await chats.get(chat.id)))).not.toContain('incidentId');
      const kept = present(await investigations.get(id));
      expect(kept).toMatchObject({ chatId: chat.id, conclusion });
      expect(Object.keys(kept)).not.toContain('incidentId');
      expect(await incidents.document(open.id)).toMatchObject({ markdown: '# Open' });
      // What goes on firing is a matter of its own.
      expect((await alerts.record([{ source, notices: [notice] }], 'e')).opened).toHaveLength(1);
    });
  });

  describe('a turn', () => {
    const stage = sharedStage(runner, make);
    const now = new Date(1_800_000_000_000);
    const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);

    it("is one process's of all that ask, until its time is over", async () => {
      const ask = (at: Date) =>
        Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            (index % 2 === 0 ? stage().storage : stage().other).directory.takeTurn('sweep', at, 60_000),
          ),
        );
      const count = async (at: Date) => (await ask(at)).filter(Boolean).length;
      expect(await count(now)).toBe(1);
      expect(await count(after(59_999))).toBe(0);
      expect(await count(after(60_000))).toBe(1);
      expect(await stage().storage.directory.takeTurn('another', after(60_000), 60_000)).toBe(true);
      expect(await stage().other.directory.lastTurn('sweep')).toEqual(after(60_000));
      expect(await stage().other.directory.lastTurn('never')).toBeUndefined();
    });

    it('comes back where a clock was far ahead', async () => {
      const { directory } = stage().storage;
      expect(await directory.takeTurn('clock', after(1_000_000), 60_000)).toBe(true);
      expect(await directory.takeTurn('clock', now, 60_000)).toBe(true);
      expect(await directory.takeTurn('clock', now, 60_000)).toBe(false);
      expect(await directory.lastTurn('clock')).toEqual(now);
    });
  });
}

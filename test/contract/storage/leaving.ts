import { hashSecret, newId } from '../../../src/contract/core/index.ts';
import {
  auditSeals,
  chainRoot,
  deletedPerson,
  recordHash,
  type Actor,
  type AuditRecord,
  type Storage,
  type TransferRow,
  type User,
  type Workspace,
} from '../../../src/contract/storage/index.ts';
import { testHost } from '../host.ts';
import type { Runner } from '../runner.ts';
import {
  agent,
  inAnHour,
  inTurn,
  type MakeStorage,
  newChat,
  newGrant,
  newIncident,
  newInvitation,
  newKey,
  newScimToken,
  newSession,
  ownStage,
  present,
  refusal,
  type Stage,
} from './stage.ts';

/** How people leave: shut out at once, or removed with all that tells of them. */
export function leavingPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('a person who leaves', () => {
    const stage = ownStage(runner, make);
    const people = () => stage().other.directory.people;

    it('loses session, applications, invitations and keys at once, and the account is disabled', async () => {
      const [here, there] = await two(stage());
      const [user, colleague] = [await stage().member(here), await stage().member(here)];
      await there.members.add(user.id, 'member');
      const { directory } = stage().storage;
      const left = [await act(stage(), here, user), await act(stage(), there, user)];
      const stays = await act(stage(), here, colleague);
      expect(await people().endAccess(newId('usr'))).toBeUndefined();
      const ended = present(await people().endAccess(user.id));
      expect(new Map(ended.map(({ organizationId, keys }) => [organizationId, keys]))).toEqual(
        new Map(left.map(({ organizationId, key }) => [organizationId, [key.id]])),
      );
      for (const each of left) expect(await alive(directory, each)).toEqual([false, false, false, false, false]);
      expect(await alive(directory, stays)).toEqual([true, true, true, true, true]);
      expect((await directory.findUser(user.id))?.enabled).toBe(false);
      expect(await directory.people.memberships(user.id)).toHaveLength(2);
    });

    it('leaves one organization and keeps what is of another', async () => {
      const [here, there] = await two(stage());
      const user = await stage().member(here);
      await there.members.add(user.id, 'admin');
      const [gone, kept] = [await act(stage(), here, user), await act(stage(), there, user)];
      const { directory } = stage().storage;
      expect(await people().endAccess(user.id, here.organizationId)).toEqual([
        { organizationId: here.organizationId, member: true, keys: [gone.key.id] },
      ]);
      expect(await alive(directory, gone)).toEqual([false, false, false, false, false]);
      expect(await alive(directory, kept)).toEqual([true, true, true, true, true]);
      expect(await directory.findUser(user.id)).toEqual(user);
      expect((await directory.people.memberships(user.id)).map(({ role }) => role)).toEqual(['admin']);
    });

    it('is nobody’s matter in an organization that they are no member of', async () => {
      const [here, there] = await two(stage());
      const user = await stage().member(here);
      const own = await act(stage(), here, user);
      expect(await people().endAccess(user.id, there.organizationId)).toEqual([
        { organizationId: there.organizationId, member: false, keys: [] },
      ]);
      expect(await people().erase(user.id, { organizationId: there.organizationId, chats: 'delete' })).toMatchObject({
        account: false,
      });
      expect(await alive(stage().storage.directory, own)).toEqual([true, true, true, true, true]);
    });

    it('is found nowhere once deleted, and what others did stays', async () => {
      const [here, there] = await two(stage());
      const [user, colleague] = [await stage().member(here), await stage().member(here)];
      await there.members.add(user.id, 'member');
      for (const workspace of [here, there]) await write(stage(), workspace, user);
      const theirs = await write(stage(), here, colleague);
      const erased = present(await people().erase(user.id, { chats: 'delete' }));
      expect({ account: erased.account, user: erased.user }).toEqual({ account: true, user });
      for (const word of [user.id, user.email, user.name]) expect(await found(stage().storage, word)).toEqual([]);
      const { items } = await here.chats.list({ limit: 10 });
      expect(items.map(({ createdBy }) => createdBy.name)).toEqual([colleague.name, colleague.name]);
      expect(items.map(({ id }) => id)).toContain(theirs);
      expect(await people().erase(user.id, { chats: 'delete' })).toBeUndefined();
      // The address is free for somebody else.
      expect((await stage().storage.directory.createUser(user)).id).not.toBe(user.id);
    });

    it('leaves chats behind where they are to stay, without a name', async () => {
      const [here] = await two(stage());
      const user = await stage().member(here);
      const chat = await write(stage(), here, user);
      await people().erase(user.id, { chats: 'keep' });
      expect((await here.chats.get(chat))?.createdBy).toEqual(deletedPerson);
      expect((await here.chats.messages(chat, { limit: 10 })).map(({ author }) => author)).toEqual([deletedPerson]);
      for (const word of [user.id, user.email, user.name]) expect(await found(stage().storage, word)).toEqual([]);
    });

    it('takes nothing from a colleague of the same name, nor one whose address it is, and no one word besides', async () => {
      const [here, there] = await two(stage());
      const colleague = await stage().member(here);
      for (const name of [colleague.name, colleague.email, 'severity', 'human', 'high', 'title']) {
        const user = await stage().storage.directory.createUser({ email: `${newId('usr')}@example.org`, name });
        for (const workspace of [here, there]) await workspace.members.add(user.id, 'member');
        const shared = name === colleague.name || name === colleague.email;
        const of = async (workspace: Workspace) => {
          const { id } = await workspace.webhooks.create({
            id: newId('whk'),
            url: 'https://hook.example/',
            events: ['incident.created', 'incident.updated'],
            sealedSecret: 'sealed',
          });
          const incident = await workspace.incidents.create(
            newIncident({ title: name, services: [name], environment: name, assignee: name }),
            actorOf(user),
          );
          const waitingOn = { party: 'human', name, reason: `${name} asked` } as const;
          await workspace.incidents.update(incident.id, { waitingOn }, agent);
          await workspace.incidents.update(incident.id, { severity: 'low', assignee: user.email }, actorOf(user));
          await workspace.incidents.update(incident.id, { assignee: name }, actorOf(user));
          return { id, incident };
        };
        const [one, other] = [await of(here), await of(there)];
        await people().erase(user.id, { chats: 'delete' });
        for (const [workspace, { id, incident }, stays] of [
          [here, one, shared],
          [there, other, false],
        ] as const) {
          const now = present(await workspace.incidents.get(incident.id));
          const who = stays ? name : deletedPerson.name;
          expect(now).toMatchObject({ title: name, services: [name], environment: name, severity: 'low' });
          expect([now.assignee, now.waitingOn.name]).toEqual(stays ? [name, name] : [undefined, undefined]);
          const timeline = await workspace.incidents.timeline(incident.id);
          expect(timeline.slice(-4)).toMatchObject([
            { change: 'waiting_on', to: `human: ${who} (${name} asked)` },
            { change: 'severity', from: 'high', to: 'low' },
            { change: 'assignee', from: who, to: deletedPerson.name },
            { change: 'assignee', from: deletedPerson.name, to: who },
          ]);
          const sent = (await rowsOf(stage().storage, 'webhook_messages', workspace))
            .filter((row) => row['webhook_id'] === id)
            .map((row): unknown => JSON.parse(String(row['data'])));
          const actor = { kind: 'user', name: who };
          const about = { title: name, services: [name], environment: name };
          const toWho = { change: 'assignee', from: deletedPerson.name, to: who };
          expect(sent).toMatchObject([
            { ...about, severity: 'high', actor },
            {
              waiting_on: { party: 'human', name: who, reason: `${name} asked` },
              actor: { kind: 'agent', name: agent.name },
            },
            {
              ...about,
              severity: 'low',
              actor,
              changes: [
                { change: 'severity', from: 'high', to: 'low' },
                { change: 'assignee', from: who, to: deletedPerson.name },
              ],
            },
            { changes: [toWho] },
          ]);
        }
      }
    });

    it('is deleted in one organization alone while another has the account', async () => {
      const [here, there] = await two(stage());
      const user = await stage().member(here);
      await there.members.add(user.id, 'member');
      const [, kept] = [await write(stage(), here, user), await write(stage(), there, user)];
      const how = { organizationId: here.organizationId, chats: 'delete' } as const;
      expect(await people().erase(user.id, how)).toMatchObject({ account: false });
      expect(await found(stage().storage, user.id, here)).toEqual([]);
      expect((await there.chats.get(kept))?.createdBy.id).toBe(user.id);
      expect(await stage().storage.directory.findUser(user.id)).toEqual(user);
      expect(await people().erase(user.id, { ...how, organizationId: there.organizationId })).toMatchObject({
        account: true,
      });
      expect(await found(stage().storage, user.id)).toEqual([]);
    });

    it('takes along the SQL that the audit kept of them and their keys, and the chain goes on to verify', async () => {
      const { vault } = testHost('.');
      const storage = await stage().open({ vault });
      const workspace = storage.workspace((await stage().organization()).id);
      const { audit, organizationId } = workspace;
      const [user, colleague] = [await stage().member(workspace), await stage().member(workspace)];
      const key = await workspace.keys.create(newKey({ createdBy: user.id }));
      const revoked = newId('ak');
      await audit.append([
        said(user.id, 'SELECT 1', { event: 'key.created', target: revoked }),
        said(user.id, 'SELECT 2'),
        said(colleague.id, 'SELECT 3'),
        said(key.id, 'SELECT 4'),
      ]);
      // A second chain, and more records than are erased at once.
      await stage()
        .storage.workspace(organizationId)
        .audit.append([said(user.id, 'SELECT 5')]);
      await audit.append(Array.from({ length: 1_100 }, () => said(revoked, 'SELECT 6')));
      await storage.directory.people.erase(user.id, { chats: 'delete' });
      expect(await statementsOf(workspace)).toEqual([[3], []]);
      // What a call under way wrote later is found when the deletion is finished.
      await audit.append([said(user.id, 'SELECT 7'), said(colleague.id, 'SELECT 8')]);
      await storage.directory.people.finishErasures(new Date(0));
      await storage.directory.people.finishErasures(inAnHour());
      expect(await statementsOf(workspace)).toEqual([[3, 8], []]);

      const [chain] = await audit.chains({ after: 0, limit: 1 });
      const { number, head } = present(chain);
      const { erasure } = auditSeals(vault, organizationId);
      let last = chainRoot(organizationId, present(chain));
      for (const each of [
        ...(await audit.records({ chain: number, after: 0, limit: 1_000 })),
        ...(await audit.records({ chain: number, after: 1_000, limit: 1_000 })),
      ]) {
        const { erased, ...chained } = each;
        const { seq, hash, record } = chained;
        const intact =
          erased === undefined
            ? recordHash(organizationId, number, seq, last.hash, record) === hash
            : erasure.fits(erased, number, last.hash, chained);
        expect([seq, intact, erased === undefined]).toEqual([last.seq + 1, true, record.statement !== undefined]);
        last = { seq, hash };
      }
      expect(last).toEqual({ seq: head.seq, hash: head.hash });
    });

    it('leaves nothing behind by what was under way, whether it came before or after', async () => {
      const [here, there] = await stage().workspaces();
      const user = await stage().member(here);
      const actor = actorOf(user);
      const { chat } = await here.chats.start(newChat({ author: actor }));
      const incident = await here.incidents.create(newIncident(), actorOf(await stage().member(here)));
      const grant = newGrant(user.id);
      await here.grants.create(grant);
      const { directory } = stage().other;
      const { organizationId } = here;
      const attempts: readonly (() => Promise<unknown>)[] = [
        () => there.chats.start(newChat({ author: actor })),
        () => there.chats.reply(chat.id, { author: actor, message: 'And now?', engine: 'playbook' }),
        () => there.chats.cancel(chat.id, actor),
        () => there.incidents.create(newIncident(), actor),
        () => there.incidents.update(incident.id, { title: newId('inc') }, actor),
        () => there.incidents.writeDocument(incident.id, 'What I know', actor),
        () => there.keys.create(newKey({ createdBy: user.id })),
        () => there.grants.create(newGrant(user.id)),
        () => there.invitations.create(newInvitation({ createdBy: user.id })),
        () => there.scimTokens.create({ ...newScimToken(), createdBy: user.id }),
        () => directory.sessions.create(newSession(user.id, { organizationId })),
        () => {
          const id = newId('it');
          return there.ingestTokens.create({ id, hash: id, sealed: 'sealed', createdBy: user.id });
        },
        () => {
          const id = newId('als');
          return there.alertSources.create({ id, name: id, plugin: 'webhook', sealed: 'sealed', createdBy: user.id });
        },
        () => {
          const key = { id: newId('adk'), hash: hashSecret(newId('sec')), name: 'CI', scopes: [], createdBy: user.id };
          return directory.adminKeys.create({ ...key, organizationId });
        },
        () => {
          const payload = JSON.stringify({ accountId: user.id });
          return directory.artifacts.upsert({ model: 'Grant', id: newId('sec'), payload, grantId: grant.id });
        },
      ];
      const rounds = 6;
      const under = Array.from({ length: rounds }, () =>
        attempts.map((attempt) => attempt().then(kept, refused)),
      ).flat();
      const erased = await people().erase(user.id, { chats: 'delete' });
      const results = [
        ...(await Promise.all(under)),
        ...(await inTurn(attempts, (each) => each().then(kept, refused))),
      ];
      expect(erased).toMatchObject({ account: true });
      for (const word of [user.id, user.email, user.name]) expect(await found(stage().storage, word)).toEqual([]);
      // Only an artifact of a grant that ended is dropped without a word: its token is refused by the grant.
      expect(results.slice(-attempts.length).filter((result) => result === 'kept')).toEqual(['kept']);
    });

    it('is not deleted as the last admin of any organization, and nothing changes', async () => {
      const [here, there] = await two(stage());
      const user = await stage().person();
      await here.members.add(user.id, 'member');
      await there.members.add(user.id, 'admin');
      const own = await act(stage(), here, user);
      expect(await refusal(people().erase(user.id, { chats: 'delete' }))).toBe('conflict');
      expect(await alive(stage().storage.directory, own)).toEqual([true, true, true, true, true]);
      await there.members.add((await stage().person()).id, 'admin');
      expect(await people().erase(user.id, { chats: 'delete' })).toMatchObject({ account: true });
    });
  });
}

async function two(stage: Stage): Promise<readonly [Workspace, Workspace]> {
  return [await stage.workspace(), await stage.workspace()];
}

function actorOf({ id, name }: User): Actor {
  return { kind: 'user', id, name };
}

/** A session, an application, a key and an invitation of a member. */
async function act(stage: Stage, workspace: Workspace, user: User) {
  const { organizationId } = workspace;
  const session = newSession(user.id, { organizationId });
  const grant = newGrant(user.id);
  const key = newKey({ createdBy: user.id });
  const invitation = newInvitation({ createdBy: user.id });
  await stage.storage.directory.sessions.create(session);
  await workspace.grants.create(grant);
  await workspace.keys.create(key);
  const admin = { id: newId('adk'), hash: hashSecret(newId('sec')), name: 'CI', scopes: [], createdBy: user.id };
  await stage.storage.directory.adminKeys.create({ ...admin, organizationId });
  await workspace.invitations.create(invitation);
  return { organizationId, session, grant, key, invitation, admin };
}

async function alive(
  { sessions, liveGrant, liveKey, people, adminKeys }: Storage['directory'],
  { session, grant, key, invitation, admin }: Awaited<ReturnType<typeof act>>,
): Promise<readonly boolean[]> {
  const looked = await Promise.all([
    sessions.find(session.hash),
    liveGrant(grant.id),
    liveKey(key.id, key.secret.id),
    people.invitation(invitation.hash),
    adminKeys.find(admin.hash),
  ]);
  return looked.map((each) => each !== undefined);
}

function said(subject: string, statement: string, more: Partial<AuditRecord> = {}): AuditRecord {
  const call = { event: 'tool.call', target: 'query_otel', outcome: 'ok' } as const;
  return { at: new Date(), requestId: 'r', subject, statement, ...call, ...more };
}

/** The numbers of `said` that are still there, of each chain. */
async function statementsOf({ audit }: Workspace): Promise<readonly (readonly number[])[]> {
  return inTurn(await audit.chains({ after: 0, limit: 10 }), async ({ number }) => {
    const first = await audit.records({ chain: number, after: 0, limit: 1_000 });
    const records = [...first, ...(await audit.records({ chain: number, after: 1_000, limit: 1_000 }))];
    return records.flatMap(({ record: { statement } }) =>
      statement === undefined ? [] : [Number(statement.replace('SELECT ', ''))],
    );
  });
}

const kept = (): 'kept' => 'kept';
const refused = (error: unknown): Promise<string> => refusal(Promise.reject(error));

/** Everything by which a member is known, in as many places as there are; answers their chat. */
async function write(stage: Stage, workspace: Workspace, user: User) {
  const actor = actorOf(user);
  const { directory } = stage.storage;
  await act(stage, workspace, user);
  if (!(await directory.people.hasIdentity(user.id))) {
    await directory.people.setPassword(user.id, 'hash');
    await directory.people.linkIdentity(user.id, 'https://idp.example', user.id);
  }
  await workspace.alertSources.create({
    id: newId('als'),
    name: newId('als'),
    plugin: 'webhook',
    sealed: 'sealed',
    createdBy: user.id,
  });
  const token = newId('it');
  await workspace.ingestTokens.create({ id: token, hash: token, sealed: 'sealed', createdBy: user.id });
  await workspace.scimTokens.create({ ...newScimToken(), createdBy: user.id });
  await workspace.webhooks.create({
    id: newId('whk'),
    url: 'https://hook.example/',
    events: ['incident.created', 'incident.updated', 'chat.created'],
    sealedSecret: 'sealed',
  });
  const incident = await workspace.incidents.create(newIncident({ assignee: user.email }), actor);
  await workspace.incidents.update(incident.id, { assignee: user.name }, actor);
  await workspace.incidents.update(incident.id, { waitingOn: { party: 'human', name: user.name } }, actor);
  const waiting = { party: 'human', name: user.email, reason: 'Which region?' } as const;
  await workspace.incidents.update(incident.id, { waitingOn: waiting }, actor);
  await workspace.incidents.writeDocument(incident.id, 'What we know', actor);
  await workspace.chats.start(newChat({ author: actor, incidentId: incident.id, idempotencyKey: 'once' }));
  const { chat } = await workspace.chats.start(newChat({ author: actor }));
  return chat.id;
}

function rowsOf({ transfer }: Storage, name: string, { organizationId }: Workspace) {
  return transfer.snapshot([], async (snapshot) => {
    const all: TransferRow[] = [];
    for await (const { table, organizationId: of, rows } of snapshot.batches()) {
      if (table === name && of === organizationId) all.push(...rows);
    }
    return all;
  });
}

/** Rows, of all organizations or one, with this in them; of the audit none, where an id stays. */
function found({ transfer }: Storage, word: string, only?: Workspace): Promise<readonly string[]> {
  return transfer.snapshot(['Grant', 'RefreshToken', 'PasswordLink'], async (snapshot) => {
    const lines: string[] = [];
    for await (const { table, organizationId, rows } of snapshot.batches()) {
      if (only !== undefined && only.organizationId !== organizationId) continue;
      for (const row of rows) {
        const text = JSON.stringify(row);
        if (text.toLowerCase().includes(word.toLowerCase())) lines.push(`${table}: ${text}`);
      }
    }
    return lines;
  });
}

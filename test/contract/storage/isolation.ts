import {
  newId,
  SightlineError,
  type AlertSourceId,
  type ChatId,
  type GrantId,
  type IncidentId,
  type IngestTokenId,
  type InvestigationId,
  type InvitationId,
  type KeyId,
  type MessageId,
  type ScimGroupId,
  type ScimTokenId,
  type ScimUserId,
  type UserId,
} from '../../../src/contract/core/index.ts';
import type { AlertNotice } from '../../../src/contract/alerts/index.ts';
import type { Storage, WebhookId, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  conclusion,
  inAnHour,
  type MakeStorage,
  newChat,
  newGrant,
  newIncident,
  newInvitation,
  newKey,
  newScimToken,
  newSecret,
  newStep,
  present,
  sharedStage,
  soon,
} from './stage.ts';

/** Ids of one organization's things, or ids of the same kinds that nobody has. */
interface Ids {
  readonly key: KeyId;
  readonly token: IngestTokenId;
  readonly alertSource: AlertSourceId;
  readonly alerted: IncidentId;
  readonly user: UserId;
  readonly invitation: InvitationId;
  readonly address: string;
  readonly grant: GrantId;
  readonly incident: IncidentId;
  readonly chat: ChatId;
  readonly message: MessageId;
  readonly investigation: InvestigationId;
  readonly fingerprint: string;
  readonly idempotencyKey: string;
  readonly result: string;
  readonly webhook: WebhookId;
  readonly scimToken: ScimTokenId;
  readonly scimUser: ScimUserId;
  readonly scimGroup: ScimGroupId;
}

type Repositories = Omit<Workspace, 'organizationId'>;
/** One probe for every method of every repository: a method added to the contract does not compile without one. */
type Probes = {
  readonly [Name in keyof Repositories]: {
    readonly [Method in keyof Repositories[Name]]: (workspace: Workspace, ids: Ids) => Promise<unknown>;
  };
};

const day = '2026-03-01';
const now = new Date();
const kept = { holder: 'h', sealed: 'secret result', expiresAt: inAnHour() };
const bounds = { perHolder: { results: 1, bytes: 1_000 }, overall: { results: 1, bytes: 1_000 } };
const reply = { message: 'mine now', author: ada, engine: 'e' };

const scimRules = { adminGroups: ['mine now', 'mine'] };

const source = { plugin: 'generic', sealed: 'secret', createdBy: 'secret admin' };
const notice: AlertNotice = {
  fingerprint: 'secret',
  status: 'firing',
  title: 'secret alert',
  severity: 'low',
  startsAt: new Date(0),
  labels: {},
  services: [],
};

const probes: Probes = {
  keys: {
    create: async ({ keys }) => (await keys.create(newKey())).name,
    list: ({ keys }) => keys.list(),
    get: ({ keys }, { key }) => keys.get(key),
    addSecret: ({ keys }, { key }) => keys.addSecret(key, newSecret()),
    removeSecret: ({ keys }, { key }) => keys.removeSecret(key, 'older'),
    setPaused: ({ keys }, { key }) => keys.setPaused(key, true),
    revoke: ({ keys }, { key }) => keys.revoke(key),
    markUsed: ({ keys }, { key }) => keys.markUsed(key, newId('sec'), new Date()),
  },
  members: {
    add: ({ members }) => members.add(newId('usr'), 'admin'),
    list: ({ members }) => members.list(),
    remove: ({ members }, { user }) => members.remove(user),
  },
  invitations: {
    create: async ({ invitations }, { address }) => (await invitations.create(newInvitation({ email: address }))).role,
    list: async ({ invitations }) => invitations.list(),
    revoke: ({ invitations }, { invitation }) => invitations.revoke(invitation),
  },
  grants: {
    create: ({ grants }, { user }) => grants.create(newGrant(user)),
    list: async ({ grants }, { user }) => [await grants.list(), await grants.list(user)],
    revoke: async ({ grants }, { grant, user }) => [await grants.revoke(grant), await grants.revoke(grant, user)],
    markUsed: ({ grants }, { grant }) => grants.markUsed(grant, new Date()),
  },
  ingestTokens: {
    create: ({ ingestTokens }) =>
      ingestTokens.create({ id: newId('it'), hash: newId('it'), sealed: 's', createdBy: 'ada' }),
    current: async ({ ingestTokens }) => (await ingestTokens.current())?.sealed,
    list: async ({ ingestTokens }) => ingestTokens.list(),
    revoke: ({ ingestTokens }, { token }) => ingestTokens.revoke(token),
  },
  scimTokens: {
    create: ({ scimTokens }) => scimTokens.create({ ...newScimToken(), createdBy: 'mine' }),
    list: async ({ scimTokens }) => (await scimTokens.list()).filter(({ createdBy }) => createdBy.includes('secret')),
    revoke: ({ scimTokens }, { scimToken }) => scimTokens.revoke(scimToken),
    markUsed: ({ scimTokens }, { scimToken }) => scimTokens.markUsed(scimToken, new Date()),
  },
  scim: {
    user: ({ scim }, { scimUser }) => scim.user(scimUser),
    users: async ({ scim }, { scimUser, address }) => [
      await scim.users({ where: {}, offset: 0, limit: 100 }),
      await scim.users({ where: { id: scimUser }, offset: 0, limit: 100 }),
      await scim.users({ where: { email: address }, offset: 0, limit: 100 }),
      await scim.users({ where: { userName: 'secret person' }, offset: 0, limit: 100 }),
    ],
    group: ({ scim }, { scimGroup }) => scim.group(scimGroup),
    groups: async ({ scim }, { scimGroup, scimUser }) => [
      await scim.groups({ where: {}, offset: 0, limit: 100 }),
      await scim.groups({ where: { id: scimGroup }, offset: 0, limit: 100 }),
      await scim.groups({ where: { member: scimUser }, offset: 0, limit: 100 }),
    ],
    groupMembers: ({ scim }, { scimGroup }) => scim.groupMembers([scimGroup], 100),
    saveGroup: async ({ scim }, { scimGroup, scimUser }) => [
      await outcome(scim.saveGroup({ id: scimGroup, displayName: 'mine now' }, scimRules)),
      await outcome(scim.saveGroup({ id: scimGroup, remove: [scimUser] }, scimRules)),
      await outcome(scim.saveGroup({ displayName: 'mine', add: [scimUser] }, scimRules)),
    ],
    removeGroup: ({ scim }, { scimGroup }) => scim.removeGroup(scimGroup, scimRules),
    settleRoles: ({ scim }) => scim.settleRoles({ adminGroups: ['secret group'] }),
  },
  alertSources: {
    create: async ({ alertSources }) =>
      (await alertSources.create({ ...source, id: newId('als'), name: 'secret source' })).plugin,
    list: async ({ alertSources }) => alertSources.list(),
    replaceSecret: ({ alertSources }, { alertSource }) => alertSources.replaceSecret(alertSource, 'mine now'),
    remove: ({ alertSources }, { alertSource }) => alertSources.remove(alertSource),
  },
  alerts: {
    record: ({ alerts }, { alertSource }) =>
      alerts.record([{ source: { id: alertSource, name: 'mine now' }, notices: [notice] }], 'e'),
    ofIncident: ({ alerts }, { alerted }) => alerts.ofIncident(alerted),
  },
  incidents: {
    create: async ({ incidents }, { fingerprint }) => (await incidents.create(newIncident({ fingerprint }), ada)).title,
    get: async ({ incidents }, { incident }) => incidents.get(incident),
    list: async ({ incidents }) => (await incidents.list({ limit: 100, query: 'secret' })).items,
    update: ({ incidents }, { incident }) => incidents.update(incident, { title: 'mine now' }, ada),
    document: ({ incidents }, { incident }) => incidents.document(incident),
    documentVersions: ({ incidents }, { incident }) => incidents.documentVersions(incident),
    writeDocument: ({ incidents }, { incident }) => incidents.writeDocument(incident, 'mine now', ada),
    timeline: ({ incidents }, { incident }) => incidents.timeline(incident),
  },
  investigations: {
    get: ({ investigations }, { investigation }) => investigations.get(investigation),
    ofIncident: ({ investigations }, { incident }) => investigations.ofIncident(incident),
    ofChat: ({ investigations }, { chat }) => investigations.ofChat(chat),
    steps: ({ investigations }, { investigation }) => investigations.steps(investigation),
    enqueue: ({ investigations }, { incident, chat }) =>
      Promise.all([
        outcome(investigations.enqueue({ incidentId: incident, engine: 'e' })),
        outcome(investigations.enqueue({ chatId: chat, engine: 'e' })),
      ]),
    addStep: ({ investigations }, { investigation }) => investigations.addStep(investigation, newStep(99)),
    progress: ({ investigations }, { investigation }) => investigations.progress(investigation, 'mine now'),
    finish: ({ investigations }, { investigation }) =>
      investigations.finish(investigation, { status: 'completed', conclusion, message: 'mine now', author: agent }),
  },
  chats: {
    start: async ({ chats }, { incident, idempotencyKey }) => [
      await outcome(chats.start(newChat({ incidentId: incident }))),
      (await chats.start(newChat({ title: 'own', idempotencyKey }))).chat.title,
    ],
    reply: ({ chats }, { chat, idempotencyKey }) => chats.reply(chat, { ...reply, idempotencyKey }),
    get: ({ chats }, { chat }) => chats.get(chat),
    list: async ({ chats }, { incident }) => [
      (await chats.list({ limit: 100, query: 'secret' })).items,
      (await chats.list({ limit: 100, incidentId: incident })).items,
    ],
    messages: ({ chats }, { chat }) => chats.messages(chat, { limit: 100 }),
    message: ({ chats }, { chat, message }) => chats.message(chat, message),
    cancel: ({ chats }, { chat }) => chats.cancel(chat, ada),
    changed: ({ chats }, { chat }) => chats.changed(chat, new Date(), soon()),
  },
  audit: {
    append: ({ audit }) => audit.append([]),
    list: ({ audit }) => audit.list({ limit: 100 }),
    census: ({ audit }) => audit.census(),
    chains: ({ audit }) => audit.chains({ after: 0, limit: 100 }),
    chain: ({ audit }) => audit.chain(1),
    records: ({ audit }) => audit.records({ chain: 1, after: 0, limit: 100 }),
  },
  scans: {
    add: ({ scans }) => scans.add(day, 5),
    total: ({ scans }) => scans.total(day),
  },
  keptResults: {
    keep: ({ keptResults }, { result }) => keptResults.keep({ ...kept, id: result, sealed: 'mine now' }, bounds, now),
    find: ({ keptResults }, { result }) => keptResults.find(result, kept.holder, now),
  },
  webhooks: {
    create: async ({ webhooks }) =>
      (await webhooks.create({ id: newId('whk'), url: 'https://x', events: [], sealedSecret: 's' })).url,
    list: async ({ webhooks }) => (await webhooks.list()).filter(({ sealedSecret }) => sealedSecret.includes('secret')),
    get: ({ webhooks }, { webhook }) => webhooks.get(webhook),
    remove: ({ webhooks }, { webhook }) => webhooks.remove(webhook),
  },
  retention: {
    removeAudit: ({ retention }) => retention.removeAudit(inAnHour()),
    removeChats: ({ retention }) => retention.removeChats(inAnHour()),
    removeIncidents: ({ retention }) => retention.removeIncidents(inAnHour()),
    removeAll: ({ retention }) => retention.removeAll(),
  },
};

/** An organization gets for everything of another one exactly the answer of what does not exist, and changes nothing. */
export function isolationPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('two organizations', () => {
    const stage = sharedStage(runner, make);

    for (const [name, methods] of Object.entries(probes)) {
      for (const [method, probe] of Object.entries(methods)) {
        it(`are apart in ${name}.${method}`, async () => {
          const owner = await stage().workspace();
          const ids = await furnish(stage().storage, owner);
          const before = await everything(owner, ids);
          // The owner's ids are shown to work by the rest of this suite; here they are a stranger's.
          const stranger = await outcome(probe(await stage().workspace(), ids));
          const nobody = await outcome(probe(await stage().workspace(), nothing()));
          expect(stranger).toEqual(nobody);
          expect(JSON.stringify(stranger ?? null)).not.toContain('secret');
          expect(await everything(owner, ids)).toEqual(before);
        });
      }
    }

    it('have incident keys of their own', async () => {
      const [one, two] = [await stage().workspace(), await stage().workspace()];
      const first = await one.incidents.create(newIncident({ title: 'one' }), ada);
      expect(await two.incidents.get(first.key)).toBeUndefined();
      const second = await two.incidents.create(newIncident({ title: 'two' }), ada);
      expect(second.key).toBe(first.key);
      expect((await one.incidents.get('INC-1'))?.title).toBe('one');
      expect((await two.incidents.get('INC-1'))?.title).toBe('two');
    });
  });
}

/** Puts something into every repository. */
async function furnish({ directory }: Storage, workspace: Workspace): Promise<Ids> {
  const user = await directory.createUser({ email: `${newId('usr')}@example.org`, name: 'secret person' });
  await workspace.members.add(user.id, 'member');
  const address = `${newId('invt')}@example.org`;
  const invitation = await workspace.invitations.create(newInvitation({ email: address, createdBy: 'secret admin' }));
  const grant = newGrant(user.id, { clientName: 'secret client' });
  await workspace.grants.create(grant);
  const key = await workspace.keys.create(newKey({ name: 'secret key' }));
  await workspace.keys.addSecret(key.id, newSecret());
  const token = { id: newId('it'), hash: newId('it'), sealed: 'secret token', createdBy: 'ada' };
  await workspace.ingestTokens.create(token);
  const scimToken = newScimToken();
  await workspace.scimTokens.create({ ...scimToken, createdBy: 'secret admin' });
  const provisioned = {
    userName: 'secret person',
    email: address,
    name: 'secret person',
    active: true,
    attributes: '{}',
  };
  const { user: scimUser } = await directory.provisioning.provision(workspace.organizationId, provisioned, scimRules);
  const members = { displayName: 'secret group', add: [scimUser.id] };
  const { group: scimGroup } = await workspace.scim.saveGroup(members, scimRules);
  const alertSource = { ...source, id: newId('als'), name: 'secret source' };
  await workspace.alertSources.create(alertSource);
  await workspace.alerts.record([{ source: alertSource, notices: [notice] }], 'e');
  const [alerted] = (await workspace.incidents.list({ limit: 1 })).items;
  const fingerprint = newId('inc');
  const incident = await workspace.incidents.create(
    newIncident({ title: 'secret incident', fingerprint, document: 'secret document' }),
    ada,
  );
  const idempotencyKey = newId('msg');
  const { chat, message } = await workspace.chats.start(
    newChat({ title: 'secret chat', message: 'secret message', incidentId: incident.id, idempotencyKey }),
  );
  const [investigation] = await workspace.investigations.ofChat(chat.id);
  const { id } = present(investigation);
  await workspace.investigations.addStep(id, newStep(1, { observation: 'secret observation' }));
  const finished = await workspace.chats.start(newChat({ title: 'secret finished chat' }));
  await workspace.chats.cancel(finished.chat.id, ada);
  await workspace.audit.append([
    { at: new Date(), event: 'tool.call', subject: 'secret', requestId: 'r', target: 't', outcome: 'ok' },
  ]);
  await workspace.scans.add(day, 1_000);
  const result = newId('res');
  await workspace.keptResults.keep({ ...kept, id: result }, bounds, now);
  const webhook = newId('whk');
  await workspace.webhooks.create({ id: webhook, url: 'https://secret.example', events: [], sealedSecret: 'secret' });
  return {
    key: key.id,
    token: token.id,
    alertSource: alertSource.id,
    alerted: present(alerted).id,
    user: user.id,
    invitation: invitation.id,
    address,
    grant: grant.id,
    incident: incident.id,
    chat: chat.id,
    message: message.id,
    investigation: id,
    fingerprint,
    idempotencyKey,
    result,
    webhook,
    scimToken: scimToken.id,
    scimUser: scimUser.id,
    scimGroup: scimGroup.id,
  };
}

function nothing(): Ids {
  return {
    key: newId('ak'),
    token: newId('it'),
    alertSource: newId('als'),
    alerted: newId('inc'),
    user: newId('usr'),
    invitation: newId('invt'),
    address: 'nobody@example.org',
    grant: newId('gra'),
    incident: newId('inc'),
    chat: newId('chat'),
    message: newId('msg'),
    investigation: newId('inv'),
    fingerprint: newId('inc'),
    idempotencyKey: newId('msg'),
    result: newId('res'),
    webhook: newId('whk'),
    scimToken: newId('sct'),
    scimUser: newId('scu'),
    scimGroup: newId('scg'),
  };
}

/** All that can be read of an organization. */
function everything(workspace: Workspace, ids: Ids) {
  const { alerted, incident, chat, investigation, key, result } = ids;
  const { keys, members, invitations, grants, ingestTokens, incidents, investigations, chats, audit, scans } =
    workspace;
  return Promise.all([
    keys.list(),
    keys.get(key),
    members.list(),
    invitations.list(),
    grants.list(),
    ingestTokens.current(),
    workspace.alertSources.list(),
    workspace.alerts.ofIncident(alerted),
    incidents.list({ limit: 1_000 }),
    incidents.document(incident),
    incidents.timeline(incident),
    investigations.get(investigation),
    investigations.ofIncident(incident),
    investigations.ofChat(chat),
    investigations.steps(investigation),
    chats.list({ limit: 1_000 }),
    chats.messages(chat, { limit: 1_000 }),
    audit.list({ limit: 1_000 }),
    scans.total(day),
    workspace.keptResults.find(result, kept.holder, now),
    workspace.webhooks.list(),
    workspace.scimTokens.list(),
    workspace.scim.users({ where: {}, offset: 0, limit: 100 }),
    workspace.scim.groups({ where: {}, offset: 0, limit: 100 }),
    workspace.scim.groupMembers([ids.scimGroup], 100),
  ]);
}

/** What came of a call, to be compared: the value, or everything a caller sees of the error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof SightlineError)) throw error;
    const { code, message, hint, retry } = error;
    return { code, message, hint, retry };
  }
}

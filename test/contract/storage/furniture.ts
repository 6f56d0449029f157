import { hashSecret, newId, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import { webhookEvents, type Storage } from '../../../src/contract/storage/index.ts';
import {
  ada,
  agent,
  awkward,
  bob,
  conclusion,
  eventually,
  inTurn,
  newChat,
  newGrant,
  newIncident,
  newInvitation,
  newKey,
  newScimToken,
  newSecret,
  newSession,
  newStep,
  present,
} from './stage.ts';

/** What stands for a secret under a context. */
type Seal = (context: string) => string;

/** Fills a storage with something of everything that the contract can keep, in two organizations. */
export async function furnish(
  storage: Storage,
  seal: Seal = (context) => `sealed ${context}`,
): Promise<readonly OrganizationId[]> {
  const { directory } = storage;
  await directory.replaceSigningKeys(
    [],
    (['current', 'next', 'retired'] as const).map((state, index) => ({
      kid: `kid-${index}`,
      algorithm: 'ES256',
      state,
      publicJwk: '{"kty":"EC"}',
      sealedPrivateJwk: seal(`signing-key:kid-${index}`),
      createdAt: new Date(1_800_000_000_000),
      stateSince: new Date(1_800_000_000_001 + index),
    })),
  );
  await directory.clients.register({ id: 'client-1', metadata: '{"a":1}', createdAt: new Date(1) }, 10);
  await directory.clients.register({ id: awkward, metadata: awkward, createdAt: new Date(2) }, 10);
  await directory.clients.markUsed('client-1', new Date(3));
  const people = await inTurn(['ada', 'bob', 'eve'], (name) =>
    directory.createUser({ email: `${name}@Example.org`, name: `${name} "Ünïcödé"` }),
  );
  const [one, two, three] = people.map(({ id }) => id);
  await directory.people.setPassword(present(one), 'scrypt$hash');
  await directory.people.linkIdentity(present(two), 'https://idp.example', 'süß|"1"');
  await directory.people.setEnabled(present(three), false);
  const organizations = [
    await directory.createOrganization({ name: 'ACME' }),
    await directory.createOrganization({ name: 'Ünïcödé' }),
  ];
  for (const organizationId of [undefined, ...organizations.map(({ id }) => id)]) {
    const key = { id: newId('adk'), hash: hashSecret(newId('sec')), name: 'süß', scopes: [], createdBy: 'ada' };
    await directory.adminKeys.create({ ...key, ...(organizationId !== undefined && { organizationId }) });
  }
  for (const { id } of organizations) await furnishOrganization(storage, id, [present(one), present(two)], seal);
  await directory.sessions.create(newSession(present(one)));
  const granted = present((await storage.workspace(present(organizations[0]).id).grants.list()).at(0));
  for (const model of ['Grant', 'RefreshToken', 'AuthorizationCode', 'Interaction']) {
    await directory.artifacts.upsert({
      model,
      id: hashSecret(model),
      payload: JSON.stringify({ text: awkward }),
      grantId: granted.id,
      uid: `uid-${model}`,
      expiresAt: new Date(Date.now() + 3_600_000),
    });
  }
  await directory.artifacts.consume('RefreshToken', hashSecret('RefreshToken'), new Date(4));
  return organizations.map(({ id }) => id);
}

async function furnishOrganization(
  storage: Storage,
  id: OrganizationId,
  [member, provided]: readonly [UserId, UserId],
  seal: Seal,
): Promise<void> {
  const workspace = storage.workspace(id);
  const { members, invitations, grants, keys, ingestTokens, incidents, investigations, chats, audit, scans } =
    workspace;
  await members.add(member, 'admin');
  const scimToken = newScimToken();
  await workspace.scimTokens.create(scimToken);
  await workspace.scimTokens.markUsed(scimToken.id, new Date());
  const rules = { adminGroups: ['Admins'] };
  const person = { userName: 'Ünïcödé', email: `${id}@example.org`, name: 'Ada', attributes: '{"title":"Dr"}' };
  const { user } = await storage.directory.provisioning.provision(
    id,
    { ...person, externalId: 'ext', active: true },
    rules,
  );
  await workspace.scim.saveGroup({ displayName: 'Admins', externalId: 'ext', add: [user.id] }, rules);
  const left = { ...person, userName: 'Left', email: `left-${id}@example.org`, active: false };
  const leaver = await storage.directory.provisioning.provision(id, left, rules);
  await storage.directory.people.erase(leaver.user.userId, { chats: 'delete' });
  await storage.directory.people.syncMemberships(provided, [
    ...(await storage.directory.people.memberships(provided)).map(({ organization, role }) => ({
      organizationId: organization.id,
      role,
    })),
    { organizationId: id, role: 'member' },
  ]);
  await invitations.create(newInvitation());
  const grant = newGrant(member, { clientName: awkward });
  await grants.create(grant);
  await grants.markUsed(grant.id, new Date());
  const key = await keys.create(newKey({ name: 'key' }));
  await keys.addSecret(key.id, newSecret());
  await keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date());
  // These are written when there is time.
  await eventually(async () => {
    const [used] = await grants.list();
    return used?.lastUsedAt !== undefined && (await keys.get(key.id))?.lastUsedAt !== undefined;
  });
  for (const token of [newId('it'), newId('it')]) {
    await ingestTokens.create({
      id: token,
      hash: hashSecret(token),
      sealed: seal(`ingest-token:${token}`),
      createdBy: 'ada',
    });
  }
  const webhook = newId('whk');
  // Before there is anything to tell of.
  await workspace.webhooks.create({
    id: webhook,
    url: `https://hooks.example.com/${encodeURIComponent(awkward)}`,
    events: webhookEvents,
    sealedSecret: seal(`webhook:${webhook}`),
  });
  const alertSource = newId('als');
  const name = awkward.replaceAll(/\p{Cc}/gu, '').slice(0, 90);
  await workspace.alertSources.create({
    id: alertSource,
    name,
    plugin: 'generic',
    sealed: seal(`alert-source:${alertSource}`),
    createdBy: 'ada',
  });
  const notice = { severity: 'low', title: awkward, startsAt: new Date(7), labels: { [awkward]: awkward } } as const;
  const notices = [
    { ...notice, fingerprint: awkward, status: 'firing', services: ['checkout'], description: awkward },
    { ...notice, fingerprint: 'ended', status: 'resolved', services: [], endsAt: new Date(8) },
  ] as const;
  await workspace.alerts.record([{ source: { id: alertSource, name }, notices }], 'playbook');
  for (let number = 1; number <= 3; number += 1) {
    const incident = await incidents.create(
      newIncident({
        title: awkward,
        summary: awkward.repeat(20),
        services: ['checkout', awkward],
        labels: { [awkward]: awkward },
        ...(number === 1
          ? {
              fingerprint: awkward,
              assignee: 'ada@example.org',
              waitingOn: { party: 'human', name: 'Ada', reason: awkward },
            }
          : {}),
        document: awkward,
        alerts: [
          { fingerprint: 'f', title: 't', status: 'firing', severity: 'low', startsAt: new Date(5), labels: {} },
        ],
      }),
      ada,
    );
    const resolution = { kind: 'duplicate', duplicateOf: 'INC-1' } as const;
    await incidents.update(incident.id, { status: 'resolved', ...(number === 2 && { resolution }) }, bob);
    await incidents.writeDocument(incident.id, '# Second', agent);
    await investigations.enqueue({ incidentId: incident.id, engine: 'playbook' });
    const { chat } = await chats.start(
      newChat({ incidentId: incident.id, message: awkward, idempotencyKey: `key-${number}` }),
    );
    await chats.reply(chat.id, {
      message: awkward,
      author: ada,
      engine: 'playbook',
      idempotencyKey: `reply-${number}`,
    });
    const own = await chats.start(newChat({ title: awkward.slice(0, 100) }));
    const [investigation] = await investigations.ofChat(own.chat.id);
    for (const seq of [1, 2])
      await investigations.addStep(present(investigation).id, newStep(seq, { observation: awkward }));
    if (number !== 1) {
      const closing = { message: awkward, author: agent, parts: [{ type: 'question' as const, text: awkward }] };
      await investigations.finish(
        present(investigation).id,
        number === 2
          ? { status: 'completed', conclusion, ...closing }
          : { status: 'failed', failure: awkward, ...closing },
      );
    }
  }
  await audit.append(
    Array.from({ length: 450 }, (_, index) => ({
      // Two of a millisecond keep their order.
      at: new Date(1_800_000_000_000 + Math.floor(index / 2)),
      event: 'tool.call' as const,
      subject: 'ak_x',
      requestId: `r${index}`,
      target: awkward,
      outcome: 'ok',
      ...(index % 3 === 0
        ? {
            argumentsHash: 'a'.repeat(64),
            durationMs: index / 7,
            rows: index,
            bytes: 5_000_000_000 + index,
            truncated: index % 2 === 0,
            statement: awkward,
          }
        : {}),
    })),
  );
  await scans.add('2026-03-01', 5_000_000_000_000);
}

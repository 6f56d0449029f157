import { SightlineError, type UserId } from '../../contract/core/index.ts';
import type { Actor, Storage, Workspace } from '../../contract/storage/index.ts';
import type { Trail } from './trail.ts';

const pageSize = 200;

/** See People.exportPerson. */
export async function* personExport(
  storage: Pick<Storage, 'directory' | 'workspace'>,
  trail: Pick<Trail, 'recordOf'>,
  userId: UserId,
  { audit, actor }: { readonly audit: boolean; readonly actor: Actor },
): AsyncGenerator<string> {
  const { people } = storage.directory;
  const user = await storage.directory.findUser(userId);
  if (user === undefined) throw new SightlineError('not_found', 'There is no such account.');
  // Before anything is read, so that one that is broken off is recorded as well.
  await trail.recordOf(userId, { event: 'person.exported', subject: actor.id, target: userId });
  const { id, email, name, enabled, createdAt } = user;
  const password = (await people.credentials(email))?.hash !== undefined;
  yield line('account', { id, email, name, enabled, createdAt, password, identity: await people.hasIdentity(id) });
  for (const { organization, role } of await people.memberships(userId)) {
    yield line('membership', { organization: organization.name, role });
    const workspace = storage.workspace(organization.id);
    for (const { user: _, ...grant } of await workspace.grants.list(userId)) yield line('application', grant);
    for (const key of await workspace.keys.list()) if (key.createdBy === userId) yield line('key', key);
    const provisioned = await workspace.scim.users({ where: { account: userId }, offset: 0, limit: 1 });
    for (const user of provisioned.items) yield line('provisioned', user);
    yield* chats(workspace, userId);
    if (audit) yield* records(workspace, userId);
  }
}

async function* chats({ chats: repository }: Workspace, createdBy: UserId): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await repository.list({ createdBy, limit: pageSize, cursor });
    for (const chat of page.items) {
      yield line('chat', chat);
      for (let afterSeq = 0; ;) {
        const messages = await repository.messages(chat.id, { afterSeq, limit: pageSize });
        for (const message of messages) yield line('message', { chat: chat.id, ...message });
        if (messages.length < pageSize) break;
        afterSeq = messages.at(-1)?.seq ?? Infinity;
      }
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

async function* records({ audit, organizationId }: Workspace, userId: UserId): AsyncGenerator<string> {
  for (let last = 0; ;) {
    const chains = await audit.chains({ after: last, limit: pageSize });
    for (const { number } of chains) {
      last = number;
      for (let after = 0; ;) {
        const found = await audit.records({ chain: number, after, limit: pageSize });
        for (const { record } of found) {
          if (record.subject === userId || record.target === userId) yield line('audit', { organizationId, ...record });
        }
        if (found.length < pageSize) break;
        after = found.at(-1)?.seq ?? Infinity;
      }
    }
    if (chains.length < pageSize) return;
  }
}

function line(type: string, value: object): string {
  return `${JSON.stringify({ type, ...value })}\n`;
}

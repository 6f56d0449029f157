import { foldCase, toId, type KeyId, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import { deletedPerson, type Erased, type Erasure, type EndedAccess } from '../../../src/contract/storage/index.ts';
import type { EnterScope } from '../database.ts';
import { actorJson, noticeJson, type Notice } from '../json.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../transact.ts';
import { noteErasure } from './erasures.ts';
import { endGrants } from './grants.ts';
import { endInvitationsBy, endMembership, keepAnAdmin } from './members.ts';
import { removeChats } from './retention.ts';
import { keepSaid, lastSaid } from './scim/users.ts';
import { endInvitationsOf, endSessions, liveOrganizations, toUser, traitsOf } from './users.ts';

/** Ends what a person acts by. Undefined where there is no such account. */
export async function endAccess(
  knex: Statements,
  enter: EnterScope,
  userId: UserId,
  only: OrganizationId | undefined,
): Promise<readonly EndedAccess[] | undefined> {
  const user = knex('users').where({ id: userId });
  if ((await user.update(only === undefined ? { enabled: false } : { id: userId })) === 0) return undefined;
  const ended: EndedAccess[] = [];
  for (const organizationId of await placesOf(knex, userId, only)) {
    const scope = await enter(organizationId);
    const member = await isMember(scope, userId);
    const keys = await endKeys(scope, userId);
    await knex('admin_keys').where({ created_by: userId, organization_id: organizationId }).delete();
    if (only === undefined) {
      await endGrants(scope, { user_id: userId });
      await endInvitationsBy(scope, userId);
    } else {
      await endInvitationsOf(scope, userId);
      await endMembership(scope, userId);
    }
    ended.push({ organizationId, member, keys });
  }
  if (only === undefined) await endSessions(knex, userId);
  // A browser that shows another organization stays signed in there.
  else if (ended.some(({ member }) => member)) await endSessionsIn(knex, userId, only);
  return ended;
}

async function endSessionsIn(knex: Statements, userId: UserId, organizationId: OrganizationId): Promise<void> {
  await knex('sessions')
    .where({ user_id: userId })
    .where((here) => void here.where({ organization_id: organizationId }).orWhereNull('organization_id'))
    .delete();
}

/** Takes a person out of one organization or all. The account goes with the last of them. */
export async function erase(
  knex: Statements,
  enter: EnterScope,
  userId: UserId,
  { organizationId: only, chats }: Erasure,
  now: Date,
): Promise<Erased | undefined> {
  // Not a change, but the lock under which changes of one person's memberships follow each other.
  await knex('users').where({ id: userId }).update({ id: userId });
  const user = await knex('users').where({ id: userId }).first();
  if (user === undefined) return undefined;
  const places = await placesOf(knex, userId, only);
  const elsewhere = await knex('members')
    .where({ user_id: userId })
    .whereNotIn('organization_id', places)
    .first('organization_id');
  // With the account goes what SCIM keeps of the person in other organizations.
  const said = await lastSaid(knex, userId);
  const traits = await traitsOf(knex, userId);
  const ended: EndedAccess[] = [];
  for (const organizationId of inOrder([...places, ...(elsewhere === undefined ? said.keys() : [])])) {
    const scope = await enter(organizationId);
    const word = said.get(organizationId);
    if (word !== undefined) await keepSaid(scope, traits, word);
    if (!places.includes(organizationId)) continue;
    const member = await isMember(scope, userId);
    if (member && (await isLive(knex, organizationId))) await keepAnAdmin(scope, userId);
    const keys = await endKeys(scope, userId);
    await knex('admin_keys').where({ created_by: userId, organization_id: organizationId }).delete();
    await endMembership(scope, userId);
    const words = (await isAnothers(scope, user.name)) ? [user.email] : [user.email, user.name];
    await forget(scope, userId, words, chats);
    await scope.from('invitations').where({ email_key: user.email_key }).delete();
    await scope.from('scim_users').where({ user_id: userId }).delete();
    ended.push({ organizationId, member, keys });
  }
  if (ended.some(({ member }) => member)) await endSessions(knex, userId);
  const keys = ended.flatMap((each) => each.keys);
  await noteErasure(knex, { userId, organizationId: elsewhere && only, keys }, now);
  if (elsewhere === undefined) {
    await endSessions(knex, userId);
    await knex('identities').where({ user_id: userId }).delete();
    await knex('users').where({ id: userId }).delete();
  }
  return { user: toUser(user), account: elsewhere === undefined, ended };
}

async function isLive(knex: Statements, id: OrganizationId): Promise<boolean> {
  return (await liveOrganizations(knex).where({ id }).first()) !== undefined;
}

async function isMember(scope: Scope, userId: UserId): Promise<boolean> {
  return (await scope.from('members').where({ user_id: userId }).first('role')) !== undefined;
}

/** Whether text with this name may be about another member. */
async function isAnothers(scope: Scope, name: string): Promise<boolean> {
  const others = scope.from('members').join('users', 'users.id', 'members.user_id');
  const named = others.where((of) => void of.where('users.name', name).orWhere('users.email_key', foldCase(name)));
  return (await named.first('users.id')) !== undefined;
}

/** Those the person made, so that nothing they know the secret of works. */
async function endKeys(scope: Scope, userId: UserId): Promise<readonly KeyId[]> {
  const ids = await scope.from('api_keys').where({ created_by: userId }).pluck('id');
  await scope.from('api_key_secrets').whereIn('key_id', ids).delete();
  await scope.from('api_keys').whereIn('id', ids).delete();
  return ids.map((id) => toId('ak', id));
}

const chatsAtOnce = 200;
const gone = actorJson.write(deletedPerson);

/** Removes what a person wrote, or their name from it. `words`: their name and address, as others may have written them. */
async function forget(scope: Scope, userId: UserId, words: readonly string[], chats: Erasure['chats']): Promise<void> {
  const own = () => scope.from('chats').where({ created_by_id: userId });
  while (chats === 'delete') {
    const ids = await own().limit(chatsAtOnce).pluck('id');
    if (ids.length === 0) break;
    await removeChats(scope, ids);
    await scope.from('webhook_messages').whereIn('subject', ids).delete();
  }
  await own().update({ created_by: gone, created_by_id: deletedPerson.id });
  const theirs = mentions(userId);
  await scope.from('chat_messages').where('author', 'like', theirs).update({ author: gone });
  await scope.from('incident_timeline').where('actor', 'like', theirs).update({ actor: gone });
  await scope.from('incident_documents').where('author', 'like', theirs).update({ author: gone });
  for (const table of ['alert_sources', 'ingest_tokens', 'scim_tokens'] as const) {
    await scope.from(table).where({ created_by: userId }).update({ created_by: deletedPerson.id });
  }
  await scope.from('incidents').whereIn('assignee', words).update({ assignee: null });
  await scope.from('incidents').whereIn('waiting_name', words).update({ waiting_name: null, waiting_key: null });
  for (const word of words) {
    await forgetInTimeline(scope, word);
    await forgetInNotices(scope, word);
  }
}

const { name } = deletedPerson;
const parties = ['human', 'external'] as const;

/** As a whole value, or as who an incident waited on: `human: NAME` or `human: NAME (REASON)`. */
async function forgetInTimeline(scope: Scope, word: string): Promise<void> {
  for (const column of ['from_value', 'to_value'] as const) {
    const values = () => scope.from('incident_timeline').whereIn('change', ['assignee', 'waiting_on']);
    await values()
      .where(column, word)
      .update({ [column]: name });
    for (const party of parties) {
      const waited = `${party}: ${word}`;
      await values()
        .where((value) => void value.where(column, waited).orWhere(begins(scope, column, `${waited} (`)))
        .update({ [column]: scope.raw('replace(??, ?, ?)', [column, waited, `${party}: ${name}`]) });
    }
  }
}

const noticesAtOnce = 500;

/** In the fields for people alone: a name may be a word that others hold, such as a severity. */
async function forgetInNotices(scope: Scope, word: string): Promise<void> {
  const quoted = JSON.stringify(word).slice(1, -1);
  for (let after = ''; ;) {
    const found = await scope
      .from('webhook_messages')
      .where('id', '>', after)
      .whereRaw('length(replace(data, ?, ?)) < length(data)', [quoted, ''])
      .orderBy('id')
      .limit(noticesAtOnce)
      .select('id', 'data');
    const changed = found.map(({ id, data }) => {
      const without = noticeJson.write(forgotten(noticeJson.read(data), word));
      return scope.from('webhook_messages').where({ id }).update({ data: without });
    });
    await Promise.all(changed);
    if (found.length < noticesAtOnce) return;
    after = found.at(-1)?.id ?? '';
  }
}

function forgotten(notice: Notice, word: string): Notice {
  const { actor, waiting_on: waitingOn, changes } = notice;
  const value = (text: string | undefined): string | undefined => {
    if (text === word) return name;
    const party = parties.find((each) => text === `${each}: ${word}` || text?.startsWith(`${each}: ${word} (`));
    return party === undefined ? text : text?.replace(`${party}: ${word}`, () => `${party}: ${name}`);
  };
  return {
    ...notice,
    ...(actor?.kind === 'user' && actor.name === word && { actor: { ...actor, name } }),
    ...(waitingOn?.name === word && { waiting_on: { ...waitingOn, name } }),
    ...(changes && {
      changes: changes.map((each) =>
        each.change === 'assignee' || each.change === 'waiting_on'
          ? Object.assign({}, each, { from: value(each.from), to: value(each.to) })
          : each,
      ),
    }),
  };
}

function begins(scope: Scope, column: string, text: string) {
  return scope.raw('substr(??, 1, ?) = ?', [column, Array.from(text).length, text]);
}

/** An actor's JSON with this id. Its underscore stands for any character, and its random rest for nothing else. */
function mentions(userId: UserId): string {
  return `%"id":"${userId}"%`;
}

/** Organizations where a person is a member, has left something, or made what they could act by; in one order, against deadlocks. */
async function placesOf(
  knex: Statements,
  userId: UserId,
  only: OrganizationId | undefined,
): Promise<readonly OrganizationId[]> {
  if (only !== undefined) return [only];
  const found = await Promise.all([
    knex('members').where({ user_id: userId }).distinct('organization_id'),
    knex('api_keys').where({ created_by: userId }).distinct('organization_id'),
    knex('invitations').where({ created_by: userId }).distinct('organization_id'),
    knex('chats').where({ created_by_id: userId }).distinct('organization_id'),
    knex('alert_sources').where({ created_by: userId }).distinct('organization_id'),
    knex('ingest_tokens').where({ created_by: userId }).distinct('organization_id'),
    knex('scim_tokens').where({ created_by: userId }).distinct('organization_id'),
    knex('scim_users').where({ user_id: userId }).distinct('organization_id'),
    knex('incident_timeline').where('actor', 'like', mentions(userId)).distinct('organization_id'),
    knex('incident_documents').where('author', 'like', mentions(userId)).distinct('organization_id'),
  ]);
  return inOrder(found.flat().map(({ organization_id }) => organization_id));
}

function inOrder(ids: readonly string[]): readonly OrganizationId[] {
  return [...new Set(ids)].toSorted().map((id) => toId('org', id));
}

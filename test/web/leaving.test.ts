import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { password } from './support/site.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

describe('the pages by which people leave', () => {
  let place: Workplace;
  let admin: Colleague;
  let member: Colleague;
  beforeEach(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
    member = await place.enter('member', 'mia@acme.example');
  });
  afterEach(() => place.close());

  const startChat = ({ user: { id, name } }: Colleague, workspace = place.workspace) =>
    workspace.chats.start({
      title: 'Why?',
      message: 'Why is it slow?',
      author: { kind: 'user', id, name },
      engine: 'playbook',
    });
  const gone = async (email: string) => (await place.site.storage.directory.findUser(email)) === undefined;

  it('give a person what is kept of them, and nobody else’s', async () => {
    await startChat(member);
    await startChat(admin);
    const { status, headers, text } = await member.browser.submit('/account', {}, '/account/data');
    expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="sightline-account.jsonl"']);
    const lines = text.trim().split('\n');
    expect(lines.map((line) => line.match(/^{"type":"(\w+)"/)?.[1])).toEqual([
      'account',
      'membership',
      'chat',
      'message',
    ]);
    expect(text).not.toContain('ada@');
    const csrf = await admin.browser.csrf('/account');
    expect((await place.site.browser().post('/account/data', { csrf })).status).toBe(303);
  });

  it('delete the account once its address was typed, and sign it out everywhere', async () => {
    const { chat } = await startChat(member);
    const asked = await member.browser.get('/account/delete');
    expect(readable(asked.text)).toContain('Type mia@acme.example to confirm');
    const wrong = await member.browser.submit('/account/delete', { email: 'ada@acme.example' });
    expect([wrong.status, await gone('mia@acme.example')]).toEqual([400, false]);
    const done = await member.browser.submit('/account/delete', { email: 'MIA@acme.example' });
    expect([done.headers.location, await gone('mia@acme.example')]).toEqual(['/sign-in', true]);
    expect((await member.browser.get('/account')).headers.location).toContain('/sign-in');
    expect((await place.site.browser().signIn('mia@acme.example', password)).status).toBe(403);
    expect(await place.workspace.chats.get(chat.id)).toBeUndefined();
  });

  it('leave the chats where that is wished, and refuse the only admin', async () => {
    const { chat } = await startChat(member);
    await member.browser.submit('/account/delete', { email: 'mia@acme.example', chats: 'keep' });
    expect((await place.workspace.chats.get(chat.id))?.createdBy.name).toBe('Deleted person');
    expect((await admin.browser.get(`/chats/${chat.id}`)).text).toContain('Deleted person');
    const refused = await admin.browser.submit('/account/delete', { email: 'ada@acme.example' });
    expect([refused.status, readable(refused.text)]).toEqual([409, expect.stringContaining('only admin')]);
    expect(await gone('ada@acme.example')).toBe(false);
  });

  it('let an admin delete what is a member’s here, and nothing of another organization', async () => {
    const { people } = place.site;
    const operator = { kind: 'operator', id: 'root', name: 'root' } as const;
    await people.addMember(place.elsewhere.id, member.user.id, 'member', operator);
    const elsewhere = place.site.storage.workspace(place.elsewhere.id);
    const [here, there] = [await startChat(member), await startChat(member, elsewhere)];
    const path = `/members/${member.user.id}/remove`;
    expect(readable((await admin.browser.get(path)).text)).toContain('Delete what is theirs');
    expect((await admin.browser.submit(path, { data: 'delete' })).headers.location).toBe('/members');
    expect(await place.workspace.chats.get(here.chat.id)).toBeUndefined();
    expect((await elsewhere.chats.get(there.chat.id))?.createdBy.id).toBe(member.user.id);
    expect((await people.memberships(member.user.id)).map(({ organization }) => organization.id)).toEqual([
      place.elsewhere.id,
    ]);
  });

  it('are for nobody of another organization', async () => {
    const stranger = await place.enter('admin', 'oskar@globex.example', place.elsewhere);
    const csrf = await stranger.browser.csrf('/account');
    const answer = await stranger.browser.post(`/members/${member.user.id}/remove`, { csrf, data: 'delete' });
    expect([answer.status, await gone('mia@acme.example')]).toEqual([404, false]);
  });
});

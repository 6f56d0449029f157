import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const path = '/organization/delete';

describe('the deletion of an organization on the pages', () => {
  let place: Workplace;
  let admin: Colleague;
  let member: Colleague;
  let stranger: Colleague;
  beforeEach(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
    member = await place.enter('member', 'mia@acme.example');
    stranger = await place.enter('admin', 'oskar@globex.example', place.elsewhere);
  });
  afterEach(() => place.close());

  const events = async () =>
    (await place.workspace.audit.list({ limit: 10 })).map(({ event, subject }) => [event, subject]);
  const organizations = async ({ browser }: Colleague) => readable((await browser.get('/organizations')).text);

  it('needs its name, shuts everybody out, tells them, and can be undone by an admin', async () => {
    expect((await admin.browser.submit(path, { name: 'something else' })).status).toBe(400);
    const { name } = place.organization;
    expect((await admin.browser.submit(path, { name: name.toUpperCase() })).headers.location).toBe('/organizations');
    for (const each of [admin, member]) {
      expect((await each.browser.get('/incidents')).headers.location).toContain('/organizations');
      expect(await organizations(each)).toContain('Can be restored until');
    }
    expect((await stranger.browser.get('/incidents')).status).toBe(200);
    expect(await organizations(stranger)).not.toContain(name);
    expect(await events()).toContainEqual(['organization.deleted', admin.user.id]);
    for (const each of [member, stranger]) {
      const csrf = await each.browser.csrf('/account');
      const form = { csrf, organization: place.organization.id };
      expect((await each.browser.post('/organizations/restore', form)).status).toBe(403);
    }
    const csrf = await admin.browser.csrf('/account');
    await admin.browser.post('/organizations/restore', { csrf, organization: place.organization.id });
    expect((await member.browser.get('/incidents')).status).toBe(200);
    expect(await events()).toContainEqual(['organization.restored', admin.user.id]);
  });

  it('is for admins alone', async () => {
    expect((await member.browser.get(path)).status).toBe(403);
    const csrf = await member.browser.csrf('/account');
    expect((await member.browser.post(path, { csrf, name: place.organization.name })).status).toBe(403);
    expect((await member.browser.get('/members')).text).not.toContain(path);
    expect((await admin.browser.get('/members')).text).toContain(path);
  });
});

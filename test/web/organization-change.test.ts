import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { password } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';
import { openWorkplace, type Workplace } from './support/workplace.ts';

/** One browser, two tabs: a form is open in one while the other goes to another organization. */
describe('a form that was opened in another organization', () => {
  let place: Workplace;
  let browser: TestBrowser;
  let stale: string;
  beforeAll(async () => {
    place = await openWorkplace();
    const { site, organization, elsewhere } = place;
    await site.person('ada@acme.example', [
      [organization, 'admin'],
      [elsewhere, 'admin'],
    ]);
    browser = site.browser();
    await browser.signIn('ada@acme.example', password);
    await browser.submit('/organizations', { organization: organization.id });
    stale = await browser.csrf('/members');
    await browser.submit('/organizations', { organization: elsewhere.id });
  });
  afterAll(() => place.close());

  it.each([
    ['/members', { email: 'eve@acme.example', role: 'admin' }],
    ['/integrations/api-keys', { name: 'CI', scopes: 'telemetry:read' }],
    ['/integrations/telemetry/rotate', { before: 'end' }],
    ['/chats/new', { message: 'Why does our checkout fail?', once: 'one' }],
  ])('changes nothing in the one shown now: %s', async (path, fields) => {
    const audit = async () =>
      (await place.site.storage.workspace(place.elsewhere.id).audit.list({ limit: 100 })).length;
    const before = await audit();
    const answer = await browser.post(path, { csrf: stale, ...fields });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('shows Globex now');
    expect(await audit()).toBe(before);
    expect((await place.site.storage.workspace(place.elsewhere.id).chats.list({ limit: 10 })).items).toEqual([]);
    // From a page of the one shown now it is taken.
    const fresh = await browser.csrf('/members');
    expect((await browser.post(path, { csrf: fresh, ...fields })).status).toBe(303);
  });

  it('still chooses an organization and signs out, which belong to none', async () => {
    const chosen = await browser.post('/organizations', { csrf: stale, organization: place.organization.id });
    expect(chosen.status).toBe(303);
    const other = await browser.csrf('/members');
    await browser.submit('/organizations', { organization: place.elsewhere.id });
    expect((await browser.post('/sign-out', { csrf: other })).headers.location).toBe('/sign-in');
  });
});

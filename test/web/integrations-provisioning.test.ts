import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

const path = '/integrations/provisioning';

describe('the page of SCIM tokens', () => {
  let place: Workplace;
  let admin: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
  });
  afterAll(() => place.close());

  const page = async (): Promise<string> => readable((await admin.browser.get(path)).text);
  const tokenIn = (text: string): string => /scim_[\w-]{43}/.exec(text)?.[0] ?? '';
  const status = async (token: string): Promise<number> =>
    (await fetch(`${place.site.authUrl}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } })).status;

  it('makes a token, shows it with the address until it is copied, and ends it', async () => {
    expect(await page()).toContain('There is no token yet.');
    expect((await admin.browser.submit(path, {})).headers.location).toBe(path);
    const first = await page();
    const token = tokenIn(first);
    expect(first).toContain(`${place.site.authUrl}/scim/v2`);
    expect(await status(token)).toBe(200);
    await admin.browser.submit(path, {}, '/secret-copied');
    const later = await admin.browser.get(path);
    expect(tokenIn(later.text)).toBe('');
    expect(readable(later.text)).toContain(`…${token.slice(-4)}`);
    expect(readable(later.text)).toContain('ada@acme.example');
    const end = /href="([^"]*\/sct_[^"]*\/end)"/.exec(later.text)?.[1] ?? '';
    expect(readable((await admin.browser.get(end)).text)).toContain(`End the token …${token.slice(-4)}?`);
    expect((await admin.browser.submit(end, {})).headers.location).toBe(`${path}?done=ended`);
    expect(await status(token)).toBe(401);
    expect((await admin.browser.get(end)).status).toBe(404);
  });

  it('goes on showing a new token when the one before is ended', async () => {
    const ends = async (): Promise<readonly string[]> =>
      [...(await admin.browser.get(path)).text.matchAll(/href="([^"]*\/sct_[^"]*\/end)"/g)].map(([, end = '']) => end);
    await admin.browser.submit(path, {});
    const [before = ''] = await ends();
    await admin.browser.submit(path, {});
    const token = tokenIn(await page());
    await admin.browser.submit(before, {});
    expect(tokenIn(await page())).toBe(token);
    const [own = ''] = await ends();
    await admin.browser.submit(own, {});
    expect(tokenIn(await page())).toBe('');
    expect(await status(token)).toBe(401);
  });

  it('shows a new token on the page of its organization alone', async () => {
    const { site, organization, elsewhere } = place;
    const look = async (at: typeof organization): Promise<string> => {
      await admin.browser.submit('/organizations', { organization: at.id });
      return tokenIn(await page());
    };
    await site.people.addMember(elsewhere.id, admin.user.id, 'admin', operator);
    await admin.browser.submit(path, {});
    const token = tokenIn(await page());
    expect(await status(token)).toBe(200);
    expect(await look(elsewhere)).toBe('');
    await admin.browser.submit(path, {});
    expect(tokenIn(await page())).not.toBe('');
    expect(await look(organization)).toBe(token);
  });

  it('is an admin’s alone, and another organization’s token cannot be ended by it', async () => {
    const member = await place.enter('member', 'bob@acme.example');
    expect((await member.browser.get(path)).status).toBe(403);
    const other = place.elsewhere;
    const { id, token } = await place.site.scimTokens.create(other.id, operator);
    expect((await admin.browser.get(`${path}/${id}/end`)).status).toBe(404);
    const csrf = await admin.browser.csrf(path);
    expect((await admin.browser.post(`${path}/${id}/end`, { csrf })).status).toBe(404);
    expect(await status(token)).toBe(200);
  });
});

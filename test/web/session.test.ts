import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSite, password, type Site } from './support/site.ts';

describe('a browser that is signed in', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite();
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
  });
  afterEach(() => site.close());

  it('has a cookie that no script reads and no other site sends along', async () => {
    const browser = site.browser();
    const answer = await browser.signIn('ada@acme.example', password);
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe('/incidents');
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^sightline-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43(200|199)$/);
  });

  it('is given a new session at every sign-in, whatever it showed before, and the old one ends', async () => {
    const browser = site.browser();
    browser.cookies.set(browser.sessionCookie, 'A'.repeat(43));
    await browser.signIn('ada@acme.example', password);
    const first = browser.cookies.get(browser.sessionCookie) ?? '';
    expect(first).not.toBe('A'.repeat(43));

    const csrf = await browser.csrf('/account');
    await browser.post('/sign-in', { csrf, email: 'ada@acme.example', password });
    const second = browser.cookies.get(browser.sessionCookie) ?? '';
    expect(second).not.toBe(first);
    expect(await site.people.session(second)).toBeDefined();
    expect(await site.people.session(first)).toBeUndefined();
  });

  it('keeps nothing of its cookie in the database', async () => {
    const browser = site.browser();
    await browser.signIn('ada@acme.example', password);
    const token = browser.cookies.get(browser.sessionCookie) ?? '';
    expect(await site.storage.directory.sessions.find(token)).toBeUndefined();
    expect(await site.people.session(token)).toMatchObject({ user: { email: 'ada@acme.example' } });
  });

  it('is signed out on every instance with the next request', async () => {
    const second = await site.another();
    const browser = site.browser();
    const elsewhere = second.browser();
    await browser.signIn('ada@acme.example', password);
    elsewhere.cookies.set(elsewhere.sessionCookie, browser.cookies.get(browser.sessionCookie) ?? '');
    expect((await elsewhere.get('/account')).status).toBe(200);

    const answer = await browser.submit('/account', {}, '/sign-out');
    expect([answer.status, answer.headers.location]).toEqual([303, '/sign-in']);
    expect(answer.headers['set-cookie']).toEqual([
      `${browser.sessionCookie}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`,
    ]);
    expect(browser.cookies.has(browser.sessionCookie)).toBe(false);
    expect((await elsewhere.get('/account')).headers.location).toBe('/sign-in?return_to=%2Faccount');
    await second.close();
  });

  it('is signed out with every other one of the person, and of nobody else', async () => {
    await site.person('bob@acme.example', [[await site.organization('bobs'), 'member']]);
    const [here, there, bobs] = [site.browser(), site.browser(), site.browser()];
    await here.signIn('ada@acme.example', password);
    await there.signIn('ada@acme.example', password);
    await bobs.signIn('bob@acme.example', password);
    expect((await here.submit('/account', {}, '/account/sign-out-everywhere')).status).toBe(303);
    expect((await there.get('/account')).status).toBe(303);
    expect((await bobs.get('/account')).status).toBe(200);
  });

  it('is known for twelve hours and no longer', async () => {
    const browser = site.browser();
    await browser.signIn('ada@acme.example', password);
    const live = await site.people.session(browser.cookies.get(browser.sessionCookie) ?? '');
    const hours = ((live?.expiresAt.getTime() ?? 0) - Date.now()) / 3_600_000;
    expect(Math.round(hours * 10) / 10).toBe(12);
  });

  it('is led to the sign-in page and back to where it wanted to go', async () => {
    const browser = site.browser();
    const turned = await browser.get('/account?done=password');
    expect(turned.headers.location).toBe('/sign-in?return_to=%2Faccount%3Fdone%3Dpassword');
    const signedIn = await browser.submit(turned.headers.location ?? '', { email: 'ada@acme.example', password });
    expect(signedIn.headers.location).toBe('/account?done=password');
    expect((await browser.get('/sign-in')).headers.location).toBe('/incidents');
  });

  it('is refused a page for admins where the person is none', async () => {
    const acme = await site.storage.directory.findOrganization('acme');
    if (!acme) throw new Error('no organization');
    await site.person('bob@acme.example', [[acme, 'member']]);
    const browser = site.browser();
    await browser.signIn('bob@acme.example', password);
    const answer = await browser.get('/integrations/api-keys');
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Only admins of acme can open this page.');
  });
});

describe('cookies over https', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ authUrl: 'https://sightline.example/team' });
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
  });
  afterEach(() => site.close());

  it('are bound to the host and to https, the one of the form as well', async () => {
    const browser = site.browser();
    const form = await browser.get('/team/sign-in');
    expect(form.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-sightline-form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    const answer = await browser.submit('/team/sign-in', { email: 'ada@acme.example', password });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-sightline=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/),
    ]);
    expect(answer.headers['strict-transport-security']).toBeDefined();
  });

  it('are not taken under the name without the prefix, which another host could plant', async () => {
    const browser = site.browser();
    await browser.submit('/team/sign-in', { email: 'ada@acme.example', password });
    const token = browser.cookies.get('__Host-sightline') ?? '';
    expect((await browser.get('/team/account')).status).toBe(200);
    browser.cookies.clear();
    for (const name of ['sightline', `sightline-${new URL(site.authUrl).port}`]) browser.cookies.set(name, token);
    expect((await browser.get('/team/account')).status).toBe(303);
  });

  it.each(['\u{a0}', '\u{a0} \u{a0}'])(
    'are not taken under a name that only looks like ours behind %j',
    async (blank) => {
      const browser = site.browser();
      await browser.submit('/team/sign-in', { email: 'ada@acme.example', password });
      const token = browser.cookies.get('__Host-sightline') ?? '';
      const planted = (name: string) => site.browser().get('/team/account', { cookie: `a=b; ${name}=${token}` });
      expect((await planted('__Host-sightline')).status).toBe(200);
      // Another host of the domain may set it, for to the browser it has no prefix.
      expect((await planted(`${blank}__Host-sightline`)).status).toBe(303);
    },
  );

  it('go with links below the path of authUrl, whether a proxy strips it or not', async () => {
    const browser = site.browser();
    const answer = await browser.submit('/team/sign-in', { email: 'ada@acme.example', password });
    expect(answer.headers.location).toBe('/team/incidents');
    for (const path of ['/team/account', '/account']) {
      const { status, text } = await browser.get(path);
      expect(status).toBe(200);
      const targets = [...text.matchAll(/(?:href|action|src)="([^"#][^"]*)"/g)].map(([, target]) => target);
      expect(targets.length).toBeGreaterThan(8);
      expect(targets.filter((target) => !target?.startsWith('/team/'))).toEqual([]);
    }
    browser.cookies.clear();
    expect((await browser.get('/team/account')).headers.location).toBe('/team/sign-in?return_to=%2Faccount');
  });
});

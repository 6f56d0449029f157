import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { ExternalIdentity, RedirectSignIn } from '../../src/contract/issuer/index.ts';
import { readable } from '../support/person.ts';
import { openSite, password, type Site } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';

describe('signing in with a password', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite();
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
  });
  afterEach(() => site.close());

  it('says the same for a wrong password and for an account that there is not, and keeps the address', async () => {
    const texts = new Set<string>();
    for (const email of ['ada@acme.example', 'nobody@acme.example']) {
      const browser = site.browser();
      const answer = await browser.signIn(email, 'not the password');
      expect(answer.status).toBe(403);
      expect(answer.text).toContain(`value="${email}"`);
      expect(answer.text).not.toContain('not the password');
      expect(browser.cookies.has(browser.sessionCookie)).toBe(false);
      texts.add(readable(answer.text));
    }
    expect(texts.size).toBe(1);
  });

  it('says when to come back after too many failures', async () => {
    const browser = site.browser();
    let answer = await browser.signIn('ada@acme.example', 'wrong 0');
    for (let attempt = 1; attempt < 200 && answer.status === 403; attempt += 1) {
      answer = await browser.signIn('ada@acme.example', `wrong ${attempt}`);
    }
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.text).toContain('role="alert"');
  });

  it('shows what was typed as text', async () => {
    const answer = await site.browser().signIn('"><script>alert(1)</script>@x', password);
    expect(answer.text).not.toContain('<script>alert');
    expect(answer.text).toContain('&#34;&#62;&#60;script&#62;');
  });

  it('writes neither password nor session to the log', async () => {
    const browser = site.browser();
    await browser.signIn('ada@acme.example', 'a wrong one');
    await browser.signIn('ada@acme.example', password);
    const secrets = [password, 'a wrong one', ...browser.cookies.values()];
    expect(secrets).toHaveLength(4);
    for (const secret of secrets) expect(site.log.join('\n')).not.toContain(secret);
  });

  it('sends nobody to an identity provider', async () => {
    for (const path of ['/sign-in/start', '/sign-in/callback?code=x']) {
      expect((await site.browser().get(path)).headers.location).toBe('/sign-in');
    }
  });
});

/** An identity provider in a few lines: it signs in whoever `next` says, where the state is the one it gave out. */
class Provider implements RedirectSignIn {
  readonly kind = 'redirect';
  readonly name = 'Acme <SSO>';
  next: ExternalIdentity | SightlineError;
  begun = 0;
  another = false;
  away = false;
  constructor(next: ExternalIdentity) {
    this.next = next;
  }
  async endSession() {
    if (this.away) throw new SightlineError('unavailable', 'away');
    return 'https://idp.example/logout?client_id=sightline';
  }
  async begin(redirectUri: string, another = false) {
    this.begun += 1;
    this.another = another;
    const state = `state-${this.begun}`;
    const url = `https://idp.example/authorize?${new URLSearchParams({ state, redirect_uri: redirectUri }).toString()}`;
    return { url, state };
  }
  async finish(callback: URL, state: string) {
    if (callback.searchParams.get('state') !== state) throw new SightlineError('forbidden', 'The state is another.');
    if (this.next instanceof SightlineError) throw this.next;
    return this.next;
  }
}

const pendingOf = ({ cookies, sessionCookie }: TestBrowser) =>
  [...cookies].filter(([name]) => name.startsWith(`${sessionCookie}-sign-in`));

describe('signing in at an identity provider', () => {
  const ada: ExternalIdentity = {
    issuer: 'https://idp.example',
    subject: 'ada',
    email: 'ada@acme.example',
    name: 'Ada',
    memberships: [{ organization: 'acme', role: 'member' }],
  };
  let site: Site;
  let provider: Provider;
  beforeEach(async () => {
    provider = new Provider(ada);
    site = await openSite({ signIn: provider });
    await site.organization('acme');
  });
  afterEach(() => site.close());

  it('goes there by a link, comes back, and goes on to where the person wanted', async () => {
    const browser = site.browser();
    const page = await browser.get('/sign-in?return_to=/account');
    expect(page.text).toContain('Sign in with Acme &#60;SSO&#62;');
    expect(page.text).not.toContain('<form');
    const start = /href="(\/sign-in\/start[^"]*)"/.exec(page.text)?.[1] ?? '';
    const away = await browser.get(start.replaceAll('&#38;', '&'));
    expect(away.status).toBe(303);
    const target = new URL(away.headers.location ?? '');
    expect(target.searchParams.get('redirect_uri')).toBe(`${site.authUrl}/sign-in/callback`);
    expect(away.headers['set-cookie']).toEqual([
      expect.stringMatching(/^sightline-\d+-sign-in-[0-9a-f]{16}=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
    ]);
    expect(pendingOf(browser)).toHaveLength(1);
    expect(JSON.stringify(pendingOf(browser))).not.toContain('state-1');

    const back = await browser.get('/sign-in/callback?code=c&state=state-1', { 'sec-fetch-site': 'cross-site' });
    expect([back.status, back.headers.location]).toEqual([303, '/account']);
    expect((await browser.get('/account')).text).toContain('ada@acme.example');
    expect(pendingOf(browser)).toEqual([]);
  });

  it('is finished only in the browser that began, once, and within ten minutes', async () => {
    const victim = site.browser();
    await victim.get('/sign-in/start');
    const attacker = site.browser();
    await attacker.get('/sign-in/start');
    // The attacker's own callback, opened in the victim's browser: of another state, or of a browser that began nothing.
    for (const browser of [victim, site.browser()]) {
      const answer = await browser.get('/sign-in/callback?code=attackers&state=state-2');
      expect(answer.status).toBe(403);
      expect(browser.cookies.has(browser.sessionCookie)).toBe(false);
    }
    // That leaves the victim's own sign-in alone.
    expect((await victim.get('/sign-in/callback?code=c&state=state-1')).status).toBe(303);
    const [[name, sealed] = ['', '']] = pendingOf(attacker);
    expect((await attacker.get('/sign-in/callback?code=c&state=state-2')).status).toBe(303);
    expect((await attacker.get('/sign-in/callback?code=c&state=state-2')).status).toBe(403);

    const slow = site.browser();
    slow.cookies.set(name, sealed);
    site.ahead = 601_000;
    expect((await slow.get('/sign-in/callback?code=c&state=state-2')).status).toBe(403);
    expect(slow.cookies.has(slow.sessionCookie)).toBe(false);
  });

  it.each(['', 'nonsense', 'v1.a.b.c', 'AAAA'.repeat(20)])(
    'is not finished with a made-up cookie: %j',
    async (value) => {
      const browser = site.browser();
      await browser.get('/sign-in/start');
      const [[name] = ['']] = pendingOf(browser);
      browser.cookies.set(name, value);
      expect((await browser.get('/sign-in/callback?code=c&state=state-1')).status).toBe(403);
    },
  );

  it('goes on in two tabs at once, and in no more than five', async () => {
    const browser = site.browser();
    await browser.get('/sign-in/start?return_to=/account');
    await browser.get('/sign-in/start?return_to=/members');
    const answers = [
      await browser.get('/sign-in/callback?code=c&state=state-2'),
      await browser.get('/sign-in/callback?code=c&state=state-1'),
    ];
    expect(answers.map(({ headers }) => headers.location)).toEqual(['/members', '/account']);
    for (let tab = 0; tab < 8; tab += 1) await browser.get('/sign-in/start');
    expect(pendingOf(browser)).toHaveLength(5);
    expect((await browser.get('/sign-in/callback?code=c&state=state-3')).status).toBe(403);
    expect((await browser.get('/sign-in/callback?code=c&state=state-10')).status).toBe(303);
  });

  it('asks for another account after signing out, and offers to sign out at the provider as well', async () => {
    const browser = site.browser();
    await browser.get('/sign-in/start');
    await browser.get('/sign-in/callback?code=c&state=state-1');
    expect(provider.another).toBe(false);
    const out = await browser.post('/sign-out', { csrf: await browser.csrf('/account'), return_to: '/members' });
    expect(out.headers.location).toBe('/sign-in?another=&return_to=%2Fmembers');
    const { text } = await browser.get(out.headers.location ?? '');
    expect(text).toContain('href="https://idp.example/logout?client_id=sightline"');
    const [, start = ''] = /href="([^"]*)">Sign in with another account/.exec(text) ?? [];
    await browser.get(start.replaceAll('&#38;', '&'));
    expect(provider.another).toBe(true);
    expect((await browser.get('/sign-in/callback?code=c&state=state-2')).headers.location).toBe('/members');
    provider.away = true;
    const down = await site.browser().get('/sign-in?another=');
    expect([down.status, down.text.includes('as well')]).toEqual([200, false]);
  });

  it('is not begun by another site', async () => {
    const answer = await site.browser().get('/sign-in/start?return_to=/account', { 'sec-fetch-site': 'cross-site' });
    expect(answer.headers.location).toBe('/sign-in?return_to=%2Faccount');
    expect(provider.begun).toBe(0);
  });

  it('takes the person where they may go only when it ends, and never elsewhere', async () => {
    const browser = site.browser();
    await browser.get('/sign-in/start?return_to=//evil.example');
    expect((await browser.get('/sign-in/callback?code=c&state=state-1')).headers.location).toBe('/incidents');
  });

  it('shows the sentence of a refusal, and a way to begin again', async () => {
    provider.next = new SightlineError('forbidden', 'Nobody <here> lets you in.');
    const browser = site.browser();
    await browser.get('/sign-in/start?return_to=/account');
    const answer = await browser.get('/sign-in/callback?code=c&state=state-1');
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Nobody &#60;here&#62; lets you in.');
    expect(answer.text).toContain('href="/sign-in?return_to=%2Faccount"');
  });

  it('lets a person choose another account where the provider would sign in the refused one again', async () => {
    provider.next = new SightlineError('forbidden', 'This invitation is for bob@acme.example.');
    const browser = site.browser();
    await browser.get('/sign-in/start?return_to=/members');
    const { text } = await browser.get('/sign-in/callback?code=c&state=state-1');
    const [, start = ''] = /href="([^"]*)">Sign in with another account/.exec(text) ?? [];
    provider.next = ada;
    await browser.get(start.replaceAll('&#38;', '&'));
    expect(provider.another).toBe(true);
    expect((await browser.get('/sign-in/callback?code=c&state=state-2')).headers.location).toBe('/members');
  });

  it('says that the provider cannot be reached, and logs no state', async () => {
    provider.next = new SightlineError('unavailable', 'The identity provider does not answer.', {
      retryAfterSeconds: 5,
    });
    const browser = site.browser();
    await browser.get('/sign-in/start?return_to=/account');
    const answer = await browser.get('/sign-in/callback?code=c0de&state=state-1');
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(answer.text).toContain('The identity provider does not answer.');
    expect(answer.text).toContain('href="/sign-in?return_to=%2Faccount"');
    expect(site.log.join('\n')).not.toMatch(/c0de|state-1/);
  });

  it('takes no passwords', async () => {
    const browser = site.browser();
    await site.person('bob@acme.example');
    const csrf = await site
      .browser()
      .csrf('/password?token=x')
      .catch(() => '');
    expect(csrf).toBe('');
    const answer = await browser.post('/sign-in', { email: 'bob@acme.example', password });
    expect(answer.status).toBe(403);
  });

  it('accepts the invitation whose link the person came by', async () => {
    const other = await site.organization('other');
    const actor = { kind: 'operator', id: 'root', name: 'root' } as const;
    const bob = { ...ada, subject: 'bob', email: 'bob@acme.example', memberships: [] };
    provider.next = bob;
    const { token } = await site.people.invite({
      organizationId: other.id,
      email: 'bob@acme.example',
      role: 'admin',
      actor,
    });
    const browser = site.browser();
    const page = await browser.get(`/invitation?token=${token}`);
    const signIn = /href="(\/sign-in\?[^"]*)"/.exec(page.text)?.[1] ?? '';
    const begin = /href="(\/sign-in\/start[^"]*)"/.exec((await browser.get(signIn)).text)?.[1] ?? '';
    await browser.get(begin);
    const back = await browser.get('/sign-in/callback?code=c&state=state-1');
    expect(back.headers.location).toBe('/incidents');
    expect((await browser.get('/account')).text).toContain('other, as admin');
    expect(await site.people.invitation(token)).toBeUndefined();
  });
});

import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { AuthorizationRequest, AuthorizationRequests, Consent } from '../../src/contract/issuer/index.ts';
import type { Organization, User } from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { desktop, openSite, password, type Site } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';

const claude: AuthorizationRequest = {
  client: { id: 'https://claude.ai/c', name: 'Claude Code', known: 'document', host: 'claude.ai' },
  redirectOrigin: 'https://claude.ai',
  scopes: ['telemetry:read', 'incidents:read'],
};

/** One request that waits, as the authorization server tells of it. */
class Waiting implements AuthorizationRequests {
  asked: AuthorizationRequest | undefined = claude;
  readonly approved: Consent[] = [];
  denied = 0;
  async find() {
    return this.asked;
  }
  async approve(_request: unknown, _response: unknown, consent: Consent) {
    if (!this.asked) throw new SightlineError('not_found', 'This request has ended.');
    this.approved.push(consent);
    return 'https://claude.ai/callback?code=1';
  }
  async deny() {
    this.denied += 1;
    return 'https://claude.ai/callback?error=access_denied';
  }
}

/** Of the tests' browser, which says nothing of itself. */
const machine = 'Another browser, 127.0.0.1';

describe('the consent page', () => {
  let site: Site;
  let waiting: Waiting;
  let acme: Organization;
  let ada: User;
  let browser: TestBrowser;
  beforeEach(async () => {
    waiting = new Waiting();
    site = await openSite({ authorizationRequests: waiting });
    acme = await site.organization('acme');
    ada = await site.person('ada@acme.example', [[acme, 'member']]);
    browser = site.browser();
    await browser.signIn('ada@acme.example', password);
  });
  afterEach(() => site.close());

  const shown = async (asked: Partial<AuthorizationRequest>) => {
    waiting.asked = { ...claude, ...asked };
    const { text, headers, status } = await browser.get('/consent/abc');
    const policy = String(headers['content-security-policy']);
    return { status, text: readable(text), policy, html: text };
  };

  it('says who asks, how it is known, where the access goes, for whom, and what for', async () => {
    const { text } = await shown({});
    for (const words of [
      'Claude Code asks for access',
      'Verified by its web address, claude.ai',
      'Access goes to claude.ai',
      'Signed in as ada@acme.example',
      'In the organization acme',
      'Read telemetry Logs, traces and metrics',
      'Read incidents',
      'Allow',
      'Deny',
      'Use another account',
    ]) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/Write in chats|See how telemetry is sent|Allow it only if/);
  });

  it('says that a name proves nothing where the application gave it to itself', async () => {
    const client = { id: 'dyn', name: 'Claude Code', known: 'registration' } as const;
    const { text } = await shown({ client, redirectOrigin: 'https://evil.example' });
    expect(text).toContain('The application gave itself the name Claude Code ; anyone can use it.');
    expect(text).not.toContain('Verified');
    expect(text).toContain('The operator of evil.example gets this access');
  });

  it.each([
    ['https://other.example', 'known by claude.ai, but the access goes to other.example'],
    ['http://127.0.0.1:4711', 'Any program on this computer can ask'],
    ['http://localhost:4711', 'Any program on this computer can ask'],
    ['http://[::1]:4711', 'Any program on this computer can ask'],
    ['cursor:', 'Any application on this computer could have asked to open cursor: links'],
    ['com.example.app:', 'open com.example.app: links'],
  ])('warns where the access goes to %s, and its form leads to us alone', async (redirectOrigin, words) => {
    const { text, policy } = await shown({ redirectOrigin });
    expect(text).toContain(words);
    expect(policy).toContain("form-action 'self';");
  });

  it.each([
    "https://a.example; script-src 'unsafe-inline'",
    'https://a.example https://b.example',
    "'unsafe-inline'",
    '*',
    'https://*.example',
    'javascript:alert(1)//',
    'javascript:',
    'data:',
    '',
  ])('shows nothing for a redirect to no place for an answer: %j', async (redirectOrigin) => {
    expect((await shown({ redirectOrigin })).status).toBe(400);
    expect((await shown({ redirectOrigin, answer: { allowed: true, location: redirectOrigin } })).status).toBe(400);
  });

  const answered = async (asked: Partial<AuthorizationRequest>, path = '/consent/abc?answered') => {
    waiting.asked = { ...claude, ...asked };
    const { text, headers, status } = await browser.get(path);
    return { status, headers, text: readable(text), html: text };
  };

  it.each([
    ['Access allowed', true, 'https://claude.ai/callback?code=1&state=a%22%3E%3Cb%3E&iss=x'],
    ['Access denied', false, 'cursor://anysphere.cursor/callback?error=access_denied&state=1'],
  ])('leads on by itself once it is answered: %s', async (title, allowed, location) => {
    const { status, headers, text, html } = await answered({ answer: { allowed, location } });
    expect([status, headers['refresh'], headers['referrer-policy']]).toEqual([
      200,
      `0; url=${location}`,
      'no-referrer',
    ]);
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toContain(title);
    expect(text).toContain('You can close this window.');
    expect(html).toContain(`href="${location.replaceAll('&', '&#38;')}"`);
  });

  it('answers kindly who comes again, and sends nobody anywhere', async () => {
    const location = 'https://claude.ai/callback?code=1';
    for (const [answer, path] of [
      [{ allowed: true, location }, '/consent/abc'],
      [{ allowed: true }, '/consent/abc?answered'],
      [{ allowed: true, location: 'javascript:alert(1)' }, '/consent/abc?answered'],
    ] as const) {
      const { status, headers, text, html } = await answered({ answer }, path);
      expect([status, headers['refresh']]).toEqual([200, undefined]);
      expect(text).toContain('You have answered this already');
      expect(text).toContain('Go back to Claude Code');
      expect(text).toContain('You can close this window.');
      expect(html).not.toMatch(/code=1|javascript:|<form/);
    }
  });

  it('shows a hostile name as text', async () => {
    const name = '<img src=x onerror=alert(1)>\u202E"';
    const { html, text } = await shown({ client: { ...claude.client, name } });
    expect(html).not.toContain('<img src=x');
    expect(html).not.toContain('\u202E');
    expect(text).toContain('<img src=x onerror=alert(1)> "');
  });

  it('gives what was left checked, and leads to the application', async () => {
    const answer = await browser.submit('/consent/abc', { answer: 'allow', scopes: ['incidents:read'] });
    expect([answer.status, answer.headers.location]).toEqual([303, 'https://claude.ai/callback?code=1']);
    expect(waiting.approved).toEqual([
      { userId: ada.id, organizationId: acme.id, scopes: ['incidents:read'], machine },
    ]);
  });

  it('gives nothing when it is denied', async () => {
    const answer = await browser.submit('/consent/abc', { answer: 'deny' });
    expect(answer.headers.location).toBe('https://claude.ai/callback?error=access_denied');
    expect([waiting.approved.length, waiting.denied]).toEqual([0, 1]);
  });

  it('asks again where nothing was left checked, or where no organization of the person was chosen', async () => {
    const csrf = await browser.csrf('/consent/abc');
    const strangers = await site.organization('strangers');
    const form = { csrf, answer: 'allow', scopes: 'incidents:read' };
    for (const fields of [
      { csrf, answer: 'allow', organization: acme.id },
      { ...form, organization: strangers.id },
      { ...form, organization: '' },
      form,
    ]) {
      const again = await browser.post('/consent/abc', fields);
      expect(again.status).toBe(400);
      expect(again.text).toContain('role="alert"');
    }
    expect((await browser.post('/consent/abc', { ...form, organization: acme.id, scopes: 'admin' })).status).toBe(400);
    expect(waiting.approved).toEqual([]);
  });

  it('decides nothing without a token of this session', async () => {
    const mallory = site.browser();
    await site.person('mallory@acme.example', [[acme, 'member']]);
    await mallory.signIn('mallory@acme.example', password);
    const form = { answer: 'allow', organization: acme.id, scopes: 'incidents:read' };
    for (const csrf of ['', await mallory.csrf('/consent/abc')]) {
      for (const answer of ['allow', 'deny']) {
        expect((await browser.post('/consent/abc', { ...form, csrf, answer })).status).toBe(403);
      }
    }
    const csrf = await browser.csrf('/consent/abc');
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await browser.post('/consent/abc', { ...form, csrf }, foreign)).status).toBe(403);
    expect([waiting.approved.length, waiting.denied]).toEqual([0, 0]);
  });

  it('lets a person of several organizations choose, with the one that the pages show chosen before', async () => {
    const labs = await site.organization('labs');
    await site.storage.workspace(labs.id).members.add(ada.id, 'member');
    const { html } = await shown({});
    expect(html).toMatch(new RegExp(`value="${acme.id}"[^>]*checked`));
    expect(html).not.toMatch(new RegExp(`value="${labs.id}"[^>]*checked`));
    await browser.submit('/consent/abc', { answer: 'allow', organization: labs.id });
    expect(waiting.approved).toEqual([{ userId: ada.id, organizationId: labs.id, scopes: claude.scopes, machine }]);
  });

  it('has nothing to allow for who is in no organization', async () => {
    await site.storage.workspace(acme.id).members.remove(ada.id);
    const { text, html } = await shown({});
    expect(text).toContain('belongs to no organization');
    expect(html).not.toContain('value="allow"');
    expect(html).toContain('value="deny"');
  });

  it('leads through the sign-in page, and back for another account', async () => {
    const stranger = site.browser();
    expect((await stranger.get('/consent/abc')).headers.location).toBe('/sign-in?return_to=%2Fconsent%2Fabc');
    const out = await browser.submit('/consent/abc', {}, '/sign-out');
    expect(out.headers.location).toBe('/sign-in?return_to=%2Fconsent%2Fabc');
  });

  it('says so when the request has ended', async () => {
    const csrf = await browser.csrf('/consent/abc');
    waiting.asked = undefined;
    expect((await browser.get('/consent/abc')).status).toBe(404);
    const form = { csrf, answer: 'allow', organization: acme.id, scopes: 'incidents:read' };
    expect((await browser.post('/consent/abc', form)).status).toBe(404);
  });
});

describe('consent at the authorization server', () => {
  const callback = 'http://127.0.0.1:4711/callback';
  let site: Site;
  let browser: TestBrowser;
  beforeEach(async () => {
    site = await openSite();
    await site.person('ada@acme.example', [[await site.organization('acme'), 'member']]);
    browser = site.browser();
  });
  afterEach(() => site.close());

  const begin = async (): Promise<string> => {
    const query = new URLSearchParams({
      client_id: desktop.clientId,
      redirect_uri: callback,
      response_type: 'code',
      scope: 'incidents:read',
      state: 's',
      code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${site.authUrl}/mcp`,
    });
    const answer = await browser.get(`/oauth2/authorize?${query.toString()}`);
    const location = new URL(answer.headers.location ?? '', site.authUrl);
    expect(location.pathname).toMatch(/^\/consent\/[\w-]+$/);
    return location.pathname;
  };

  it('gives a code once the person signed in and allowed it', async () => {
    const consent = await begin();
    const turned = await browser.get(consent);
    const back = await browser.submit(
      turned.headers.location ?? '',
      { email: 'ada@acme.example', password },
      '/sign-in',
    );
    expect(back.headers.location).toBe(consent);
    expect(readable((await browser.get(consent)).text)).toContain('Set up by the operator of this Sightline.');
    const allowed = await browser.submit(consent, { answer: 'allow' });
    const resumed = await browser.get(new URL(allowed.headers.location ?? '', site.authUrl).pathname);
    expect(resumed.headers.location).toBe(`${site.authUrl}${consent}?answered`);
    const left = await browser.get(`${consent}?answered`);
    expect(left.headers['refresh']).toMatch(/^0; url=http:\/\/127\.0\.0\.1:4711\/callback\?code=[\w-]+&/);
    const again = await browser.post(consent, { csrf: await browser.csrf('/account'), answer: 'deny' });
    expect(again.headers.location).toBe(`${site.authUrl}${consent}?answered`);
  });

  it("is found by nobody else's browser, whoever is signed in there", async () => {
    const consent = await begin();
    await site.person('mallory@acme.example');
    for (const email of ['mallory@acme.example', 'ada@acme.example']) {
      const other = site.browser();
      await other.signIn(email, password);
      expect((await other.get(consent)).status).toBe(404);
      const form = { csrf: await other.csrf('/account'), answer: 'deny' };
      expect((await other.post(consent, form)).status).toBe(404);
    }
    await browser.signIn('ada@acme.example', password);
    expect((await browser.get(consent)).status).toBe(200);
  });

  it('is asked for again each time, however often it was given', async () => {
    await browser.signIn('ada@acme.example', password);
    for (let time = 0; time < 2; time += 1) {
      const consent = await begin();
      const allowed = await browser.submit(consent, { answer: 'allow' });
      await browser.get(new URL(allowed.headers.location ?? '', site.authUrl).pathname);
    }
    await begin();
  });
});

import { request, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  addMember,
  authorize,
  authorizeUrl,
  Browser,
  callbackOf,
  desktop,
  locationOf,
  openWorld,
  pkce,
  redeem,
  refresh,
  tokensOf,
  waiting,
  website,
  type Params,
  type World,
} from './support.ts';

describe('the browser of a person', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.stop());

  const begin = async (browser: Browser, params: Params = {}) =>
    locationOf(await browser.get(authorizeUrl(world.url, pkce().challenge, params)));
  const consent = () => ({ userId: world.user.id, organizationId: world.organization.id, scopes: ['chats:read'] });

  it('is shown who asks, for what, and where the answer goes', async () => {
    const browser = new Browser();
    const page = await begin(browser, { scope: 'chats:write chats:read' });
    expect(page).toMatch(new RegExp(`^${world.url}/consent/[A-Za-z0-9_-]{43}$`));
    expect(await waiting(browser, page)).toEqual({
      client: { id: desktop.clientId, name: 'Desktop', known: 'configuration' },
      redirectOrigin: 'http://127.0.0.1',
      scopes: ['chats:read', 'chats:write'],
    });
  });

  it('is asked each time, whatever was granted before and whatever the client says', async () => {
    const { browser } = await authorize(world);
    for (const prompt of [undefined, 'consent', 'login', 'select_account login', 'nonsense']) {
      const page = await begin(browser, { prompt });
      expect([prompt, page]).toEqual([prompt, expect.stringContaining('/consent/')]);
      expect((await waiting(browser, page)).scopes).toHaveLength(5);
    }
    const silent = new URL(await begin(browser, { prompt: 'none' }));
    expect(silent.searchParams.get('error')).toBe('consent_required');
    expect(silent.searchParams.get('iss')).toBe(world.url);
    expect(silent.searchParams.get('code')).toBeNull();
  });

  it('cannot skip the page: the way back leads to it again until somebody has decided', async () => {
    const browser = new Browser();
    const page = await begin(browser);
    const resume = page.replace('/consent/', '/oauth2/authorize/');
    const again = locationOf(await browser.get(resume));
    expect(again).toContain('/consent/');
    expect(again).not.toBe(page);
  });

  it('is sent back with access_denied when the person says no', async () => {
    const browser = new Browser();
    const page = await begin(browser);
    const callback = await callbackOf(browser, await browser.post(page, {}));
    expect(Object.fromEntries(callback.searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'the person said no',
      state: 'the-state',
      iss: world.url,
    });
  });

  it('is another one: finds nothing, decides nothing, is not sent on', async () => {
    const [victim, thief] = [new Browser(), new Browser()];
    const page = await begin(victim);
    const [own, resume] = [await begin(thief), page.replace('/consent/', '/oauth2/authorize/')];
    for (const browser of [new Browser(), thief]) {
      expect((await browser.get(page)).status).toBe(404);
      expect((await browser.post(page, { consent: consent() })).status).toBe(404);
      expect((await browser.post(page, {})).status).toBe(404);
      const sent = await browser.get(resume);
      expect([sent.status, sent.headers.get('location')]).toEqual([400, null]);
      expect(await sent.text()).toContain('This request has ended');
    }
    // A cookie that we did not sign is none.
    const id = page.slice(page.lastIndexOf('/') + 1);
    const forged = await fetch(page, { headers: { cookie: `sightline-authorization=${id}` } });
    expect(forged.status).toBe(404);
    expect((await waiting(victim, page)).client.id).toBe(desktop.clientId);
    expect((await waiting(thief, own)).client.id).toBe(desktop.clientId);
  });

  it('decides once: the form sent again goes the same way, whatever it says then', async () => {
    const browser = new Browser();
    const page = await begin(browser);
    const { grants } = world.store.storage.workspace(world.organization.id);
    const before = (await grants.list()).length;
    const resume = locationOf(await browser.post(page, { consent: consent() }));
    const other = await addMember(world.store, world.organization.id, 'other@example.com');
    const later = [{ consent: consent() }, { consent: { ...consent(), userId: other.id } }, {}];
    const decideAgain = async () => {
      for (const decision of later) expect(locationOf(await browser.post(page, decision))).toBe(`${page}?answered`);
      return (await waiting(browser, page)).answer;
    };
    // Not gone on yet.
    expect(await decideAgain()).toEqual({ allowed: true, location: resume });
    const answered = locationOf(await browser.get(resume));
    expect(answered).toBe(`${page}?answered`);
    const answer = await decideAgain();
    const callback = new URL(answer?.location ?? '');
    expect(callback.href).toMatch(/^http:\/\/127\.0\.0\.1\/callback\?code=/);
    expect((await browser.get(resume)).status).toBe(400);
    expect(await decideAgain()).toEqual(answer);
    expect(await grants.list()).toHaveLength(before + 1);
  });

  it('is not sent to the client again once that has its answer', async () => {
    const { browser, page, verifier, code } = await authorize(world);
    expect((await waiting(browser, page)).answer?.location).toContain(code);
    const tokens = await tokensOf(await redeem(world.url, { code, verifier }));
    expect((await waiting(browser, page)).answer).toEqual({ allowed: true });
    expect(locationOf(await browser.post(page, { consent: consent() }))).toBe(`${page}?answered`);
    expect((await refresh(world.url, tokens.refresh_token)).status).toBe(200);
  });

  it('has several requests under way beside each other', async () => {
    const browser = new Browser();
    const pages = [await begin(browser, { scope: 'chats:read' }), await begin(browser, { scope: 'ingest:read' })];
    for (const [index, scope] of ['chats:read', 'ingest:read'].entries()) {
      expect((await waiting(browser, pages[index] ?? '')).scopes).toEqual([scope]);
    }
  });

  it('keeps signed cookies, each for its own page, that no script reads, and none of the library’s session', async () => {
    const { browser } = await authorize(world);
    const page = await begin(browser);
    const id = page.slice(page.lastIndexOf('/') + 1);
    const paths = new Set<string>();
    for (const header of browser.cookieHeaders()) {
      expect(header.toLowerCase()).toMatch(/; samesite=lax(;|$)/);
      expect(header.toLowerCase()).toMatch(/; httponly$/);
      const name = header.slice(0, header.indexOf('='));
      expect(name).toMatch(/^sightline-authorization(-resume)?(\.sig)?$/);
      paths.add(/path=([^;]+)/.exec(header)?.[1] ?? '/');
    }
    expect([...paths]).toEqual(expect.arrayContaining([`/consent/${id}`, `/oauth2/authorize/${id}`]));
    expect([...paths].filter((path) => !/^\/(consent|oauth2\/authorize)\/[A-Za-z0-9_-]{43}$/.test(path))).toEqual([]);
  });

  describe('is told here, and not sent anywhere,', () => {
    const shown = async (params: Params) => {
      const response = await new Browser().get(authorizeUrl(world.url, pkce().challenge, params));
      return { response, text: await response.text() };
    };

    it('of a client that is not known, and of an address that is not its own', async () => {
      const cases: readonly [Params, string][] = [
        [{ client_id: 'nobody' }, 'This application is not known here'],
        [{ client_id: undefined }, 'cannot be answered'],
        [{ client_id: 'api-key' }, 'This application is not known here'],
        [{ client_id: '"><script>alert(1)</script>' }, 'This application is not known here'],
        [{ redirect_uri: 'https://evil.example/' }, 'has not registered'],
        [{ redirect_uri: 'http://127.0.0.1.evil.example/callback' }, 'has not registered'],
        [{ redirect_uri: 'http://127.0.0.1/callback/../x' }, 'has not registered'],
        [{ redirect_uri: 'javascript:alert(1)' }, 'has not registered'],
        [{ client_id: website.clientId, redirect_uri: `${website.redirectUri}?x=1` }, 'has not registered'],
        [{ client_id: website.clientId, redirect_uri: 'https://app.example:444/callback' }, 'has not registered'],
      ];
      for (const [params, words] of cases) {
        const { response, text } = await shown(params);
        expect([params, response.status, response.headers.get('location')]).toEqual([params, 400, null]);
        expect([params, text]).toEqual([params, expect.stringContaining(words)]);
        expect(text).not.toContain('<script');
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
        expect(response.headers.get('cache-control')).toBe('no-store');
      }
    });

    it('of what a client that registered itself did wrong, for the link may be a stranger’s', async () => {
      const register = await fetch(`${world.url}/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          client_name: 'Anybody',
          redirect_uris: ['https://anybody.example/', 'http://127.0.0.1/callback'],
          token_endpoint_auth_method: 'none',
        }),
      });
      const { client_id }: { client_id: string } = JSON.parse(await register.text());
      const silent = { client_id, prompt: 'none' };
      const away = await shown({ ...silent, redirect_uri: 'https://anybody.example/' });
      expect([away.response.status, away.response.headers.get('location')]).toEqual([400, null]);
      const home = await shown({ ...silent, redirect_uri: 'http://127.0.0.1:4711/callback' });
      expect(new URL(locationOf(home.response)).searchParams.get('error')).toBe('consent_required');
    });

    it('and other answers of the authorization endpoint name the issuer', async () => {
      for (const [params, error] of [
        [{ response_type: 'token' }, 'unsupported_response_type'],
        [{ response_mode: 'form_post' }, 'unsupported_response_mode'],
        [{ request: 'x.y.z' }, 'request_not_supported'],
        [{ request_uri: 'https://x.example/' }, 'request_uri_not_supported'],
      ] as const) {
        const { search, hash } = new URL(locationOf((await shown(params)).response));
        const answer = new URLSearchParams((search || hash).slice(1));
        expect([params, answer.get('error'), answer.get('iss')]).toEqual([params, error, world.url]);
      }
    });
  });

  it('is led by the issuer’s name, whatever Host and forwarded headers say', async () => {
    const target = new URL(authorizeUrl(world.url, pkce().challenge));
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
    const options = { host: '127.0.0.1', port: target.port, path: `${target.pathname}${target.search}`, headers };
    request(options, (response) => resolve(response.resume().headers))
      .on('error', reject)
      .end();
    const begun = await promise;
    expect(begun.location).toMatch(new RegExp(`^${world.url}/consent/`));
    const cookie = (begun['set-cookie'] ?? []).map((each) => each.slice(0, each.indexOf(';'))).join('; ');
    const decided = await fetch(begun.location ?? '', {
      method: 'POST',
      body: '{}',
      headers: { cookie },
      redirect: 'manual',
    });
    // The way back was written down when it began.
    expect(locationOf(decided)).toMatch(new RegExp(`^${world.url}/oauth2/authorize/`));
  });

  it('comes by GET alone, and to no other path', async () => {
    for (const method of ['POST', 'HEAD', 'PUT', 'DELETE']) {
      const response = await fetch(authorizeUrl(world.url, pkce().challenge), { method, redirect: 'manual' });
      expect([method, response.status]).toEqual([method, 405]);
    }
    for (const path of ['/oauth2/authorize/', '/oauth2/authorize/x', '/session/end', '/me']) {
      expect([path, (await fetch(`${world.url}${path}`)).status]).toEqual([path, 404]);
    }
  });
});

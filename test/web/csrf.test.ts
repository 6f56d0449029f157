import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openSite, password, type Site } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';

const outOfDate = 'This form is out of date.';
const foreign = 'The form was sent from another website.';

describe('a form', () => {
  let site: Site;
  let ada: TestBrowser;
  let mallory: TestBrowser;
  beforeAll(async () => {
    site = await openSite();
    const acme = await site.organization('acme');
    await site.person('ada@acme.example', [[acme, 'admin']]);
    await site.person('mallory@acme.example', [[acme, 'member']]);
    ada = site.browser();
    mallory = site.browser();
    await ada.signIn('ada@acme.example', password);
    await mallory.signIn('mallory@acme.example', password);
  });
  afterAll(() => site.close());

  const changes = async (fields: Record<string, string>, headers = {}) =>
    ada.post('/account/password', { current: 'wrong password', next: 'another long password', ...fields }, headers);

  it('is taken with the token of its session', async () => {
    // The token was right, for it is the password that is wrong.
    expect((await changes({ csrf: await ada.csrf('/account') })).text).not.toContain(outOfDate);
  });

  it.each([
    ['without a token', () => ({})],
    ['with an empty one', () => ({ csrf: '' })],
    ['with a wrong one', () => ({ csrf: 'A'.repeat(43) })],
  ])('is refused %s', async (_name, fields) => {
    const answer = await changes(fields());
    expect(answer.status).toBe(403);
    expect(answer.text).toContain(outOfDate);
  });

  it("is refused with another session's token, and with one from before signing in", async () => {
    expect((await changes({ csrf: await mallory.csrf('/account') })).text).toContain(outOfDate);
    expect((await changes({ csrf: await site.browser().csrf('/sign-in') })).text).toContain(outOfDate);
    const own = site.browser();
    const before = await own.csrf('/sign-in');
    await own.submit('/sign-in', { email: 'ada@acme.example', password });
    expect((await own.post('/sign-out', { csrf: before })).text).toContain(outOfDate);
    expect((await own.get('/account')).status).toBe(200);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': undefined, origin: 'http://evil.example' }],
    [{ 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' }],
    [{ 'sec-fetch-site': undefined, origin: 'nonsense' }],
    [{ origin: 'https://evil.example' }],
  ])('is refused with the headers of another site, be its token right: %j', async (headers) => {
    const answer = await changes({ csrf: await ada.csrf('/account') }, headers);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain(foreign);
  });

  it('is taken from a browser that sends no such headers, or an opaque origin, when the token is right', async () => {
    const csrf = await ada.csrf('/account');
    for (const headers of [
      { 'sec-fetch-site': undefined, origin: undefined },
      { 'sec-fetch-site': undefined, origin: 'null' },
      { 'sec-fetch-site': 'same-origin', origin: 'null' },
    ]) {
      expect((await changes({ csrf }, headers)).text).not.toMatch(/out of date|another website/);
      expect((await changes({ csrf: 'A'.repeat(43) }, headers)).text).toContain(outOfDate);
    }
  });

  it('is taken under the other name of this machine', async () => {
    const host = site.address.replace('127.0.0.1', 'localhost');
    const headers = { host, origin: `http://${host}`, 'sec-fetch-site': undefined };
    const answer = await changes({ csrf: await ada.csrf('/account') }, headers);
    expect(answer.text).not.toMatch(/out of date|another website/);
  });

  describe('for signing in', () => {
    const credentials = { email: 'mallory@acme.example', password };

    it('signs nobody in whose browser did not open it', async () => {
      const victim = site.browser();
      const attackers = await site.browser().csrf('/sign-in');
      for (const fields of [credentials, { ...credentials, csrf: attackers }]) {
        expect((await victim.post('/sign-in', fields)).status).toBe(403);
      }
      // Having opened the form itself does not make another's token right.
      await victim.get('/sign-in');
      expect((await victim.post('/sign-in', { ...credentials, csrf: attackers })).status).toBe(403);
      expect(victim.cookies.has(victim.sessionCookie)).toBe(false);
    });

    it('does not sign another person in over one who is', async () => {
      const before = ada.cookies.get(ada.sessionCookie);
      const attackers = await site.browser().csrf('/sign-in');
      expect((await ada.post('/sign-in', { ...credentials, csrf: attackers })).status).toBe(403);
      expect(ada.cookies.get(ada.sessionCookie)).toBe(before);
    });
  });
});

describe('the body of a form', () => {
  let site: Site;
  let browser: TestBrowser;
  let csrf: string;
  beforeAll(async () => {
    site = await openSite();
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
    browser = site.browser();
    csrf = await browser.csrf('/sign-in');
  });
  afterAll(() => site.close());

  it.each([
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/x-www-form-urlencodedx',
    undefined,
  ])('is refused as %s', async (type) => {
    const fields = { csrf, email: 'ada@acme.example', password };
    const answer = await browser.post('/sign-in', fields, { 'content-type': type });
    expect(answer.status).toBe(400);
    expect(browser.cookies.has(browser.sessionCookie)).toBe(false);
  });

  it('is refused beyond 96 kB, said or unsaid', async () => {
    const fields = { csrf, email: 'ada@acme.example', password, more: 'x'.repeat(96 * 1024) };
    // What is left of the body must not be read as the next request.
    const kept = { connection: 'keep-alive' };
    const said = await browser.post('/sign-in', fields, kept);
    expect([said.status, said.headers.connection]).toEqual([413, 'close']);
    const unsaid = await browser.post('/sign-in', fields, { ...kept, 'transfer-encoding': 'chunked' });
    expect([unsaid.status, unsaid.headers.connection]).toEqual([413, 'close']);
    expect((await browser.get('/sign-in', kept)).headers.connection).toBe('keep-alive');
    expect(browser.cookies.has(browser.sessionCookie)).toBe(false);
  });

  it('is nothing for the operator where the sender goes away in the middle', async () => {
    const before = site.log.length;
    const socket = connect(Number(site.address.split(':')[1]), '127.0.0.1');
    const head = `POST /sign-in HTTP/1.1\r\nHost: ${site.address}\r\nContent-Type: application/x-www-form-urlencoded`;
    socket.write(`${head}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`);
    // It is being read.
    await once(socket, 'data');
    socket.destroy();
    await once(socket, 'close');
    expect((await browser.get('/sign-in')).status).toBe(200);
    expect(site.log.slice(before)).toEqual([]);
  });

  it('is refused where fields are missing or far too long', async () => {
    expect((await browser.post('/sign-in', { csrf, email: 'ada@acme.example' })).status).toBe(400);
    expect((await browser.post('/sign-in', { csrf, email: 'a'.repeat(300), password })).status).toBe(400);
  });

  it('counts only what is in it, and nothing in the address', async () => {
    const query = new URLSearchParams({ csrf, email: 'ada@acme.example', password }).toString();
    expect((await browser.post(`/sign-in?${query}`, {})).status).toBe(403);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allPages } from '../../src/web/pages/index.ts';
import { rawRequest, type RawAnswer } from '../support/raw-http.ts';
import { openSite, password, type Site } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'";

function expectSafe({ headers, text }: RawAnswer): void {
  expect(headers).toMatchObject({
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  });
  if (text === '') return;
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  // Nothing inline, which the policy would not run, and nothing from elsewhere.
  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script>|(?:src|href)="(?:https?:)?\/\//i);
  expect(text).toMatch(/<html lang="en">[\s\S]*<title>[^<]+<\/title>[\s\S]*<main id="main"[\s\S]*<h1>[^<]+/);
}

describe('every page', () => {
  let site: Site;
  let admin: TestBrowser;
  let nobody: TestBrowser;
  beforeAll(async () => {
    site = await openSite();
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
    admin = site.browser();
    nobody = site.browser();
    await admin.signIn('ada@acme.example', password);
  });
  afterAll(() => site.close());

  const pages = allPages.map((page) => [page.path.replaceAll(/:\w+/g, 'some-thing'), page] as const);

  it.each(pages)('is safe to show: %s', async (path, page) => {
    for (const browser of [admin, nobody]) {
      const answer = await browser.get(path);
      expectSafe(answer);
      expect(page.get ? [200, 303, 404] : [405]).toContain(answer.status);
    }
  });

  it.each(pages)('takes no form without a token, and answers that safely: %s', async (path, page) => {
    const answer = await admin.post(path, { answer: 'allow', action: 'revoke' });
    expectSafe(answer);
    expect([answer.status, answer.headers.allow]).toEqual(page.post ? [403, undefined] : [405, 'GET, HEAD']);
  });

  it.each(pages.filter(([, { access }]) => access !== 'public'))('is for who is signed in: %s', async (path, page) => {
    const answer = page.get ? await nobody.get(path) : await nobody.post(path, {});
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toMatch(/^\/sign-in(\?return_to=|$)/);
    expect((await nobody.post(path, {})).status).toBe(page.post ? 303 : 405);
  });

  it.each(pages)('makes no more than a handful of storage queries: %s', async (path, page) => {
    if (!page.get) return;
    site.calls();
    await admin.get(path);
    expect(site.calls()).toBeLessThanOrEqual(6);
  });

  it('answers HEAD as GET, without the page', async () => {
    const head = await rawRequest(`http://${site.address}/sign-in`, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expectSafe(head);
  });

  it('is a page where there is none, for a person; and JSON for a program', async () => {
    for (const path of ['/nowhere', '/consent/%zz', '/Sign-In', '/account/nothing']) {
      const answer = await admin.get(path);
      expect(answer.status).toBe(404);
      expectSafe(answer);
    }
    const program = await admin.get('/nowhere', { accept: '*/*' });
    expect([program.status, program.json]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });
});

describe('what pages load', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  it('is kept by browsers for ever under a name of its content', async () => {
    const { text } = await site.browser().get('/sign-in');
    const loaded = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(new Set(loaded).size).toBe(3);
    for (const path of loaded) {
      const { status, headers, text: body } = await site.browser().get(path);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['content-type']).toMatch(/^(text\/css|text\/javascript|image\/svg\+xml)/);
      expect(headers['set-cookie']).toBeUndefined();
      expect(body).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
      expect((await site.browser().get(path.replace(/-[0-9a-f]+/, '-0000000000000000'))).status).toBe(404);
    }
  });
});

describe('a page that fails', () => {
  it('says so with an id under which the log has the cause, and nothing of the cause', async () => {
    const broken = () => Promise.reject(new Error('database password hunter2'));
    const site = await openSite({
      authorizationRequests: { find: broken, approve: broken, deny: broken },
    });
    await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
    const browser = site.browser();
    await browser.signIn('ada@acme.example', password);
    const answer = await browser.get('/consent/abc');
    expect(answer.status).toBe(500);
    expectSafe(answer);
    expect(answer.text).not.toContain('hunter2');
    const id = /<code>([\da-f-]{36})<\/code>/.exec(answer.text)?.[1];
    expect(id).toBeDefined();
    expect(site.log.filter((line) => line.includes(String(id)) && line.includes('hunter2'))).toHaveLength(1);
    await site.close();
  });
});

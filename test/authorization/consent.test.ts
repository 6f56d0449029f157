import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Storage } from '../../src/contract/storage/index.ts';
import { recordingLogger } from '../issuer/support.ts';
import { testInternet, type Internet } from './clients-support.ts';
import {
  authorizeUrl,
  Browser,
  callbackOf,
  locationOf,
  openWorld,
  pkce,
  redeem,
  waiting,
  withArtifacts,
  type Params,
  type World,
} from './support.ts';

const clientId = 'https://client.example/app.json';
const redirectUri = 'https://client.example/callback';
const document = {
  client_id: clientId,
  client_name: 'Friendly',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
};

describe('a request that waits for a person', () => {
  let world: World;
  let net: Internet;
  /** Of the models whose writing fails now. */
  const failing = new Set<string>();
  /** Models, in the order of writing. */
  const written: string[] = [];
  /** What a second grant waits for. */
  let firstIsThrough = Promise.withResolvers<void>();
  /** Where set, the first answer is written once another is about to be written, or refused. */
  let meeting: { readonly other: PromiseWithResolvers<void>; first: boolean } | undefined;
  /** How many have to read the request before any of them goes on. */
  const readers = { wanted: 0, here: 0, all: Promise.withResolvers<void>() };
  const { logger, lines } = recordingLogger();

  const breakable = (storage: Storage) =>
    withArtifacts(storage, (artifacts) => ({
      async upsert(artifact) {
        if (failing.has(artifact.model)) throw new Error('the disk is gone');
        if (artifact.model === 'Grant' && written.includes('Grant')) await firstIsThrough.promise;
        written.push(artifact.model);
        if (artifact.model === 'Interaction' && meeting !== undefined) {
          if (!meeting.first) meeting.other.resolve();
          meeting.first = false;
          await meeting.other.promise;
        }
        await artifacts.upsert(artifact);
      },
      async consume(model, id, at) {
        const done = await artifacts.consume(model, id, at);
        if (!done) meeting?.other.resolve();
        return done;
      },
      async find(model, id) {
        if (failing.has(`find ${model}`)) throw new Error('the disk is gone');
        const found = await artifacts.find(model, id);
        if (model === 'Interaction' && readers.wanted > 0) {
          readers.here += 1;
          if (readers.here === readers.wanted) readers.all.resolve();
          await readers.all.promise;
        }
        return found;
      },
    }));

  beforeEach(async () => {
    failing.clear();
    Object.assign(readers, { wanted: 0, here: 0, all: Promise.withResolvers<void>() });
    lines.length = 0;
    written.length = 0;
    meeting = undefined;
    firstIsThrough.resolve();
    net = await testInternet();
    world = await openWorld({ network: net, storage: breakable, logger });
  });
  afterEach(async () => {
    await world.stop();
    await net.close();
  });

  const serve = (status: number, body: unknown) => {
    net.serve = (_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const begin = async (params: Params = {}) => {
    const browser = new Browser();
    const { verifier, challenge } = pkce();
    const page = locationOf(await browser.get(authorizeUrl(world.url, challenge, params)));
    const { scopes } = await waiting(browser, page);
    const consent = { userId: world.user.id, organizationId: world.organization.id, scopes };
    return { browser, page, verifier, consent };
  };
  const grants = () => world.store.storage.workspace(world.organization.id).grants.list();

  it('of a client whose document is gone meanwhile says to come back, and can be denied', async () => {
    serve(200, document);
    const { browser, page, consent } = await begin({ client_id: clientId, redirect_uri: redirectUri });
    serve(404, {});
    world.clock.advance(400_000);
    for (const response of [await browser.get(page), await browser.post(page, { consent })]) {
      expect([response.status, await response.json()]).toEqual([503, { code: 'unavailable' }]);
    }
    expect((await browser.post(page, {})).status).toBe(303);
  });

  it('of a client whose document is no good any more has ended, and can be denied', async () => {
    serve(200, document);
    const { browser, page, consent } = await begin({ client_id: clientId, redirect_uri: redirectUri });
    serve(200, { ...document, redirect_uris: [] });
    world.clock.advance(400_000);
    for (const response of [await browser.get(page), await browser.post(page, { consent })]) {
      expect([response.status, await response.json()]).toEqual([404, { code: 'not_found' }]);
    }
    expect((await browser.post(page, {})).status).toBe(303);
  });

  it('says to come back while storage is out of reach', async () => {
    const { browser, page, consent } = await begin();
    failing.add('find Interaction');
    for (const response of [
      await browser.get(page),
      await browser.post(page, { consent }),
      await browser.post(page, {}),
    ]) {
      expect([response.status, await response.json()]).toEqual([503, { code: 'unavailable' }]);
    }
    failing.clear();
    expect((await browser.post(page, { consent })).status).toBe(303);
  });

  it('is the one that the address of the page names, whatever cookie came with it', async () => {
    const shown = await begin();
    const other = await begin({ scope: 'chats:read' });
    const swapped = other.browser.cookieHeaders().map((header) => header.slice(0, header.indexOf(';')));
    const init = { headers: { cookie: swapped.join('; ') } };
    const consent = { ...shown.consent, scopes: ['chats:read'] };
    expect((await fetch(other.page, init)).status).toBe(200);
    expect((await fetch(shown.page, init)).status).toBe(404);
    for (const body of [{ consent }, {}]) {
      const answer = await fetch(shown.page, {
        ...init,
        method: 'POST',
        body: JSON.stringify(body),
        redirect: 'manual',
      });
      expect(answer.status).toBe(404);
    }
    expect((await fetch(`${other.page}?from=sign-in`, init)).status).toBe(200);
    expect(await grants()).toEqual([]);
  });

  it('leaves no grant behind that leads nowhere, where an approval breaks off', async () => {
    const { browser, page, verifier, consent } = await begin();
    for (const model of ['Grant', 'Interaction']) {
      failing.add(model);
      expect([model, (await browser.post(page, { consent })).status, await grants()]).toEqual([model, 503, []]);
      failing.clear();
    }
    const callback = await callbackOf(browser, await browser.post(page, { consent }));
    const code = callback.searchParams.get('code') ?? '';
    expect((await redeem(world.url, { code, verifier })).status).toBe(200);
    expect(await grants()).toHaveLength(1);
  });

  it('leaves one grant where the form is sent twice, and the second goes the way of the first', async () => {
    firstIsThrough = Promise.withResolvers();
    const { browser, page, consent } = await begin();
    const both = [browser.post(page, { consent }), browser.post(page, { consent })].map(async (sent) => {
      const location = locationOf(await sent);
      firstIsThrough.resolve();
      return location;
    });
    const went = await Promise.all(both);
    expect(went).toContain(`${page}?answered`);
    const resume = went.find((location) => location.includes('/oauth2/authorize/')) ?? '';
    expect(await grants()).toHaveLength(1);
    await browser.get(resume);
    expect((await waiting(browser, page)).answer?.location).toContain('code=');
  });

  it.each([
    ['allowed twice', (consent: object) => [{ consent }, { consent }]],
    ['allowed and denied', (consent: object) => [{ consent }, {}]],
  ])('that is %s at the same moment leaves no grant but the one that a code is issued for', async (_how, bodies) => {
    const { browser, page, verifier, consent } = await begin();
    meeting = { other: Promise.withResolvers(), first: true };
    const answers = await Promise.all(bodies(consent).map((body) => browser.post(page, body)));
    meeting = undefined;
    const went = answers.map(locationOf);
    expect(went).toContain(`${page}?answered`);
    const resumed = went.find((location) => location.includes('/oauth2/authorize/')) ?? '';
    await browser.get(resumed);
    const callback = new URL((await waiting(browser, page)).answer?.location ?? '');
    const code = callback.searchParams.get('code');
    if (code !== null) expect((await redeem(world.url, { code, verifier })).status).toBe(200);
    expect(await grants()).toHaveLength(code === null ? 0 : 1);
  });

  it('answered, gives one code, however many times the browser goes on at once', async () => {
    const { browser, page, consent } = await begin();
    const resume = locationOf(await browser.post(page, { consent }));
    readers.wanted = 5;
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.get(resume)));
    expect(answers.map(locationOf)).toEqual(answers.map(() => `${page}?answered`));
    expect(written.filter((model) => model === 'AuthorizationCode')).toHaveLength(1);
    const { answer } = await waiting(browser, page);
    expect(answer?.location).toContain('code=');
  });

  it('not answered yet, becomes one other, however many times the browser goes on at once', async () => {
    const { browser, page } = await begin();
    const resume = `${world.url}/oauth2/authorize/${page.slice(page.lastIndexOf('/') + 1)}`;
    readers.wanted = 5;
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.get(resume)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400, 400, 400, 400]);
    expect((await browser.get(page)).status).toBe(404);
  });

  it('goes straight to the client where the page cannot be told where that is', async () => {
    const { browser, page, consent } = await begin();
    const resume = locationOf(await browser.post(page, { consent }));
    failing.add('Interaction');
    expect(locationOf(await browser.get(resume))).toMatch(/^http:\/\/127\.0\.0\.1\/callback\?code=/);
  });

  it('ends at the application where the person lost access between saying yes and going there', async () => {
    const { people } = world.store.storage.directory;
    const { browser, page, consent } = await begin();
    const decided = await browser.post(page, { consent });
    await people.setEnabled(world.user.id, false);
    const callback = await callbackOf(browser, decided);
    expect([callback.searchParams.get('error'), callback.searchParams.get('code')]).toEqual(['access_denied', null]);
    expect(lines.filter((line) => line.includes('authorization server failed'))).toEqual([]);
  });
});

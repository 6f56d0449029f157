import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { testVault } from '../contract/host.ts';
import { rejection } from '../contract/runner.ts';
import { SightlineError } from '../../src/contract/core/index.ts';
import { type Issuer } from '../../src/contract/issuer/index.ts';
import { type Directory, type Storage } from '../../src/contract/storage/index.ts';
import { createSigningKeys } from '../../src/identity/issue/signing-keys.ts';
import {
  exchange,
  everything,
  listen,
  makeIssuer,
  openStore,
  operator,
  serveIssuer,
  signal,
  testClock,
  tokenOf,
  type Clock,
  type TestServer,
  type TestStore,
} from './support.ts';

const day = 86_400_000;
const schedule = { rotateEvery: 30 * day, publishBefore: 720_000, publishAfter: 7_200_000 };

describe('signing keys', () => {
  let store: TestStore;
  let clock: Clock;

  beforeEach(async () => {
    clock = testClock();
    store = await openStore(clock);
  });
  afterEach(() => store.close());

  const ring = (directory: Pick<Directory, 'signingKeys' | 'replaceSigningKeys'> = store.storage.directory) =>
    createSigningKeys({ storage: { directory }, vault: store.vault, now: clock.now, schedule, onRead: () => {} });
  const states = async () => (await store.storage.directory.signingKeys()).map(({ state }) => state).toSorted();

  it('are made once, however many instances start at the same moment', async () => {
    const rings = Array.from({ length: 8 }, () => ring());
    await Promise.all(rings.map((each) => each.refresh()));
    expect(await states()).toEqual(['current', 'next']);
    expect(new Set(rings.map((each) => each.current().kid)).size).toBe(1);
    expect(new Set(rings.map((each) => JSON.stringify(each.published()))).size).toBe(1);
  });

  it('are replaced once, however many instances find them due', async () => {
    const rings = Array.from({ length: 8 }, () => ring());
    await Promise.all(rings.map((each) => each.refresh()));
    const before = rings[0]?.published() ?? [];
    clock.advance(30 * day);
    await Promise.all(rings.map((each) => each.refresh()));
    expect(await states()).toEqual(['current', 'next', 'retired']);
    for (const each of rings) {
      expect(each.current().kid).toBe(before[1]?.kid);
      expect(each.published()).toHaveLength(3);
    }
  });

  it('lie in storage sealed, the private half nowhere else', async () => {
    await ring().refresh();
    for (const record of await store.storage.directory.signingKeys()) {
      expect(Object.keys(JSON.parse(record.publicJwk)).toSorted()).toEqual(['crv', 'kty', 'x', 'y']);
      expect(record.sealedPrivateJwk).not.toContain('"d"');
      expect(
        JSON.parse(Buffer.from(store.vault.open(record.sealedPrivateJwk, `signing-key:${record.kid}`)).toString()),
      ).toMatchObject({ kty: 'EC', d: expect.any(String) });
    }
    for (const key of [ring(), ring()].flatMap((each) => each.published())) expect(key).not.toHaveProperty('d');
  });

  it('stop the boot with one sentence when the master key is another', async () => {
    await ring().refresh();
    const issuer = makeIssuer(store, { authUrl: 'http://127.0.0.1:1', vault: testVault() });
    const error = await rejection(issuer.start(signal()));
    expect(error).toBeInstanceOf(SightlineError);
    expect(error).toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/^The master key does not open [^.]*\.$/),
    });
    expect((await issuer.health(signal())).ok).toBe(false);
    await issuer.stop();
    // Nothing was overwritten: the right key still opens them.
    await ring().refresh();
  });

  it('are not believed when somebody who can write to the database put them there', async () => {
    const honest = ring();
    await honest.refresh();
    const { directory } = store.storage;
    const found = await directory.signingKeys();
    const other = ring({
      signingKeys: async () => {
        const [first, second] = found;
        if (!first || !second) throw new Error('two keys');
        // Sealed values swapped between two records, and a foreign public half beside a sealed private one.
        return [
          { ...first, sealedPrivateJwk: second.sealedPrivateJwk },
          { ...second, publicJwk: first.publicJwk },
        ];
      },
      replaceSigningKeys: async () => true,
    });
    expect(await rejection(other.refresh())).toBeInstanceOf(SightlineError);
    const swapped = ring({
      signingKeys: async () =>
        found.map((record) => Object.assign({}, record, { publicJwk: '{"kty":"EC","crv":"P-256","x":"A","y":"A"}' })),
      replaceSigningKeys: async () => true,
    });
    await swapped.refresh();
    expect(swapped.published()).toEqual(honest.published());
  });

  it('cost storage one read for any number of forged key ids', async () => {
    let reads = 0;
    const { directory } = store.storage;
    const counted = ring({
      signingKeys: () => {
        reads += 1;
        return directory.signingKeys();
      },
      replaceSigningKeys: directory.replaceSigningKeys.bind(directory),
    });
    await counted.refresh();
    reads = 0;
    clock.advance(60_000);
    const forge = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_unused, index) =>
          rejection(
            Promise.resolve(
              counted.verificationKey({ alg: 'ES256', kid: `f${index}` }, { payload: '', signature: '' }),
            ),
          ),
        ),
      );
    expect((await forge(500)).every((error) => error instanceof Error)).toBe(true);
    expect(reads).toBe(1);
    await forge(500);
    expect(reads).toBe(1);
    clock.advance(60_000);
    await forge(500);
    expect(reads).toBe(2);
  });

  it('are found when another instance has made them since', async () => {
    const [mine, theirs] = [ring(), ring()];
    await mine.refresh();
    clock.advance(30 * day);
    await theirs.refresh();
    clock.advance(30 * day);
    await theirs.refresh();
    const { kid } = theirs.current();
    expect(mine.published().some((key) => key.kid === kid)).toBe(false);
    await mine.verificationKey({ alg: 'ES256', kid }, { payload: '', signature: '' });
    expect(mine.published().some((key) => key.kid === kid)).toBe(true);
  });

  it('are found by a clock that was set back since they were read last', async () => {
    const [mine, theirs] = [ring(), ring()];
    await mine.refresh();
    clock.advance(30 * day);
    await theirs.refresh();
    clock.advance(30 * day);
    await theirs.refresh();
    const { kid } = theirs.current();
    clock.advance(-60 * day - 3_600_000);
    await mine.verificationKey({ alg: 'ES256', kid }, { payload: '', signature: '' });
    expect(mine.published().some((key) => key.kid === kid)).toBe(true);
  });

  it('are not asked for by a token that names another algorithm or no key', async () => {
    const keys = ring();
    await keys.refresh();
    const { kid } = keys.current();
    for (const header of [{ alg: 'HS256', kid }, { alg: 'none', kid }, { alg: 'RS256', kid }, { alg: 'ES256' }]) {
      expect(
        await rejection(Promise.resolve().then(() => keys.verificationKey(header, { payload: '', signature: '' }))),
      ).toBeInstanceOf(Error);
    }
  });

  describe('of a running issuer', () => {
    let server: TestServer;
    let issuer: Issuer;

    beforeEach(async () => {
      server = await listen();
      issuer = makeIssuer(store, { authUrl: server.url, clock });
      await issuer.start(signal());
      serveIssuer(server, issuer);
    });
    afterEach(async () => {
      await issuer.stop();
      await server.close();
    });

    const mint = async () => {
      const pair = await store.keys.create({
        organizationId: store.organization.id,
        name: 'k',
        scopes: everything,
        actor: operator,
      });
      return tokenOf(await exchange(server.url, pair));
    };
    const verify = (token: string) =>
      jwtVerify(token, issuer.trusts[0].keys, { issuer: server.url, audience: `${server.url}/mcp`, typ: 'at+jwt' });
    const published = async (): Promise<readonly string[]> => {
      const body: unknown = await (await fetch(`${server.url}/oauth2/jwks`)).json();
      return [...JSON.stringify(body).matchAll(/"kid":"([^"]+)"/g)].map((match) => match[1] ?? '');
    };
    /** What the timer does once a minute: an unknown kid makes it happen now. */
    const lookAgain = () =>
      rejection(
        Promise.resolve(issuer.trusts[0].keys({ alg: 'ES256', kid: 'unknown' }, { payload: '', signature: '' })),
      );

    it('change without a restart, tokens of the old key going on to verify', async () => {
      const before = await published();
      const old = await mint();
      expect(decodeProtectedHeader(old).kid).toBe(before[0]);
      clock.advance(30 * day);
      await lookAgain();
      const after = await published();
      expect(after).toHaveLength(3);
      const fresh = await mint();
      // The key that signs now was published all along.
      expect(decodeProtectedHeader(fresh).kid).toBe(before[1]);
      await verify(old);
      await verify(fresh);
      clock.advance(schedule.publishAfter);
      await lookAgain();
      expect(await published()).toHaveLength(2);
      expect(await rejection(verify(old))).toBeInstanceOf(Error);
      await verify(fresh);
    });

    it('verify on another instance at once', async () => {
      const second = makeIssuer(store, { authUrl: server.url, clock });
      await second.start(signal());
      const { payload } = await jwtVerify(await mint(), second.trusts[0].keys, { issuer: server.url });
      expect(second.trusts[0].claims(payload)).toBeDefined();
      await second.stop();
    });
  });

  it('stay in use while storage cannot be read, and the issuer says that it is not well', async () => {
    let broken = false;
    const { storage } = store;
    const directory = {
      signingKeys: async () => {
        if (broken) throw new Error('no route to host');
        return storage.directory.signingKeys();
      },
      replaceSigningKeys: storage.directory.replaceSigningKeys.bind(storage.directory),
      keyForExchange: storage.directory.keyForExchange.bind(storage.directory),
    };
    const failing: Storage = Object.create(storage, {
      directory: { value: directory },
      workspace: { value: storage.workspace.bind(storage) },
    });
    const server = await listen();
    const issuer = makeIssuer(store, { authUrl: server.url, clock, storage: failing });
    await issuer.start(signal());
    serveIssuer(server, issuer);
    const pair = await store.keys.create({
      organizationId: store.organization.id,
      name: 'k',
      scopes: everything,
      actor: operator,
    });
    broken = true;
    clock.advance(60_000);
    // An unknown kid asks storage; that it cannot answer is another thing than a bad token.
    expect(
      await rejection(
        Promise.resolve(issuer.trusts[0].keys({ alg: 'ES256', kid: 'x' }, { payload: '', signature: '' })),
      ),
    ).toMatchObject({ code: 'unavailable' });
    const token = await tokenOf(await exchange(server.url, pair));
    await jwtVerify(token, issuer.trusts[0].keys, { issuer: server.url });
    await issuer.stop();
    await server.close();
  });
});

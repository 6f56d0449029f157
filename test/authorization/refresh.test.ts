import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { toId } from '../../src/contract/core/index.ts';
import {
  addMember,
  form,
  openWorld,
  refresh,
  refusal,
  signIn,
  tokensOf,
  website,
  withDirectory,
  type Tokens,
  type World,
} from './support.ts';

describe('a refresh token', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ instances: 2 });
  });
  afterAll(() => world.stop());

  const gone = { status: 400, error: 'invalid_grant' };
  const grantId = ({ access_token: token }: Tokens) => toId('gra', decodeJwt(token)['grant']);
  const renew = async (tokens: Tokens) => tokensOf(await refresh(world.url, tokens.refresh_token));

  it('is followed by another with each use', async () => {
    const first = await signIn(world);
    const second = await renew(first);
    const third = await renew(second);
    expect(new Set([first, second, third].map(({ refresh_token: token }) => token)).size).toBe(3);
    expect(grantId(third)).toBe(grantId(first));
  });

  it('serves all who show it within half a minute, on every instance', async () => {
    const tokens = await signIn(world);
    const urls = world.servers.map(({ url }) => url);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => refresh(urls[index % urls.length] ?? '', tokens.refresh_token)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    const renewed = await Promise.all(answers.map(tokensOf));
    world.clock.advance(29_000);
    expect((await refresh(world.url, tokens.refresh_token)).status).toBe(200);
    // Whichever of the answers a client kept, it goes on with it.
    for (const each of renewed) expect((await refresh(world.url, each.refresh_token)).status).toBe(200);
  });

  it('serves nobody without end: each answer is kept for ninety days', async () => {
    const tokens = await signIn(world);
    const other = await signIn(world);
    const answers = await Promise.all(Array.from({ length: 100 }, () => refresh(world.url, tokens.refresh_token)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThan(30);
    for (const each of refused) expect(await refusal(each)).toEqual({ status: 429, error: 'slow_down' });
    expect((await refresh(world.url, other.refresh_token)).status).toBe(200);
    const served = answers.find(({ status }) => status === 200);
    const next = served && (await tokensOf(served));
    world.clock.advance(60_000);
    expect((await refresh(world.url, next?.refresh_token)).status).toBe(200);
  });

  it('shown again later ends the whole family, and the access tokens with it', async () => {
    const stolen = await signIn(world);
    const next = await renew(stolen);
    world.clock.advance(31_000);
    expect(await refusal(await refresh(world.url, stolen.refresh_token))).toEqual(gone);
    expect(await refusal(await refresh(world.url, next.refresh_token))).toEqual(gone);
    expect(await world.store.storage.directory.liveGrant(grantId(next))).toBeUndefined();
  });

  it('is worth nothing to another client', async () => {
    const tokens = await signIn(world);
    const other = { client_id: website.clientId, client_secret: website.clientSecret };
    expect(await refusal(await refresh(world.url, tokens.refresh_token, other))).toEqual(gone);
    expect((await refresh(world.url, tokens.refresh_token)).status).toBe(200);
  });

  it('gives some of its scopes when asked, and never others', async () => {
    const tokens = await signIn(world, { scope: 'chats:read telemetry:read' });
    const fewer = await tokensOf(await refresh(world.url, tokens.refresh_token, { scope: 'chats:read' }));
    expect([fewer.scope, decodeJwt(fewer.access_token)['scope']]).toEqual(['chats:read', 'chats:read']);
    const habit = await tokensOf(await refresh(world.url, fewer.refresh_token, { scope: 'openid offline_access' }));
    expect(habit.scope).toBe('telemetry:read chats:read');
    const more = await refresh(world.url, habit.refresh_token, { scope: 'chats:read chats:write' });
    expect(await refusal(more)).toEqual({ status: 400, error: 'invalid_scope' });
  });

  it('lives for ninety days without use, each use anew', async () => {
    // oidc-provider looks at the real clock, storage at ours: what is past by either is not found.
    const tokens = await signIn(world);
    world.clock.advance(80 * 86_400_000);
    const renewed = await renew(tokens);
    world.clock.advance(80 * 86_400_000);
    const again = await renew(renewed);
    world.clock.advance(91 * 86_400_000);
    expect(await refusal(await refresh(world.url, again.refresh_token))).toEqual(gone);
  });

  it('ends with the membership, the account and the grant', async () => {
    const { storage } = world.store;
    const { members, grants } = storage.workspace(world.organization.id);
    const person = async (name: string) => {
      const user = await addMember(world.store, world.organization.id, `${name}@example.com`);
      return { user, tokens: await signIn(world, {}, { user }) };
    };
    const removed = await person('removed');
    await members.remove(removed.user.id);
    const disabled = await person('disabled');
    await storage.directory.people.setEnabled(disabled.user.id, false);
    const revoked = await person('revoked');
    await grants.revoke(grantId(revoked.tokens), revoked.user.id);
    for (const { user, tokens } of [removed, disabled, revoked]) {
      expect([user.email, await refusal(await refresh(world.url, tokens.refresh_token))]).toEqual([user.email, gone]);
    }
  });

  it('given back ends the grant; another client’s and nonsense change nothing, and nobody is told', async () => {
    const tokens = await signIn(world);
    const revoke = (token: string | undefined, extra: Record<string, string> = {}) =>
      fetch(`${world.url}/oauth2/revoke`, form({ client_id: 'desktop', token: token ?? '', ...extra }));
    const other = { client_id: website.clientId, client_secret: website.clientSecret };
    for (const response of [await revoke(tokens.refresh_token, other), await revoke('nonsense')]) {
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
    const renewed = await renew(tokens);
    const given = await revoke(renewed.refresh_token);
    expect([given.status, given.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await refusal(await refresh(world.url, renewed.refresh_token))).toEqual(gone);
    expect(await world.store.storage.directory.liveGrant(grantId(tokens))).toBeUndefined();
    expect((await revoke(renewed.refresh_token, { client_id: 'nobody' })).status).toBe(401);
  });

  it('that could not be ended, for storage failed half way, is ended by the next try', async () => {
    let failing = false;
    const own = await openWorld({
      storage: (storage) =>
        withDirectory(storage, (directory) => ({
          async revokeGrant(id) {
            if (failing) throw new Error('the disk is gone');
            await directory.revokeGrant(id);
          },
        })),
    });
    const given = async (token: string | undefined) =>
      (await fetch(`${own.url}/oauth2/revoke`, form({ client_id: 'desktop', token: token ?? '' }))).status;
    const stolen = await signIn(own);
    const thief = await tokensOf(await refresh(own.url, stolen.refresh_token));
    const kept = await signIn(own);
    own.clock.advance(31_000);
    failing = true;
    expect((await refresh(own.url, stolen.refresh_token)).status).toBe(503);
    expect(await given(kept.refresh_token)).toBe(503);
    failing = false;
    expect(await refusal(await refresh(own.url, stolen.refresh_token))).toEqual(gone);
    expect(await refusal(await refresh(own.url, thief.refresh_token))).toEqual(gone);
    expect(await given(kept.refresh_token)).toBe(200);
    expect(await own.store.storage.workspace(own.organization.id).grants.list()).toEqual([]);
    await own.stop();
  });

  it('of an earlier authorization goes on when there is another: a person has several machines', async () => {
    const laptop = await signIn(world, { scope: 'chats:read' });
    const desk = await signIn(world);
    expect(grantId(desk)).not.toBe(grantId(laptop));
    expect((await renew(laptop)).scope).toBe('chats:read');
    expect((await renew(desk)).scope).toContain('chats:write');
  });
});

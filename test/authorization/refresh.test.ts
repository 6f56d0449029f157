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
  withArtifacts,
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

  it('gives all who show it at once the same one, on every instance, with access tokens that all work', async () => {
    const tokens = await signIn(world);
    const urls = world.servers.map(({ url }) => url);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => refresh(urls[index % urls.length] ?? '', tokens.refresh_token)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    const renewed = await Promise.all(answers.map(tokensOf));
    expect(new Set(renewed.map(({ refresh_token: token }) => token)).size).toBe(1);
    expect(new Set(renewed.map(({ access_token: token }) => token)).size).toBe(12);
    const again = await Promise.all(renewed.map(renew));
    expect(new Set(again.map(({ refresh_token: token }) => token)).size).toBe(1);
  });

  it('gives a second process that comes minutes late what the first one got', async () => {
    const tokens = await signIn(world);
    const first = await renew(tokens);
    world.clock.advance(5 * 60_000);
    const second = await renew(tokens);
    expect(second.refresh_token).toBe(first.refresh_token);
    world.clock.advance(3_600_000);
    const third = await renew(second);
    expect((await renew(first)).refresh_token).toBe(third.refresh_token);
  });

  it('works again where the gateway ended between using it and keeping what follows', async () => {
    let ended = false;
    const own = await openWorld({
      storage: (storage) =>
        withArtifacts(storage, (artifacts) => ({
          async upsert(artifact) {
            if (ended && artifact.model === 'RefreshToken') throw new Error('the process is gone');
            await artifacts.upsert(artifact);
          },
        })),
    });
    const tokens = await signIn(own);
    ended = true;
    expect((await refresh(own.url, tokens.refresh_token)).status).toBe(503);
    ended = false;
    const renewed = await tokensOf(await refresh(own.url, tokens.refresh_token));
    expect((await refresh(own.url, renewed.refresh_token)).status).toBe(200);
    await own.stop();
  });

  it('serves nobody without end: each answer is recorded', async () => {
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

  it.each([
    ['when its successor was used', 0, true],
    ['too late', 601_000, false],
  ])('shown again %s ends the whole family, and the access tokens with it', async (_when, later, successorUsed) => {
    const stolen = await signIn(world);
    const next = await renew(stolen);
    const last = successorUsed ? await renew(next) : next;
    world.clock.advance(later);
    const other = world.servers[1]?.url ?? '';
    expect(await refusal(await refresh(other, stolen.refresh_token))).toEqual(gone);
    expect(await refusal(await refresh(world.url, last.refresh_token))).toEqual(gone);
    expect(await world.store.storage.directory.liveGrant(grantId(last))).toBeUndefined();
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
    own.clock.advance(601_000);
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

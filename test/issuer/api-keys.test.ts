import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rejection } from '../contract/runner.ts';
import { hashSecret, newId } from '../../src/contract/core/index.ts';
import { type Scope } from '../../src/contract/issuer/index.ts';
import { everything, openStore, operator, type TestStore } from './support.ts';

describe('API keys', () => {
  let store: TestStore;

  beforeAll(async () => {
    store = await openStore();
  });
  afterAll(() => store.close());

  const create = (scopes: readonly Scope[] = everything) =>
    store.keys.create({ organizationId: store.organization.id, name: 'CI', scopes, actor: operator });
  const alive = async (clientId: string) =>
    (await store.storage.directory.keyForExchange(clientId))?.secrets.map(({ hash }) => hash) ?? [];
  const audited = async (target: string) =>
    (await store.storage.workspace(store.organization.id).audit.list({ limit: 1000 }))
      .filter((record) => record.target === target)
      .map(({ event, outcome, subject }) => [event, outcome, subject])
      .toReversed();

  it('show their secret once, and are kept by its hash', async () => {
    const { clientId, clientSecret, key } = await create();
    expect(clientId).toMatch(/^ak_[0-9a-z]{26}$/);
    expect(clientSecret).toMatch(/^aks_[A-Za-z0-9_-]{43}$/);
    expect(key).toMatchObject({ id: clientId, name: 'CI', scopes: everything, createdBy: 'tester' });
    expect(JSON.stringify([key, await store.keys.list(store.organization.id)])).not.toContain(clientSecret);
    expect(await alive(clientId)).toEqual([hashSecret(clientSecret)]);
  });

  it('take a second secret and no third; retiring ends the older; the last cannot be retired', async () => {
    const first = await create();
    const second = await store.keys.rotate(first.clientId, operator);
    expect(second.clientId).toBe(first.clientId);
    expect(second.clientSecret).not.toBe(first.clientSecret);
    expect(await alive(first.clientId)).toEqual([first, second].map(({ clientSecret }) => hashSecret(clientSecret)));
    expect(await rejection(store.keys.rotate(first.clientId, operator))).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(`key retire ${first.clientId}`),
    });
    await store.keys.retire(first.clientId, operator);
    expect(await alive(first.clientId)).toEqual([hashSecret(second.clientSecret)]);
    expect(await rejection(store.keys.retire(first.clientId, operator))).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(`key rotate ${first.clientId}`),
    });
    expect(await audited(first.clientId)).toEqual([
      ['key.created', 'ok', 'tester'],
      ['key.rotated', 'ok', 'tester'],
      ['key.rotated', 'conflict', 'tester'],
      ['key.retired', 'ok', 'tester'],
      ['key.retired', 'conflict', 'tester'],
    ]);
  });

  it('lose a newer secret that is not wanted, and the older goes on', async () => {
    const first = await create();
    expect(await rejection(store.keys.discard(first.clientId, operator))).toMatchObject({ code: 'conflict' });
    await store.keys.rotate(first.clientId, operator);
    await store.keys.discard(first.clientId, operator);
    expect(await alive(first.clientId)).toEqual([hashSecret(first.clientSecret)]);
    expect((await store.keys.rotate(first.clientId, operator)).clientSecret).toMatch(/^aks_/);
    expect((await audited(first.clientId)).map(([event, outcome]) => `${event} ${outcome}`)).toEqual([
      'key.created ok',
      'key.discarded conflict',
      'key.rotated ok',
      'key.discarded ok',
      'key.rotated ok',
    ]);
  });

  it('rest while they are paused', async () => {
    const { clientId, key } = await create();
    const lives = async () => (await store.storage.directory.liveKey(clientId, key.secrets[0]?.id ?? '')) !== undefined;
    await store.keys.pause(clientId, operator);
    expect(await lives()).toBe(false);
    await store.keys.resume(clientId, operator);
    expect(await lives()).toBe(true);
    expect((await audited(clientId)).map(([event]) => event)).toEqual(['key.created', 'key.paused', 'key.resumed']);
  });

  it('show of a secret its last four characters alone', async () => {
    const { clientSecret, key } = await create();
    expect(key.secrets.map(({ lastFour }) => lastFour)).toEqual([clientSecret.slice(-4)]);
  });

  it('end with all their secrets when revoked', async () => {
    const { clientId, key } = await create();
    await store.keys.rotate(clientId, operator);
    await store.keys.revoke(clientId, operator);
    expect(await alive(clientId)).toEqual([]);
    expect(await store.storage.directory.liveKey(clientId, key.secrets[0]?.id ?? '')).toBeUndefined();
    const { rotate, retire, discard, pause, resume, revoke } = store.keys;
    for (const change of [rotate, retire, discard, pause, resume, revoke]) {
      expect(await rejection(change(clientId, operator))).toMatchObject({ code: 'not_found' });
    }
    expect((await audited(clientId)).at(-1)).toEqual(['key.revoked', 'ok', 'tester']);
  });

  it('never have three secrets, however many rotate at once, and never none', async () => {
    const { clientId } = await create();
    const rotations = await Promise.allSettled(Array.from({ length: 10 }, () => store.keys.rotate(clientId, operator)));
    expect(rotations.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await alive(clientId)).toHaveLength(2);
    const retirements = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.keys.retire(clientId, operator)),
    );
    expect(retirements.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await alive(clientId)).toHaveLength(1);
  });

  it('carry known scopes, each once and in one order', async () => {
    const { key } = await create(['chats:write', 'telemetry:read', 'chats:write']);
    expect(key.scopes).toEqual(['telemetry:read', 'chats:write']);
    expect(await rejection(create([]))).toMatchObject({ code: 'invalid_argument' });
    // What a command line hands over is not checked by the compiler.
    const unchecked: readonly Scope[] = JSON.parse('["admin"]');
    expect(await rejection(create(unchecked))).toMatchObject({
      code: 'invalid_argument',
      hint: expect.stringContaining('telemetry:read'),
    });
  });

  it('have a name a person can read', async () => {
    for (const name of ['', '   ', 'a\nb', 'a\0b', 'x'.repeat(101)]) {
      const input = { organizationId: store.organization.id, name, scopes: everything, actor: operator };
      expect([name, await rejection(store.keys.create(input))]).toMatchObject([name, { code: 'invalid_argument' }]);
    }
  });

  it('are not found by another key’s id or by nonsense, which is not repeated at length', async () => {
    for (const id of [newId('ak'), 'ak_', '', "' or 1=1 --", 'x'.repeat(10_000)]) {
      const error = await rejection(store.keys.revoke(id, operator));
      expect(error).toMatchObject({ code: 'not_found' });
      expect(String(error).length).toBeLessThan(200);
    }
  });

  it('belong to one organization', async () => {
    const other = await store.storage.directory.createOrganization({ name: 'Elsewhere' });
    const { clientId } = await create();
    expect(await store.keys.list(other.id)).toEqual([]);
    expect((await store.keys.list(store.organization.id)).map(({ id }) => id)).toContain(clientId);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIngestTokens, type IngestTokens } from '../../src/identity/verify/ingest-tokens.ts';
import { testVault } from '../contract/host.ts';
import { rejection } from '../contract/runner.ts';
import { hashSecret, newId } from '../../src/contract/core/index.ts';
import { openStore, operator, type TestStore } from './support.ts';

describe('ingest tokens', () => {
  let store: TestStore;
  let tokens: IngestTokens;
  let names = 0;

  beforeAll(async () => {
    store = await openStore();
    tokens = createIngestTokens({ storage: store.storage, vault: store.vault });
  });
  afterAll(() => store.close());

  const newOrganization = () => store.storage.directory.createOrganization({ name: `org ${(names += 1)}` });
  const owner = async (token: string) =>
    (await store.storage.directory.ingestTokenByHash(hashSecret(token)))?.organizationId;

  it('are made once and shown again', async () => {
    const { id } = await newOrganization();
    expect(await tokens.current(id)).toBeUndefined();
    const token = await tokens.ensure(id);
    expect(token).toMatch(/^it_[A-Za-z0-9_-]{43}$/);
    expect(await tokens.ensure(id)).toBe(token);
    expect(await tokens.current(id)).toBe(token);
    expect(await owner(token)).toBe(id);
  });

  it('are made once, however many ask at the same moment', async () => {
    const { id } = await newOrganization();
    const made = await Promise.all(Array.from({ length: 8 }, () => tokens.ensure(id)));
    expect(new Set(made).size).toBe(1);
    expect(await tokens.current(id)).toBe(made[0]);
    expect(await store.storage.workspace(id).audit.list({ limit: 10 })).toHaveLength(1);
  });

  it('overlap when they are rotated, until the old one is revoked', async () => {
    const { id } = await newOrganization();
    const old = await tokens.ensure(id);
    const { token, previous } = await tokens.rotate(id, operator);
    expect(await tokens.current(id)).toBe(token);
    expect([await owner(old), await owner(token)]).toEqual([id, id]);
    if (!previous) throw new Error('there was one before');
    await tokens.revoke(id, previous, operator);
    expect([await owner(old), await owner(token)]).toEqual([undefined, id]);
    expect(await rejection(tokens.revoke(id, previous, operator))).toMatchObject({ code: 'not_found' });
    const events = (await store.storage.workspace(id).audit.list({ limit: 10 })).map(({ event, subject }) => [
      event,
      subject,
    ]);
    expect(events.toReversed()).toEqual([
      ['ingest_token.created', 'system'],
      ['ingest_token.created', 'tester'],
      ['ingest_token.revoked', 'tester'],
    ]);
  });

  it('are listed with who made them and how they end, and nothing more of the token', async () => {
    const { id } = await newOrganization();
    const old = await tokens.ensure(id);
    const { token } = await tokens.rotate(id, operator);
    const listed = await tokens.list(id);
    expect(listed.map(({ createdBy, lastFour }) => [createdBy, lastFour])).toEqual([
      ['tester', token.slice(-4)],
      ['system', old.slice(-4)],
    ]);
    expect(JSON.stringify(listed)).not.toMatch(new RegExp(`hash|sealed|${token.slice(0, -4)}`));
    expect(await tokens.list((await newOrganization()).id)).toEqual([]);
    const elsewhere = createIngestTokens({ storage: store.storage, vault: testVault() });
    expect((await elsewhere.list(id)).map(({ lastFour }) => lastFour)).toEqual([undefined, undefined]);
  });

  it('of one organization cannot be touched through another', async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const token = await tokens.ensure(one.id);
    const found = await store.storage.directory.ingestTokenByHash(hashSecret(token));
    if (!found) throw new Error('it was just made');
    expect(await rejection(tokens.revoke(two.id, found.id, operator))).toMatchObject({ code: 'not_found' });
    expect(await owner(token)).toBe(one.id);
  });

  it('are no API keys, and API keys are no ingest tokens', async () => {
    const { id } = await newOrganization();
    const token = await tokens.ensure(id);
    expect(await store.storage.directory.keyForExchange(token)).toBeUndefined();
    const key = await store.keys.create({ organizationId: id, name: 'k', scopes: ['ingest:read'], actor: operator });
    expect(await owner(key.clientSecret)).toBeUndefined();
    expect(await owner(key.clientId)).toBeUndefined();
    expect(await owner(newId('it'))).toBeUndefined();
  });

  it('do not open under another master key', async () => {
    const { id } = await newOrganization();
    await tokens.ensure(id);
    const elsewhere = createIngestTokens({ storage: store.storage, vault: testVault() });
    expect(await rejection(elsewhere.current(id))).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('sightline ingest rotate'),
    });
  });
});

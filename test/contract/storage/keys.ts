import { newId } from '../../../src/contract/core/index.ts';
import type { ApiKey, Storage } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { awkward, eventually, type MakeStorage, newKey, newSecret, present, refusal, sharedStage } from './stage.ts';

/** API keys: what they are, that they end at once, and that two hands at once do not make three secrets or none. */
export function keyPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('API keys', () => {
    const stage = sharedStage(runner, make);
    const alive = ({ directory }: Storage, { id }: ApiKey, secretId: string) => directory.liveKey(id, secretId);

    it('come back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const input = newKey({ name: awkward.trim().replaceAll(/[\r\n\t]/g, ''), createdBy: awkward });
      const key = await here.keys.create(input);
      expect(key).toMatchObject({
        id: input.id,
        organizationId: here.organizationId,
        name: input.name,
        scopes: ['telemetry:read', 'chats:write'],
        createdBy: awkward,
      });
      expect(key.lastUsedAt).toBeUndefined();
      expect(key.secrets.map(({ id }) => id)).toEqual([input.secret.id]);
      expect(await there.keys.get(input.id)).toEqual(key);
      expect(await there.keys.list()).toEqual([key]);
      expect(await stage().other.directory.keyForExchange(input.id)).toEqual({
        paused: false,
        id: input.id,
        organizationId: here.organizationId,
        scopes: input.scopes,
        secrets: [{ id: input.secret.id, hash: input.secret.hash }],
      });
    });

    it('never give a hash of a secret away where keys are shown', async () => {
      const { keys } = await stage().workspace();
      const input = newKey();
      await keys.create(input);
      expect(JSON.stringify([await keys.get(input.id), await keys.list()])).not.toContain(input.secret.hash);
    });

    it('may have no scope at all', async () => {
      const { keys } = await stage().workspace();
      expect((await keys.create(newKey({ scopes: [] }))).scopes).toEqual([]);
    });

    it('are listed oldest first', async () => {
      const { keys } = await stage().workspace();
      const made: string[] = [];
      for (const name of ['b', 'a', 'c']) {
        made.push((await keys.create(newKey({ name }))).id);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect((await keys.list()).map(({ id }) => id)).toEqual(made);
    });

    it('are not made twice, nor under a blank name', async () => {
      const { keys } = await stage().workspace();
      const input = newKey();
      await keys.create(input);
      expect(await refusal(keys.create({ ...input, secret: newSecret() }))).toBe('conflict');
      expect(await refusal(keys.create(newKey({ secret: input.secret })))).toBe('conflict');
      expect(await refusal(keys.create(newKey({ name: ' ' })))).toBe('invalid_argument');
      expect(await refusal(keys.create(newKey({ name: 'x'.repeat(201) })))).toBe('invalid_argument');
      expect(await keys.list()).toHaveLength(1);
    });

    it('are alive with each of their secrets, and only with those', async () => {
      const { keys } = await stage().workspace();
      const [one, other] = [await keys.create(newKey()), await keys.create(newKey())];
      const second = newSecret();
      await keys.addSecret(one.id, second);
      const first = present(one.secrets.at(0)).id;
      for (const secret of [first, second.id]) {
        expect(await alive(stage().storage, one, secret)).toEqual({
          organizationId: one.organizationId,
          name: one.name,
          scopes: one.scopes,
        });
      }
      expect(await alive(stage().storage, other, first)).toBeUndefined();
      expect(await alive(stage().storage, one, newId('sec'))).toBeUndefined();
      expect(await stage().storage.directory.liveKey(newId('ak'), first)).toBeUndefined();
      expect(await stage().storage.directory.liveKey('%', "' OR '1'='1")).toBeUndefined();
      expect(await stage().storage.directory.keyForExchange('%')).toBeUndefined();
    });

    it('have at most two secrets, oldest first, and never none', async () => {
      const { keys } = await stage().workspace();
      const key = await keys.create(newKey());
      const first = present(key.secrets.at(0)).id;
      expect(await refusal(keys.removeSecret(key.id, 'older'))).toBe('conflict');
      const second = newSecret();
      expect((await keys.addSecret(key.id, second)).secrets.map(({ id }) => id)).toEqual([first, second.id]);
      expect(await refusal(keys.addSecret(key.id, newSecret()))).toBe('conflict');
      expect((await keys.removeSecret(key.id, 'older')).secrets.map(({ id }) => id)).toEqual([second.id]);
      const third = newSecret();
      expect((await keys.addSecret(key.id, third)).secrets.map(({ id }) => id)).toEqual([second.id, third.id]);
      expect((await keys.removeSecret(key.id, 'older')).secrets.map(({ id }) => id)).toEqual([third.id]);
    });

    it('lose the newer of two secrets as well, and the older goes on', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const older = present(key.secrets.at(0)).id;
      expect(await refusal(here.keys.removeSecret(key.id, 'newer'))).toBe('conflict');
      const newer = newSecret();
      await here.keys.addSecret(key.id, newer);
      expect(await alive(stage().storage, key, newer.id)).not.toBeUndefined();
      expect((await there.keys.removeSecret(key.id, 'newer')).secrets.map(({ id }) => id)).toEqual([older]);
      expect(await alive(stage().storage, key, newer.id)).toBeUndefined();
      expect(await alive(stage().other, key, older)).not.toBeUndefined();
    });

    it('are dead on the next look of any process while they are paused, and the same after', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const secret = present(key.secrets.at(0)).id;
      expect(await alive(stage().storage, key, secret)).not.toBeUndefined();
      const { pausedAt } = await there.keys.setPaused(key.id, true);
      expect(await alive(stage().storage, key, secret)).toBeUndefined();
      expect(await alive(stage().other, key, secret)).toBeUndefined();
      expect(await stage().other.directory.keyForExchange(key.id)).toMatchObject({ paused: true });
      expect((await here.keys.setPaused(key.id, true)).pausedAt).toEqual(present(pausedAt));
      expect(await here.keys.setPaused(key.id, false)).toEqual(key);
      expect(await alive(stage().storage, key, secret)).not.toBeUndefined();
      expect(await alive(stage().other, key, secret)).not.toBeUndefined();
      expect(await refusal(here.keys.setPaused(newId('ak'), true))).toBe('not_found');
    });

    it('say of each secret how it ends and when it was used', async () => {
      const { keys } = await stage().workspace();
      const key = await keys.create(newKey());
      const newer = newSecret();
      await keys.addSecret(key.id, newer);
      const used = new Date(1_800_000_000_000);
      await keys.markUsed(key.id, newer.id, used);
      const secrets = async () => present(await keys.get(key.id)).secrets;
      await eventually(async () => (await secrets()).some(({ lastUsedAt }) => lastUsedAt !== undefined));
      expect((await secrets()).map(({ lastFour, lastUsedAt }) => [lastFour, lastUsedAt])).toEqual([
        [present(key.secrets.at(0)).lastFour, undefined],
        [newer.lastFour, used],
      ]);
      expect(present(await keys.get(key.id)).lastUsedAt).toEqual(used);
    });

    it('get one second secret when two processes rotate at once', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const rotated = await Promise.allSettled(
        [here, there, here, there].map(({ keys }) => keys.addSecret(key.id, newSecret())),
      );
      expect(rotated.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect((await here.keys.get(key.id))?.secrets).toHaveLength(2);
    });

    it('keep one secret when two processes retire at once', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const newer = newSecret();
      await here.keys.addSecret(key.id, newer);
      const retired = await Promise.allSettled(
        [here, there, here].map(({ keys }) => keys.removeSecret(key.id, 'older')),
      );
      expect(retired.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect((await here.keys.get(key.id))?.secrets.map(({ id }) => id)).toEqual([newer.id]);
    });

    it('lose a retired secret on the next look of any process', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const older = present(key.secrets.at(0)).id;
      await here.keys.addSecret(key.id, newSecret());
      expect(await alive(stage().storage, key, older)).not.toBeUndefined();
      await there.keys.removeSecret(key.id, 'older');
      expect(await alive(stage().storage, key, older)).toBeUndefined();
      expect(await alive(stage().other, key, older)).toBeUndefined();
    });

    it('are dead on the next look of any process once revoked, with every secret', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const second = newSecret();
      await here.keys.addSecret(key.id, second);
      const secrets = [present(key.secrets.at(0)).id, second.id];
      for (const secret of secrets) expect(await alive(stage().storage, key, secret)).not.toBeUndefined();
      expect(await there.keys.revoke(key.id)).toBe(true);
      for (const secret of secrets) {
        expect(await alive(stage().storage, key, secret)).toBeUndefined();
        expect(await alive(stage().other, key, secret)).toBeUndefined();
      }
      expect(await here.keys.get(key.id)).toBeUndefined();
      expect(await here.keys.list()).toEqual([]);
      expect(await stage().storage.directory.keyForExchange(key.id)).toBeUndefined();
      expect(await here.keys.revoke(key.id)).toBe(false);
      expect(await refusal(here.keys.addSecret(key.id, newSecret()))).toBe('not_found');
      expect(await refusal(here.keys.removeSecret(key.id, 'older'))).toBe('not_found');
    });

    it('remember when they were used, to the minute', async () => {
      const [here, there] = await stage().workspaces();
      const key = await here.keys.create(newKey());
      const used = async () => (await there.keys.get(key.id))?.lastUsedAt?.getTime();
      const start = 1_800_000_000_000;
      await here.keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date(start));
      await eventually(async () => (await used()) !== undefined);
      expect(await used()).toBe(start);
      // Within the minute nothing is written, by whichever process; after it the later time is.
      await here.keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date(start + 59_000));
      await there.keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date(start + 59_999));
      await here.keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date(start + 60_000));
      await eventually(async () => (await used()) !== start);
      expect(await used()).toBe(start + 60_000);
    });

    it('keep the marks of the last moment when the storage stops', async () => {
      const storage = await stage().open();
      const { id } = await stage().organization();
      const { keys } = storage.workspace(id);
      const key = await keys.create(newKey());
      await keys.markUsed(key.id, present(key.secrets.at(0)).id, new Date(1_800_000_000_000));
      await storage.stop();
      expect((await stage().storage.workspace(id).keys.get(key.id))?.lastUsedAt?.getTime()).toBe(1_800_000_000_000);
    });

    it('may be marked when they are gone', async () => {
      const { keys } = await stage().workspace();
      await keys.markUsed(newId('ak'), newId('sec'), new Date());
      expect(await keys.list()).toEqual([]);
    });
  });
}

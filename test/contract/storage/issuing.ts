import type { Artifact, SigningKeyRecord } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { awkward, type MakeStorage, ownStage, sharedStage } from './stage.ts';

/** What a token issuer keeps: its signing keys and its short-lived records. */
export function issuingPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('signing keys', () => {
    const stage = ownStage(runner, make);
    const key = (kid: string, state: SigningKeyRecord['state'] = 'current'): SigningKeyRecord => ({
      kid,
      algorithm: 'ES256',
      state,
      publicJwk: `{"kty":"EC","kid":"${kid}"}`,
      sealedPrivateJwk: awkward,
      createdAt: new Date(1_700_000_000_123),
      stateSince: new Date(1_800_000_000_456),
    });

    it('come back field by field and in order', async () => {
      const { directory } = stage().storage;
      expect(await directory.signingKeys()).toEqual([]);
      const keys = [key('z', 'next'), key('a', 'current'), key('m', 'retired')];
      expect(await directory.replaceSigningKeys([], keys)).toBe(true);
      expect(await stage().other.directory.signingKeys()).toEqual(keys);
    });

    it('are replaced only if they are what the caller saw', async () => {
      const { directory } = stage().storage;
      await directory.replaceSigningKeys([], [key('a'), key('b')]);
      for (const expected of [[], ['a'], ['b', 'a'], ['a', 'b', 'c'], ['a', 'x']]) {
        expect(await directory.replaceSigningKeys(expected, [key('evil')])).toBe(false);
      }
      expect((await directory.signingKeys()).map(({ kid }) => kid)).toEqual(['a', 'b']);
      expect(await directory.replaceSigningKeys(['a', 'b'], [key('b', 'retired'), key('c')])).toBe(true);
      expect((await directory.signingKeys()).map(({ kid, state }) => [kid, state])).toEqual([
        ['b', 'retired'],
        ['c', 'current'],
      ]);
      expect(await directory.replaceSigningKeys(['b', 'c'], [])).toBe(true);
      expect(await directory.signingKeys()).toEqual([]);
    });

    it('are made by exactly one of several instances at their first start', async () => {
      const attempts = [stage().storage, stage().other, stage().storage, stage().other].map(({ directory }, index) =>
        directory.replaceSigningKeys([], [key(`k${index}`)]),
      );
      const won = await Promise.all(attempts);
      expect(won.filter(Boolean)).toHaveLength(1);
      const [kept] = await stage().storage.directory.signingKeys();
      expect(kept?.kid).toBe(`k${won.indexOf(true)}`);
    });
  });

  describe('artifacts', () => {
    const stage = sharedStage(runner, make);
    const later = new Date(Date.now() + 3_600_000);
    let made = 0;
    const artifact = (overrides: Partial<Artifact> = {}): Artifact => ({
      model: 'AuthorizationCode',
      id: `id-${(made += 1)}`,
      payload: '{}',
      ...overrides,
    });
    const artifacts = () => stage().storage.directory.artifacts;

    it('come back field by field', async () => {
      const full = artifact({
        payload: JSON.stringify({ text: awkward }),
        grantId: 'grant-full',
        uid: `uid ${awkward}`,
        userCode: 'ABCD-EFGH',
        consumedAt: new Date(1_700_000_000_789),
        expiresAt: later,
      });
      const bare = artifact();
      for (const one of [full, bare]) {
        await artifacts().upsert(one);
        expect(await stage().other.directory.artifacts.find(one.model, one.id)).toEqual(one);
      }
      expect(await artifacts().findBy(full.model, 'uid', `uid ${awkward}`)).toEqual(full);
      expect(await artifacts().findBy(full.model, 'userCode', 'ABCD-EFGH')).toEqual(full);
    });

    it('are found only under their own model, id and field', async () => {
      const one = artifact({ uid: 'u-own', userCode: 'c-own', expiresAt: later });
      await artifacts().upsert(one);
      expect(await artifacts().find('Session', one.id)).toBeUndefined();
      expect(await artifacts().find(one.model, `${one.id}x`)).toBeUndefined();
      expect(await artifacts().find(one.model, '%')).toBeUndefined();
      expect(await artifacts().findBy('Session', 'uid', 'u-own')).toBeUndefined();
      expect(await artifacts().findBy(one.model, 'userCode', 'u-own')).toBeUndefined();
    });

    it('are replaced by a second save', async () => {
      const one = artifact({ payload: '{"v":1}', grantId: 'g1', uid: 'u1', expiresAt: later });
      await artifacts().upsert(one);
      const { grantId: _, uid: __, ...rest } = one;
      const next = { ...rest, payload: '{"v":2}' };
      await artifacts().upsert(next);
      expect(await artifacts().find(one.model, one.id)).toEqual(next);
      expect(await artifacts().findBy(one.model, 'uid', 'u1')).toBeUndefined();
    });

    it('are found by their uid under the newest id, as a browser session gets another', async () => {
      const old = artifact({ model: 'Session', uid: 'u-session', expiresAt: later });
      await artifacts().upsert(old);
      const next = artifact({ model: 'Session', uid: 'u-session', expiresAt: later });
      await artifacts().destroy(old.model, old.id);
      await artifacts().upsert(next);
      expect(await stage().other.directory.artifacts.findBy('Session', 'uid', 'u-session')).toEqual(next);
    });

    it('are one when several processes save the same at once', async () => {
      const one = artifact({ uid: 'u-many', expiresAt: later });
      await Promise.all(
        [stage().storage, stage().other, stage().storage, stage().other].map(({ directory }, index) =>
          directory.artifacts.upsert({ ...one, payload: `{"v":${index}}` }),
        ),
      );
      expect((await artifacts().find(one.model, one.id))?.payload).toMatch(/^\{"v":[0-3]\}$/);
      await artifacts().destroy(one.model, one.id);
      expect(await artifacts().findBy(one.model, 'uid', 'u-many')).toBeUndefined();
    });

    it('are consumed by exactly one of many callers in two processes', async () => {
      const one = artifact({ expiresAt: later });
      await artifacts().upsert(one);
      const at = new Date(1_750_000_000_001);
      const attempts = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? stage().storage : stage().other).directory.artifacts.consume(one.model, one.id, at),
      );
      expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(1);
      expect((await artifacts().find(one.model, one.id))?.consumedAt).toEqual(at);
    });

    it('stay consumed when they are saved again', async () => {
      const one = artifact({ expiresAt: later });
      await artifacts().upsert(one);
      await artifacts().consume(one.model, one.id, new Date(1_750_000_000_002));
      await artifacts().upsert({ ...one, payload: '{"again":true}' });
      expect(await artifacts().consume(one.model, one.id, new Date())).toBe(false);
      expect(await artifacts().find(one.model, one.id)).toMatchObject({
        payload: '{"again":true}',
        consumedAt: new Date(1_750_000_000_002),
      });
    });

    it('are still found once they are consumed, so that a second use is known for one', async () => {
      const one = artifact({ grantId: 'used', uid: 'u-used', expiresAt: later });
      await artifacts().upsert(one);
      const consumedAt = new Date(1_750_000_000_003);
      await stage().other.directory.artifacts.consume(one.model, one.id, consumedAt);
      expect(await artifacts().find(one.model, one.id)).toEqual({ ...one, consumedAt });
      expect(await artifacts().findBy(one.model, 'uid', 'u-used')).toEqual({ ...one, consumedAt });
      await stage().other.directory.artifacts.revokeGrant('used');
      expect(await artifacts().find(one.model, one.id)).toBeUndefined();
    });

    it('are consumed under their own model and id only', async () => {
      const one = artifact({ grantId: 'own', uid: 'u-one', expiresAt: later });
      await artifacts().upsert(one);
      for (const [model, id] of [
        ['RefreshToken', one.id],
        [one.model, 'u-one'],
        [one.model, '%'],
      ] as const) {
        expect(await artifacts().consume(model, id, new Date())).toBe(false);
      }
      expect(await artifacts().find(one.model, one.id)).toEqual(one);
    });

    it('cannot be consumed when they do not exist', async () => {
      expect(await artifacts().consume('AuthorizationCode', 'nothing', new Date())).toBe(false);
    });

    it('are not found or consumed once they have expired', async () => {
      const one = artifact({ uid: 'u-late', expiresAt: new Date(Date.now() - 1) });
      await artifacts().upsert(one);
      expect(await artifacts().find(one.model, one.id)).toBeUndefined();
      expect(await artifacts().findBy(one.model, 'uid', 'u-late')).toBeUndefined();
      expect(await artifacts().consume(one.model, one.id, new Date())).toBe(false);
    });

    it('are destroyed one by one, or all of a grant at once', async () => {
      const [first, second, foreign] = [
        artifact({ grantId: 'doomed' }),
        artifact({ model: 'RefreshToken', grantId: 'doomed' }),
        artifact({ grantId: 'other' }),
      ];
      const lone = artifact();
      for (const one of [first, second, foreign, lone]) await artifacts().upsert(one);
      await artifacts().destroy(lone.model, lone.id);
      await artifacts().destroy(lone.model, lone.id);
      await artifacts().revokeGrant('doomed');
      for (const gone of [lone, first, second]) {
        expect(await artifacts().find(gone.model, gone.id)).toBeUndefined();
      }
      expect(await artifacts().find(foreign.model, foreign.id)).toEqual(foreign);
    });

    it('are removed when they have expired, however many, and no others', async () => {
      await artifacts().removeExpired(new Date());
      const old = Array.from({ length: 30 }, () => artifact({ model: 'Session', expiresAt: new Date(1_000) }));
      const kept = [artifact({ model: 'Session' }), artifact({ model: 'Session', expiresAt: later })];
      await Promise.all([...old, ...kept].map((one) => artifacts().upsert(one)));
      expect(await artifacts().removeExpired(new Date(999))).toBe(0);
      expect(await artifacts().removeExpired(new Date(1_000))).toBe(30);
      expect(await artifacts().removeExpired(new Date())).toBe(0);
      for (const one of kept) expect(await artifacts().find(one.model, one.id)).toEqual(one);
    });
  });
}

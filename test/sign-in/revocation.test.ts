import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createVerifier, type Verifier } from '../../src/identity/verify/verifier.ts';
import { silentLogger } from '../contract/host.ts';
import { toId } from '../../src/contract/core/index.ts';
import type { Actor, Storage, User } from '../../src/contract/storage/index.ts';
import { createPeople } from '../../src/identity/people/create-people.ts';
import { addMember, openWorld, signIn, type World } from '../authorization/support.ts';
import { exchange, tokenOf } from '../issuer/support.ts';

/*
 * Two gateways over one storage, each with its own connection, caches and verifier. What is done at one is asked of
 * the other, which has just let the same credential through.
 */
describe('what is ended at one gateway', () => {
  let world: World;
  let here: Storage;
  let there: Storage;
  let verify: Verifier;
  const operator: Actor = { kind: 'operator', id: 'tester', name: 'Tester' };

  beforeAll(async () => {
    world = await openWorld();
    here = world.store.storage;
    there = await world.store.another();
    const [server] = world.servers;
    if (server === undefined) throw new Error('there is a server');
    verify = createVerifier({
      issuer: { trusts: [server.server.trust] },
      resource: `${world.url}/mcp`,
      directory: there.directory,
      admit: () => Promise.reject(new Error('nobody comes from elsewhere')),
      markUsed: () => {},
      now: world.clock.now,
      logger: silentLogger,
    });
  });
  afterAll(async () => {
    await world.stop();
  });

  const ask = (token: string) => {
    const request = new IncomingMessage(new Socket());
    request.headers.authorization = `Bearer ${token}`;
    return verify(request);
  };

  /** The token is good at the other gateway until `act`, and not one request longer. */
  const endsBy = async (token: string, act: () => Promise<unknown>) => {
    await ask(token);
    await act();
    await expect(ask(token)).rejects.toMatchObject({ code: 'invalid_token' });
  };

  const person = async (email: string): Promise<User> => addMember(world.store, world.organization.id, email);
  const tokenOfPerson = async (user: User) => (await signIn({ ...world, user })).access_token;
  const people = () => createPeople({ storage: here, logger: silentLogger, now: world.clock.now });

  it('an application', async () => {
    const user = await person('application@example.com');
    const token = await tokenOfPerson(user);
    const grant = toId('gra', decodeJwt(token)['grant']);
    await endsBy(token, () => people().revokeApplication(world.organization.id, grant, operator, user.id));
  });

  it('a membership', async () => {
    const user = await person('membership@example.com');
    await endsBy(await tokenOfPerson(user), () => people().removeMember(world.organization.id, user.id, operator));
  });

  it('an account', async () => {
    const user = await person('account@example.com');
    await endsBy(await tokenOfPerson(user), () => people().setEnabled(user.id, false, operator));
  });

  it('a session, by signing out, by signing out everywhere and with the account', async () => {
    const user = await person('session@example.com');
    const elsewhere = createPeople({ storage: there, logger: silentLogger, now: world.clock.now });
    const ends = [
      (token: string) => people().signOut(token),
      () => people().signOutEverywhere(user.id),
      () => people().setEnabled(user.id, false, operator),
    ];
    for (const end of ends) {
      const { token } = await people().openSession(user.id);
      expect((await elsewhere.session(token))?.user.id).toBe(user.id);
      await end(token);
      expect(await elsewhere.session(token)).toBeUndefined();
    }
  });

  it('a key, and one secret of two', async () => {
    const made = await world.store.keys.create({
      organizationId: world.organization.id,
      name: 'key',
      scopes: ['telemetry:read'],
      actor: operator,
    });
    const first = await tokenOf(await exchange(world.url, made));
    const second = await tokenOf(await exchange(world.url, await world.store.keys.rotate(made.clientId, operator)));
    await endsBy(first, () => world.store.keys.retire(made.clientId, operator));
    await endsBy(second, () => world.store.keys.revoke(made.clientId, operator));
  });
});

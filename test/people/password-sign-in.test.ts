import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPasswords } from '../../src/identity/people/passwords.ts';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { User } from '../../src/contract/storage/index.ts';
import type { People } from '../../src/identity/people/people.ts';
import { admin, audited, home, openWorld, password, person, refusal, refused, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const signIn = (email: string, given = password, address = home) =>
  world.people.signInWithPassword({ email, password: given, address });

describe('a sign-in with a password', () => {
  it('takes the right one, whatever the case of the address, and is in the audit log', async () => {
    const ada = await person(world, 'Ada@example.com');
    expect(await signIn(' ada@EXAMPLE.com')).toMatchObject({ id: ada.id });
    expect((await audited(world)).at(-1)).toMatchObject({ event: 'person.signed_in', subject: ada.id, outcome: 'ok' });
  });

  it('takes the same characters however they were typed', async () => {
    await person(world, 'zoe@example.com', { password: 'caf\u00e9 au lait tout de suite' });
    await expect(signIn('zoe@example.com', 'cafe\u0301 au lait tout de suite')).resolves.toBeDefined();
  });

  it('refuses an unknown address, a wrong password, a disabled account and one without a password alike', async () => {
    await person(world, 'ada@example.com');
    const gone = await person(world, 'gone@example.com');
    await world.people.setEnabled(gone.id, false, { kind: 'operator', id: 'op', name: 'op' });
    await person(world, 'sso@example.com', { password: null });
    const attempts = [
      signIn('nobody@example.com'),
      signIn('ada@example.com', 'another plain text'),
      signIn('gone@example.com'),
      signIn('sso@example.com'),
    ];
    const answers = await Promise.all(attempts.map(refusal));
    expect(answers[0]).toMatchObject(refused('forbidden', 'The e-mail address or the password is wrong.'));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('computes one password for each of them, known or not', async () => {
    await person(world, 'ada@example.com');
    for (const email of ['ada@example.com', 'nobody@example.com', `${'x'.repeat(500)}@example.com`, '']) {
      const before = world.computed();
      await refusal(signIn(email, 'wrong wrong wrong'));
      expect(world.computed() - before).toBe(1);
    }
  });

  it('leaves nothing in the log of what was typed', async () => {
    await person(world, 'ada@example.com');
    await refusal(signIn('my secret typed in the wrong field', 'another secret text'));
    await refusal(signIn('ada@example.com', 'another secret text'));
    await signIn('ada@example.com');
    expect(world.lines.length).toBeGreaterThan(0);
    expect(world.lines.join('\n')).not.toMatch(/secret|four plain|ada@example/);
  });

  it('hashes anew at the cost of today, once', async () => {
    await person(world, 'ada@example.com');
    const costlier = createPasswords({ logN: 11 });
    const hashOf = async () => (await world.store.storage.directory.people.credentials('ada@example.com'))?.hash;
    expect(await hashOf()).toContain('ln=10');
    const later = world.another(costlier);
    await later.signInWithPassword({ email: 'ada@example.com', password, address: home });
    const renewed = await hashOf();
    expect(renewed).toContain('ln=11');
    await later.signInWithPassword({ email: 'ada@example.com', password, address: home });
    expect(await hashOf()).toBe(renewed);
  });
});

describe('an attack on an account', () => {
  it('is refused unseen once there were too many, and its owner is let in all the same', async () => {
    await person(world, 'ada@example.com');
    await signIn('ada@example.com');
    for (let count = 0; count < 10; count += 1) {
      await refusal(signIn('ada@example.com', 'wrong wrong wrong', '192.0.2.66'));
    }
    const before = world.computed();
    for (const given of ['wrong wrong wrong', password]) {
      expect(await refusal(signIn('ada@example.com', given, '192.0.2.66'))).toMatchObject(
        refused('rate_limited', 'too many wrong passwords'),
      );
    }
    expect(world.computed()).toBe(before);
    await expect(signIn('ada@example.com')).resolves.toBeDefined();
    await expect(signIn('ada@example.com', password, '2001:db8::7')).resolves.toBeDefined();
  });

  it('from the network of its owner does not keep the owner out', async () => {
    await person(world, 'ada@example.com');
    await signIn('ada@example.com');
    for (let count = 0; count < 30; count += 1) await refusal(signIn('ada@example.com', 'wrong wrong wrong'));
    expect(await refusal(signIn('ada@example.com', 'wrong wrong wrong'))).toMatchObject(refused('rate_limited'));
    await expect(signIn('ada@example.com')).resolves.toBeDefined();
  });
});

describe('the change of a password', () => {
  it('needs the current one, ends all sessions, and is in the audit log', async () => {
    const ada = await person(world, 'ada@example.com');
    const { token } = await world.people.openSession(ada.id);
    const next = 'other plain words there';
    expect(await refusal(world.people.changePassword(ada.id, 'wrong wrong wrong', next))).toMatchObject(
      refused('forbidden', 'current password'),
    );
    expect(await world.people.session(token)).toBeDefined();
    await world.people.changePassword(ada.id, password, next);
    expect(await world.people.session(token)).toBeUndefined();
    expect(await refusal(signIn('ada@example.com'))).toMatchObject(refused('forbidden'));
    await expect(signIn('ada@example.com', next)).resolves.toBeDefined();
    const events = (await audited(world)).map(({ event }) => event);
    expect(events.filter((event) => event === 'password.changed')).toHaveLength(2);
  });

  it('counts no try that was not looked at', async () => {
    const ada = await person(world, 'ada@example.com');
    const real = createPasswords({ logN: 10 });
    let busy = true;
    const people = world.another({
      hash: (text, party) => real.hash(text, party),
      verify: async (text, hash, place) => {
        if (busy) throw new SightlineError('unavailable', 'Too many people are signing in at this moment.');
        return real.verify(text, hash, place);
      },
    });
    const change = () => people.changePassword(ada.id, password, 'other plain words there');
    for (let count = 0; count < 20; count += 1) expect(await refusal(change())).toMatchObject(refused('unavailable'));
    busy = false;
    await expect(change()).resolves.toBeUndefined();
  });

  it('lets nobody at a signed-in browser guess for long', async () => {
    const ada = await person(world, 'ada@example.com');
    const guess = () => world.people.changePassword(ada.id, 'wrong wrong wrong', 'other plain words there');
    for (let count = 0; count < 10; count += 1) expect(await refusal(guess())).toMatchObject(refused('forbidden'));
    const before = world.computed();
    expect(await refusal(guess())).toMatchObject(refused('rate_limited'));
    expect(world.computed()).toBe(before);
    await expect(signIn('ada@example.com')).resolves.toBeDefined();
  });

  it.each([
    ['short', 'short one', 'at least 10'],
    ['long', 'x y'.repeat(90), 'at most 256'],
    ['named like the account', 'grace.hopper was here', 'name in your e-mail'],
    ['common', 'Password2024!', 'first that others try'],
    ['a run of digits', '1234567890', 'first that others try'],
    ['one piece over and over', 'abcabcabcabc', 'first that others try'],
  ])('refuses one that is %s', async (_what, next, words) => {
    const user = await person(world, 'Grace.Hopper@example.com');
    expect(await refusal(world.people.changePassword(user.id, password, next))).toMatchObject(
      refused('invalid_argument', words),
    );
  });

  it.each(['purple moose sings', '8372910465', 'пароль из слов', '🙂🙃🙂😀🦊🐢🦉🐝🐙🦋'])(
    'takes %s, since there are no rules of composition',
    async (next) => {
      const user = await person(world, 'ada@example.com');
      await expect(world.people.changePassword(user.id, password, next)).resolves.toBeUndefined();
    },
  );
});

describe('many tries at once', () => {
  const knocks = (count: number, email: (index: number) => string, address: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => signIn(email(index), 'wrong wrong wrong', address(index)));

  it('at an account from a network known to it keep out nobody else', async () => {
    await person(world, 'ada@example.com');
    await person(world, 'mallory@example.com');
    await signIn('ada@example.com');
    await signIn('mallory@example.com', password, '198.51.100.9');
    const flood = Promise.allSettled(
      knocks(
        200,
        () => 'mallory@example.com',
        () => '198.51.100.9',
      ),
    );
    for (let count = 0; count < 5; count += 1) await expect(signIn('ada@example.com')).resolves.toBeDefined();
    await flood;
  });

  it('from all over one network keep out nobody who is new elsewhere', async () => {
    await person(world, 'ada@example.com');
    const names = (index: number) => `nobody-${index}@example.com`;
    const flood = Promise.allSettled(knocks(200, names, (index) => `2001:db8:0:${index.toString(16)}::1`));
    for (let count = 1; count < 6; count += 1) {
      await expect(signIn('ada@example.com', password, `203.0.${count}.7`)).resolves.toBeDefined();
    }
    await flood;
  });
});

describe('a password that was changed while the one before was being looked at', () => {
  const next = 'set by the link meanwhile';
  const theirs = 'what the other one wanted';

  /** People whose passwords are right, and another by the time that is known. */
  async function overtaken(): Promise<{ readonly ada: User; readonly slow: People }> {
    const ada = await person(world, 'ada@example.com');
    const real = createPasswords({ logN: 10 });
    const slow = world.another({
      ...real,
      async verify(text, hash, place) {
        const verdict = await real.verify(text, hash, place);
        const { token } = await world.people.createPasswordLink(ada.id, admin);
        await world.people.setPasswordByLink(token, next);
        return verdict;
      },
    });
    return { ada, slow };
  }

  it('lets nobody in any more', async () => {
    const { slow } = await overtaken();
    expect(await refusal(slow.signInWithPassword({ email: 'ada@example.com', password, address: home }))).toMatchObject(
      refused('forbidden', 'The e-mail address or the password is wrong.'),
    );
    await expect(signIn('ada@example.com', next)).resolves.toBeDefined();
  });

  it('is not overwritten by who knew the one before', async () => {
    const { ada, slow } = await overtaken();
    expect(await refusal(slow.changePassword(ada.id, password, theirs))).toMatchObject(
      refused('forbidden', 'current password'),
    );
    expect(await refusal(signIn('ada@example.com', theirs))).toMatchObject(refused('forbidden'));
    await expect(signIn('ada@example.com', next)).resolves.toBeDefined();
  });
});

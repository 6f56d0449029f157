import { newId } from '../../../src/contract/core/index.ts';
import type { Runner } from '../runner.ts';
import { inAnHour, type MakeStorage, newGrant, newSession, refusal, sharedStage } from './stage.ts';

const issuer = 'https://login.example/tenant';

/** Accounts as people sign in to them: with a password, or by who they are to an identity provider. */
export function peoplePromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('passwords', () => {
    const stage = sharedStage(runner, make);
    const people = () => stage().storage.directory.people;

    it('are found with their account by its address without case', async () => {
      const user = await stage().person();
      expect(await people().credentials(user.email)).toEqual({ user });
      await people().setPassword(user.id, '$argon2id$first');
      await stage().other.directory.people.setPassword(user.id, '$argon2id$second');
      expect(await people().credentials(` ${user.email.toUpperCase()} `)).toEqual({ user, hash: '$argon2id$second' });
      for (const email of ['%', '', `x${user.email}`]) expect(await people().credentials(email)).toBeUndefined();
    });

    it('end every session of the person when they are set, and no other', async () => {
      const [user, other] = [await stage().person(), await stage().person()];
      const [one, two, foreign] = [newSession(user.id), newSession(user.id), newSession(other.id)];
      const { sessions } = stage().storage.directory;
      for (const session of [one, two, foreign]) await sessions.create(session);
      await stage().other.directory.people.setPassword(user.id, 'next');
      for (const { hash } of [one, two]) expect(await sessions.find(hash)).toBeUndefined();
      expect((await sessions.find(foreign.hash))?.user).toEqual(other);
    });

    it('are replaced where they are still the same, by one of any number of callers', async () => {
      const user = await stage().person();
      await people().setPassword(user.id, 'first');
      const session = newSession(user.id);
      await stage().storage.directory.sessions.create(session);
      expect(await people().replacePassword(user.id, 'another', 'second')).toBe(false);
      expect((await people().credentials(user.email))?.hash).toBe('first');
      expect(await stage().storage.directory.sessions.find(session.hash)).not.toBeUndefined();
      const replaced = await Promise.all(
        ['a', 'b', 'c', 'd'].map((next, index) =>
          (index % 2 === 0 ? stage().storage : stage().other).directory.people.replacePassword(user.id, 'first', next),
        ),
      );
      expect(replaced.filter(Boolean)).toHaveLength(1);
      expect((await people().credentials(user.email))?.hash).toBe(['a', 'b', 'c', 'd'][replaced.indexOf(true)]);
      expect(await stage().storage.directory.sessions.find(session.hash)).toBeUndefined();
      expect(await people().replacePassword(newId('usr'), 'first', 'next')).toBe(false);
    });

    it('are not set for nobody', async () => {
      expect(await refusal(people().setPassword(newId('usr'), 'hash'))).toBe('not_found');
    });

    it('are shown nowhere else', async () => {
      const workspace = await stage().workspace();
      const user = await stage().member(workspace);
      await people().setPassword(user.id, 'H4SH');
      await people().linkIdentity(user.id, issuer, user.id);
      const session = newSession(user.id, { organizationId: workspace.organizationId });
      const { directory } = stage().storage;
      await directory.sessions.create(session);
      await workspace.grants.create(newGrant(user.id));
      const shown = await Promise.all([
        directory.users(),
        directory.findUser(user.id),
        people().identity(issuer, user.id),
        directory.sessions.find(session.hash),
        workspace.members.list(),
        workspace.grants.list(),
      ]);
      expect(JSON.stringify(shown)).toContain(user.email);
      expect(JSON.stringify(shown)).not.toContain('H4SH');
    });
  });

  describe('an account', () => {
    const stage = sharedStage(runner, make);
    const people = () => stage().storage.directory.people;

    it('that is disabled is no live member, holds no live grant and is signed in nowhere, felt by every process', async () => {
      const workspace = await stage().workspace();
      const user = await stage().member(workspace);
      const [grant, session] = [newGrant(user.id), newSession(user.id)];
      const there = stage().other.directory;
      await workspace.grants.create(grant);
      await there.sessions.create(session);
      const live = () =>
        Promise.all([
          there.liveMember(user.id, workspace.organizationId),
          there.liveGrant(grant.id),
          there.sessions.find(session.hash),
        ]);
      for (const one of await live()) expect(one).not.toBeUndefined();

      expect(await people().setEnabled(user.id, false)).toBe(true);
      expect(await live()).toEqual([undefined, undefined, undefined]);
      expect((await people().credentials(user.email))?.user.enabled).toBe(false);

      // What was granted may go on; browsers have to sign in again.
      expect(await people().setEnabled(user.id, true)).toBe(true);
      const [member, granted, signedIn] = await live();
      expect([member?.role, granted?.userId]).toEqual(['member', user.id]);
      expect(signedIn).toBeUndefined();
    });

    it('that is not there is neither enabled nor disabled', async () => {
      expect(await people().setEnabled(newId('usr'), true)).toBe(false);
      expect(await people().setEnabled(newId('usr'), false)).toBe(false);
    });

    it('has its memberships of all organizations, by name', async () => {
      const { directory } = stage().storage;
      const user = await stage().person();
      const stranger = await stage().person();
      const [beta, alpha] = [
        await directory.createOrganization({ name: `beta ${user.id}` }),
        await directory.createOrganization({ name: `Alpha ${user.id}` }),
      ];
      await stage().storage.workspace(beta.id).members.add(user.id, 'admin');
      await stage().other.workspace(alpha.id).members.add(user.id, 'member');
      await stage().storage.workspace(alpha.id).members.add(stranger.id, 'admin');
      expect(await people().memberships(user.id)).toEqual([
        { organization: alpha, role: 'member' },
        { organization: beta, role: 'admin' },
      ]);
      expect(await people().memberships(newId('usr'))).toEqual([]);
    });
  });

  describe('identities', () => {
    const stage = sharedStage(runner, make);
    const people = () => stage().storage.directory.people;
    const address = () => `${newId('usr')}@example.org`;

    it('make an account that has no password and is found by exactly its issuer and subject', async () => {
      const subject = `Sub|${'é'.repeat(900)}${newId('usr')}`;
      const input = { email: address(), name: 'Zoë 日本', issuer, subject };
      const user = await people().createWithIdentity(input);
      expect(user).toMatchObject({ email: input.email, name: input.name, enabled: true });
      expect(await stage().other.directory.people.identity(issuer, subject)).toEqual(user);
      expect(await people().credentials(user.email)).toEqual({ user });
      for (const [otherIssuer, otherSubject] of [
        [`${issuer}/`, subject],
        [issuer.toUpperCase(), subject],
        [issuer, subject.toLowerCase()],
        [issuer, `${subject} `],
        [issuer + subject.slice(0, 1), subject.slice(1)],
        [subject, issuer],
        [issuer, '%'],
      ] as const) {
        expect(await people().identity(otherIssuer, otherSubject)).toBeUndefined();
      }
    });

    it('may be several of one account', async () => {
      const user = await stage().person();
      expect(await people().hasIdentity(user.id)).toBe(false);
      await people().linkIdentity(user.id, issuer, `${user.id}-1`);
      await people().linkIdentity(user.id, 'https://other.example', `${user.id}-1`);
      expect(await people().hasIdentity(user.id)).toBe(true);
      expect(await people().identity(issuer, `${user.id}-1`)).toEqual(user);
      expect(await people().identity('https://other.example', `${user.id}-1`)).toEqual(user);
      expect(await people().hasIdentity(newId('usr'))).toBe(false);
    });

    it('are refused where address or identity is taken, and leave nothing behind', async () => {
      const subject = newId('usr');
      const first = await people().createWithIdentity({ email: address(), name: 'First', issuer, subject });
      const free = newId('usr');
      const sameAddress = { email: first.email.toUpperCase(), name: 'Second', issuer, subject: free };
      expect(await refusal(people().createWithIdentity(sameAddress))).toBe('conflict');
      expect(await people().identity(issuer, free)).toBeUndefined();
      const unused = address();
      const sameIdentity = { email: unused, name: 'Third', issuer, subject };
      expect(await refusal(people().createWithIdentity(sameIdentity))).toBe('conflict');
      expect(await people().credentials(unused)).toBeUndefined();
      const other = await stage().person();
      expect(await refusal(people().linkIdentity(other.id, issuer, subject))).toBe('conflict');
      expect(await people().hasIdentity(other.id)).toBe(false);
      expect(await people().identity(issuer, subject)).toEqual(first);
    });

    it('are of one account when several processes make or link them at once', async () => {
      const subject = newId('usr');
      const both = [stage().storage, stage().other].map(({ directory }) => directory.people);
      const made = await Promise.allSettled(
        [...both, ...both].map((each) => each.createWithIdentity({ email: address(), name: 'Ada', issuer, subject })),
      );
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const linked = newId('usr');
      const accounts = [await stage().person(), await stage().person()];
      const links = await Promise.allSettled(
        both.flatMap((each) => accounts.map(({ id }) => each.linkIdentity(id, issuer, linked))),
      );
      expect(links.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of [...made, ...links]) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
      }
      const owners = await Promise.all(accounts.map(({ id }) => people().hasIdentity(id)));
      expect(owners.filter(Boolean)).toHaveLength(1);
    });

    it('are one alone where the first was asked for, however many are linked at once', async () => {
      const [here, there] = [stage().storage.directory.people, stage().other.directory.people];
      const user = await stage().person();
      const subjects = Array.from({ length: 4 }, () => newId('usr'));
      const links = await Promise.allSettled(
        subjects.map((subject, index) =>
          (index % 2 === 0 ? here : there).linkIdentity(user.id, issuer, subject, 'first'),
        ),
      );
      expect(links.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of links) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
      }
      const owners = await Promise.all(subjects.map((subject) => people().identity(issuer, subject)));
      expect(owners.filter((owner) => owner !== undefined)).toEqual([user]);
      expect(await refusal(people().linkIdentity(newId('usr'), issuer, newId('usr'), 'first'))).toBe('not_found');
    });

    it('are the only one where that was asked for, of an account that no organization has', async () => {
      const [user, before, after] = [await stage().person(), newId('usr'), newId('usr')];
      const workspace = await stage().workspace();
      const { sessions, deletedOrganizations } = stage().storage.directory;
      await people().linkIdentity(user.id, issuer, before);
      const session = newSession(user.id);
      await sessions.create(session);
      await workspace.members.add(user.id, 'member');
      const link = () => people().linkIdentity(user.id, issuer, after, 'only');
      expect(await refusal(link())).toBe('conflict');
      await deletedOrganizations.add(workspace.organizationId, inAnHour());
      expect(await refusal(link())).toBe('conflict');
      expect(await people().identity(issuer, before)).toEqual(user);
      expect(await sessions.find(session.hash)).not.toBeUndefined();
      await deletedOrganizations.restore(workspace.organizationId);
      await workspace.members.remove(user.id);
      await link();
      expect(await people().identity(issuer, before)).toBeUndefined();
      expect(await people().identity(issuer, after)).toEqual(user);
      expect(await sessions.find(session.hash)).toBeUndefined();
    });

    it('are of somebody, and written like something', async () => {
      const user = await stage().person();
      expect(await refusal(people().linkIdentity(newId('usr'), issuer, newId('usr')))).toBe('not_found');
      for (const [wrongIssuer, subject] of [
        ['', 'x'],
        [issuer, ' '],
        [issuer, 'a\u0000b'],
        [issuer, 'x'.repeat(2_001)],
      ] as const) {
        expect(await refusal(people().linkIdentity(user.id, wrongIssuer, subject))).toBe('invalid_argument');
      }
      expect(await people().hasIdentity(user.id)).toBe(false);
    });
  });
}

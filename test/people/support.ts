import { expect } from '@jest/globals';
import { createPeople } from '../../src/identity/people/create-people.ts';
import { createPasswords, type Passwords } from '../../src/identity/people/passwords.ts';
import type { People } from '../../src/identity/people/people.ts';
import type { ExternalIdentity, Role } from '../../src/contract/issuer/index.ts';
import type { Actor, AuditRecord, Organization, User } from '../../src/contract/storage/index.ts';
import { openStore, operator, recordingLogger, testClock, type Clock, type TestStore } from '../issuer/support.ts';

/** Real hashes at a cost that a suite can pay. */
const logN = 10;

export const password = 'four plain words here';
export const home = '203.0.113.7';
export const admin: Actor = operator;

/** Everything there is of people on a store of its own, with a clock to turn and the log to read. */
export interface World {
  readonly people: People;
  readonly store: TestStore;
  readonly organization: Organization;
  readonly clock: Clock;
  readonly lines: readonly string[];
  /** Passwords computed so far, right or wrong. */
  readonly computed: () => number;
  /** As a restart, or another instance on the same store. */
  another(passwords?: Passwords): People;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const clock = testClock();
  const store = await openStore(clock);
  const { logger, lines } = recordingLogger();
  let computed = 0;
  const real = createPasswords({ logN });
  const counting: Passwords = {
    hash: (text, party) => real.hash(text, party),
    verify(text, hash, place) {
      computed += 1;
      return real.verify(text, hash, place);
    },
  };
  const another = (passwords: Passwords = counting): People =>
    createPeople({ storage: store.storage, logger, now: clock.now, passwords });
  return {
    people: another(),
    store,
    organization: store.organization,
    clock,
    lines,
    computed: () => computed,
    another,
    close: () => store.close(),
  };
}

/** An account with a membership and, unless there is none, a password. */
export async function person(
  world: World,
  email: string,
  options: { readonly role?: Role; readonly organization?: Organization; readonly password?: string | null } = {},
): Promise<User> {
  const { role = 'member', organization = world.organization } = options;
  const user = await world.store.storage.directory.createUser({ email, name: email });
  await world.people.addMember(organization.id, user.id, role, admin);
  if (options.password !== null) {
    const { token } = await world.people.createPasswordLink(user.id, operator);
    await world.people.setPasswordByLink(token, options.password ?? password);
  }
  return user;
}

export function identity(overrides: Partial<ExternalIdentity> = {}): ExternalIdentity {
  return {
    issuer: 'https://idp.example',
    subject: 'subject-1',
    email: 'ada@example.com',
    name: 'Ada',
    memberships: [],
    ...overrides,
  };
}

/** Events of the audit log, oldest first, without those of the fixtures. */
export async function audited(world: World, organization = world.organization): Promise<readonly AuditRecord[]> {
  const records = await world.store.storage.workspace(organization.id).audit.list({ limit: 1_000 });
  return records.toReversed();
}

/** What a promise was rejected with; throws when it was not. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

export const refused = (code: string, words = '') => ({ code, message: expect.stringContaining(words) });

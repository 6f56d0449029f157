import { SightlineError } from '../../../src/contract/core/index.ts';
import type { UserId } from '../../../src/contract/core/index.ts';
import { sha256 } from '../columns.ts';
import { shortText } from '../limits.ts';
import type { IdentityRow, UserRow } from '../rows.ts';
import type { Statements } from '../statements.ts';

export function findIdentity(knex: Statements, issuer: string, subject: string): Promise<UserRow | undefined> {
  return knex<UserRow>('users')
    .join('identities', 'identities.user_id', 'users.id')
    .where('identities.hash', identityHash(issuer, subject))
    .first('users.*');
}

/** One of an account's, if it has any. */
export function findIdentityOf(knex: Statements, userId: UserId): Promise<Pick<IdentityRow, 'hash'> | undefined> {
  return knex<IdentityRow>('identities').where({ user_id: userId }).first('hash');
}

export async function insertIdentity(
  knex: Statements,
  userId: UserId,
  issuer: string,
  subject: string,
  now: Date,
): Promise<void> {
  await knex<IdentityRow>('identities').insert({
    hash: identityHash(issuer, subject),
    issuer: shortText('The issuer', issuer, 2_000),
    subject: shortText('The subject', subject, 2_000),
    user_id: userId,
    created_at: now.getTime(),
  });
}

export function identityTaken(): SightlineError {
  return new SightlineError('conflict', 'The e-mail address or the identity belongs to an account already.');
}

/** Of both exactly as they were given: case matters in either. */
function identityHash(issuer: string, subject: string): string {
  return sha256(JSON.stringify([issuer, subject]));
}

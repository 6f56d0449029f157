import type { SigningKeyRecord } from '../../../src/contract/storage/index.ts';
import { date, signingStateColumn } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

export class SigningKeys extends DirectoryRepository {
  list(): Promise<readonly SigningKeyRecord[]> {
    return this.all(ordered, toRecord);
  }

  replace(expected: readonly string[], keys: readonly SigningKeyRecord[]): Promise<boolean> {
    return this.database.write(async (knex) => {
      // Two instances at their first start both see no keys; this row is what one of them waits for.
      await knex('locks').where({ name: 'signing_keys' }).increment('taken', 1);
      const present = (await ordered(knex)).map(({ kid }) => kid);
      if (present.length !== expected.length || present.some((kid, index) => kid !== expected[index])) return false;
      await knex('signing_keys').delete();
      if (keys.length > 0) await knex('signing_keys').insert(keys.map(toRow));
      return true;
    });
  }
}

function ordered(knex: Statements) {
  return knex('signing_keys').orderBy('position');
}

function toRow(key: SigningKeyRecord, position: number): RowIn<'signing_keys'> {
  return {
    kid: key.kid,
    position,
    algorithm: key.algorithm,
    state: key.state,
    public_jwk: key.publicJwk,
    sealed_private_jwk: key.sealedPrivateJwk,
    created_at: key.createdAt.getTime(),
    state_since: key.stateSince.getTime(),
  };
}

function toRecord(row: RowIn<'signing_keys'>): SigningKeyRecord {
  if (row.algorithm !== 'ES256') throw new TypeError(`signing key ${row.kid} has an unknown algorithm`);
  return {
    kid: row.kid,
    algorithm: row.algorithm,
    state: signingStateColumn.parse(row.state),
    publicJwk: row.public_jwk,
    sealedPrivateJwk: row.sealed_private_jwk,
    createdAt: date(row.created_at),
    stateSince: date(row.state_since),
  };
}

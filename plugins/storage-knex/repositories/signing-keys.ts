import type { SigningKeyRecord, GatewayRepository, RunningGateway } from '../../../src/contract/storage/index.ts';
import { date, signingStateColumn, optional, shortText } from '../columns.ts';
import type { LockRow, SigningKeyRow, GatewayRow } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

export class Gateways extends DirectoryRepository implements GatewayRepository {
  async announce({ id, host, telemetryIn, seenAt }: RunningGateway): Promise<void> {
    const row: GatewayRow = {
      id: shortText('The id of a gateway', id, 40),
      host: shortText('The host of a gateway', host, 200),
      telemetry_in: telemetryIn === undefined ? null : shortText('The name of a data directory', telemetryIn, 40),
      seen_at: seenAt.getTime(),
    };
    await this.database.write((knex) => knex<GatewayRow>('gateways').insert(row).onConflict('id').merge());
  }

  list(since: Date): Promise<readonly RunningGateway[]> {
    return this.all(
      (knex) => knex<GatewayRow>('gateways').where('seen_at', '>=', since.getTime()).orderBy('id'),
      toGateway,
    );
  }

  async remove(id: string): Promise<void> {
    await this.database.write((knex) => knex<GatewayRow>('gateways').where({ id }).delete());
  }

  async removeUnseen(before: Date): Promise<void> {
    await this.database.write((knex) => knex<GatewayRow>('gateways').where('seen_at', '<', before.getTime()).delete());
  }
}

function toGateway({ id, host, telemetry_in, seen_at }: GatewayRow): RunningGateway {
  return { id, host, ...optional('telemetryIn', telemetry_in, String), seenAt: date(seen_at) };
}

export class SigningKeys extends DirectoryRepository {
  list(): Promise<readonly SigningKeyRecord[]> {
    return this.database.read(async (knex) => (await ordered(knex)).map(toRecord));
  }

  replace(expected: readonly string[], keys: readonly SigningKeyRecord[]): Promise<boolean> {
    return this.database.write(async (knex) => {
      // Two instances at their first start both see no keys; this row is what one of them waits for.
      await knex<LockRow>('locks').where({ name: 'signing_keys' }).increment('taken', 1);
      const present = (await ordered(knex)).map(({ kid }) => kid);
      if (present.length !== expected.length || present.some((kid, index) => kid !== expected[index])) return false;
      await knex<SigningKeyRow>('signing_keys').delete();
      if (keys.length > 0) await knex<SigningKeyRow>('signing_keys').insert(keys.map(toRow));
      return true;
    });
  }
}

function ordered(knex: Statements) {
  return knex<SigningKeyRow>('signing_keys').orderBy('position');
}

function toRow(key: SigningKeyRecord, position: number): SigningKeyRow {
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

function toRecord(row: SigningKeyRow): SigningKeyRecord {
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

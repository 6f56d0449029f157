import {
  type IngestTokenId,
  type KeyId,
  type SecretId,
  SightlineError,
  toId,
} from '../../../src/contract/core/index.ts';
import type {
  ApiKey,
  IngestToken,
  IngestTokenRepository,
  KeyRepository,
  NewIngestToken,
  NewKey,
  NewSecret,
} from '../../../src/contract/storage/index.ts';
import { date, optional, shortText } from '../columns.ts';
import { scopesJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import type { DbInteger } from '../tables.ts';
import { OrganizationRepository } from './repository.ts';

const maximumSecrets = 2;

export class Keys extends OrganizationRepository implements KeyRepository {
  create(input: NewKey): Promise<ApiKey> {
    const taken = new SightlineError('conflict', 'A key or secret with this id exists already.');
    return this.database.write(
      async (scope) => {
        await scope.refuseErased(input.createdBy);
        await scope.insert('api_keys', {
          id: input.id,
          name: shortText("The key's name", input.name, 200),
          scopes: scopesJson.write(input.scopes),
          created_by: input.createdBy,
          created_at: this.now().getTime(),
          last_used_at: null,
          paused_at: null,
        });
        await this.#insertSecret(scope, input.id, input.secret, 1);
        return this.#require(scope, input.id);
      },
      { duplicate: taken },
    );
  }

  list(): Promise<readonly ApiKey[]> {
    return this.database.read((scope) => read(scope));
  }

  get(id: KeyId): Promise<ApiKey | undefined> {
    return this.database.read(async (scope) => (await read(scope, id)).at(0));
  }

  addSecret(id: KeyId, secret: NewSecret): Promise<ApiKey> {
    const taken = new SightlineError('conflict', 'A secret with this id exists already.');
    return this.database.write(
      async (scope) => {
        const secrets = await lockSecrets(scope, id);
        if (secrets.length >= maximumSecrets) {
          throw new SightlineError('conflict', 'The key has two active secrets already.', {
            hint: 'Retire the older one first.',
          });
        }
        await this.#insertSecret(scope, id, secret, (secrets.at(-1)?.position ?? 0) + 1);
        return this.#require(scope, id);
      },
      { duplicate: taken },
    );
  }

  removeSecret(id: KeyId, which: 'older' | 'newer'): Promise<ApiKey> {
    return this.database.write(async (scope) => {
      const secrets = await lockSecrets(scope, id);
      const removed = secrets.at(which === 'older' ? 0 : -1);
      if (removed === undefined || secrets.length < 2) {
        throw new SightlineError('conflict', 'The key has one active secret; removing it would leave none.', {
          hint: 'Rotate the key first, or revoke it.',
        });
      }
      await scope.from('api_key_secrets').where({ id: removed.id }).delete();
      return this.#require(scope, id);
    });
  }

  setPaused(id: KeyId, paused: boolean): Promise<ApiKey> {
    return this.database.write(async (scope) => {
      const changed = scope.from('api_keys').where({ id });
      await (paused
        ? changed.whereNull('paused_at').update({ paused_at: this.now().getTime() })
        : changed.update({ paused_at: null }));
      return this.#require(scope, id);
    });
  }

  revoke(id: KeyId): Promise<boolean> {
    return this.some(async (scope) => {
      await scope.from('api_key_secrets').where({ key_id: id }).delete();
      return scope.from('api_keys').where({ id }).delete();
    });
  }

  async markUsed(id: KeyId, secret: SecretId, at: Date): Promise<void> {
    this.parts.marks.mark(this.database.organizationId, 'api_keys', id, at);
    this.parts.marks.mark(this.database.organizationId, 'api_key_secrets', secret, at);
  }

  async #insertSecret(scope: Scope, keyId: KeyId, { id, hash, lastFour }: NewSecret, position: number): Promise<void> {
    await scope.insert('api_key_secrets', {
      id,
      key_id: keyId,
      position,
      hash,
      last_four: lastFour,
      last_used_at: null,
      created_at: this.now().getTime(),
    });
  }

  async #require(scope: Scope, id: KeyId): Promise<ApiKey> {
    const [key] = await read(scope, id);
    if (key === undefined) throw notFound();
    return key;
  }
}

function notFound(): SightlineError {
  return new SightlineError('not_found', 'There is no such key.');
}

/** The key's secrets, oldest first, with the key's row locked so that two rotations cannot pass each other. */
async function lockSecrets(scope: Scope, id: KeyId) {
  const found = await scope.from('api_keys').where({ id }).update({ id });
  if (found === 0) throw notFound();
  return scope.from('api_key_secrets').where({ key_id: id }).orderBy('position').select('id', 'position');
}

interface KeyWithSecret extends RowIn<'api_keys'> {
  secret_id: string;
  secret_created_at: DbInteger;
  secret_used_at: DbInteger | null;
  last_four: string | null;
}

/** Keys with their secrets in one statement, so that a rotation in between cannot show a half. */
async function read(scope: Scope, id?: KeyId): Promise<readonly ApiKey[]> {
  const query = scope.from('api_keys').join('api_key_secrets', 'api_key_secrets.key_id', 'api_keys.id');
  if (id !== undefined) query.where('api_keys.id', id);
  const rows: readonly KeyWithSecret[] = await query
    .orderBy(['api_keys.created_at', 'api_keys.id', 'api_key_secrets.position'])
    .select('api_keys.*', 'api_key_secrets.last_four', {
      secret_id: 'api_key_secrets.id',
      secret_created_at: 'api_key_secrets.created_at',
      secret_used_at: 'api_key_secrets.last_used_at',
    });
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap((group) => {
    const [row] = group;
    return row === undefined ? [] : [toKey(row, group)];
  });
}

function toKey(row: RowIn<'api_keys'>, secrets: readonly KeyWithSecret[]): ApiKey {
  return {
    id: toId('ak', row.id),
    organizationId: toId('org', row.organization_id),
    name: row.name,
    scopes: scopesJson.read(row.scopes),
    createdAt: date(row.created_at),
    createdBy: row.created_by,
    ...optional('lastUsedAt', row.last_used_at, date),
    ...optional('pausedAt', row.paused_at, date),
    secrets: secrets.map((secret) => ({
      id: toId('sec', secret.secret_id),
      createdAt: date(secret.secret_created_at),
      ...optional('lastFour', secret.last_four, String),
      ...optional('lastUsedAt', secret.secret_used_at, date),
    })),
  };
}

export class IngestTokens extends OrganizationRepository implements IngestTokenRepository {
  create({ id, hash, sealed, createdBy }: NewIngestToken): Promise<void> {
    return this.database.write(
      async (scope) => {
        await scope.refuseErased(createdBy);
        const position = await scope.next('ingest_token');
        await scope.insert('ingest_tokens', {
          id,
          hash,
          sealed,
          position,
          created_by: createdBy,
          created_at: this.now().getTime(),
          last_used_at: null,
        });
      },
      { duplicate: new SightlineError('conflict', 'An ingest token with this id or hash exists already.') },
    );
  }

  current(): Promise<IngestToken | undefined> {
    return this.one((scope) => scope.from('ingest_tokens').orderBy('position', 'desc').first(), toIngestToken);
  }

  list(): Promise<readonly IngestToken[]> {
    return this.all((scope) => scope.from('ingest_tokens').orderBy('position', 'desc'), toIngestToken);
  }

  revoke(id: IngestTokenId): Promise<boolean> {
    return this.some((scope) => scope.from('ingest_tokens').where({ id }).delete());
  }
}

function toIngestToken(row: RowIn<'ingest_tokens'>): IngestToken {
  return {
    id: toId('it', row.id),
    hash: row.hash,
    sealed: row.sealed,
    createdAt: date(row.created_at),
    ...optional('createdBy', row.created_by, String),
    ...optional('lastUsedAt', row.last_used_at, date),
  };
}

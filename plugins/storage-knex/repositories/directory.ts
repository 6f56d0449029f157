import {
  foldCase,
  type GrantId,
  isId,
  newId,
  type OrganizationId,
  SightlineError,
  toId,
} from '../../../src/contract/core/index.ts';
import type { Scope } from '../../../src/contract/issuer/index.ts';
import type {
  ApiKeyWithHashes,
  Directory,
  LiveGrant,
  LiveKey,
  LiveMember,
  Organization,
  User,
} from '../../../src/contract/storage/index.ts';
import { comparable, date, roleColumn, shortText } from '../columns.ts';
import type { Database } from '../database.ts';
import { scopesJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { UsageMarks } from '../usage-marks.ts';
import { AdminKeys } from './admin-keys.ts';
import { liveAlertSource } from './alerts/alert-sources.ts';
import { Artifacts, Clients, SigningKeys } from './authorization.ts';
import { DeletedOrganizations } from './deleted-organizations.ts';
import { Buckets, Gateways } from './replicas.ts';
import { InvestigationLeases } from './investigations.ts';
import { removeExpiredResults } from './kept-results.ts';
import { liveOrganizations, newUserRow, ofLiveOrganization, toOrganization, toUser } from './users.ts';
import { People, Sessions } from './people.ts';
import { DirectoryRepository, type DirectoryParts } from './repository.ts';
import { Provisioning } from './scim/provisioning.ts';
import { WebhookLeases } from './webhooks.ts';

/** What is asked before an organization is known, and what belongs to none. */
export class KnexDirectory extends DirectoryRepository implements Directory {
  readonly artifacts = new Artifacts(this.parts);
  readonly people = new People(this.parts);
  readonly deletedOrganizations = new DeletedOrganizations(this.parts);
  readonly provisioning = new Provisioning(this.parts);
  readonly sessions = new Sessions(this.parts);
  readonly clients = new Clients(this.parts);
  readonly gateways = new Gateways(this.parts);
  readonly buckets = new Buckets(this.parts);
  readonly adminKeys = new AdminKeys(this.parts);
  readonly #signingKeys = new SigningKeys(this.parts);
  readonly #leases = new InvestigationLeases(this.parts);
  readonly #webhookLeases = new WebhookLeases(this.parts);
  readonly #live = new LiveAccess(this.database);
  readonly #marks: UsageMarks;

  readonly liveKey: Directory['liveKey'] = this.#live.key;
  readonly liveGrant: Directory['liveGrant'] = this.#live.grant;
  readonly liveMember: Directory['liveMember'] = this.#live.member;
  readonly alertSource: Directory['alertSource'] = liveAlertSource(this.database);
  readonly signingKeys: Directory['signingKeys'] = () => this.#signingKeys.list();
  readonly replaceSigningKeys: Directory['replaceSigningKeys'] = (expected, keys) =>
    this.#signingKeys.replace(expected, keys);
  readonly claimInvestigation: Directory['claimInvestigation'] = (lease) => this.#leases.claim(lease);
  readonly renewInvestigation: Directory['renewInvestigation'] = (id, lease) => this.#leases.renew(id, lease);
  readonly claimWebhookMessage: Directory['claimWebhookMessage'] = (lease) => this.#webhookLeases.claim(lease);
  readonly settleWebhookMessage: Directory['settleWebhookMessage'] = (message, lease, outcome) =>
    this.#webhookLeases.settle(message, lease, outcome);
  readonly removeExpiredResults: Directory['removeExpiredResults'] = (before) =>
    removeExpiredResults(this.database, before);

  constructor(parts: DirectoryParts, marks: UsageMarks) {
    super(parts);
    this.#marks = marks;
  }

  async createOrganization(input: { readonly name: string }): Promise<Organization> {
    const name = shortText("The organization's name", input.name.trim(), 200);
    if (isId('org', name)) {
      throw new SightlineError('invalid_argument', 'An organization cannot be named like an organization id.');
    }
    const createdAt = this.now();
    const id = newId('org', createdAt.getTime());
    const row = {
      id,
      name,
      name_key: comparable("The organization's name", name, 400),
      created_at: createdAt.getTime(),
      deleted_at: null,
      purge_at: null,
    };
    await this.database.write((knex) => knex('organizations').insert(row), {
      duplicate: new SightlineError('conflict', `There is an organization named ${name} already.`, {
        hint: 'One that was deleted has its name until it cannot be restored any more.',
      }),
    });
    return { id, name, createdAt };
  }

  organizations(): Promise<readonly Organization[]> {
    return this.all(
      (knex) => knex('organizations').whereNull('deleted_at').orderBy(['created_at', 'id']),
      toOrganization,
    );
  }

  findOrganization(idOrName: string): Promise<Organization | undefined> {
    const match = isId('org', idOrName) ? { id: idOrName } : { name_key: foldCase(idOrName.trim()) };
    return this.one((knex) => knex('organizations').where(match).whereNull('deleted_at').first(), toOrganization);
  }

  async createUser(input: { readonly email: string; readonly name: string }): Promise<User> {
    const row = newUserRow(input, this.now());
    await this.database.write((knex) => knex('users').insert(row), {
      duplicate: new SightlineError('conflict', `There is a user with the e-mail address ${row.email} already.`),
    });
    return toUser(row);
  }

  users(): Promise<readonly User[]> {
    return this.all((knex) => knex('users').orderBy(['created_at', 'id']), toUser);
  }

  findUser(idOrEmail: string): Promise<User | undefined> {
    const match = isId('usr', idOrEmail) ? { id: idOrEmail } : { email_key: foldCase(idOrEmail.trim()) };
    return this.one((knex) => knex('users').where(match).first(), toUser);
  }

  revokeGrant(id: GrantId): Promise<void> {
    return this.database.write(async (knex) => {
      // Not a change, but the lock that two who end one grant take in turn, before what hangs on it.
      await knex('grants').where({ id }).update({ id });
      await knex('artifacts').where({ grant_id: id }).delete();
      await knex('grants').where({ id }).delete();
    });
  }

  keyForExchange(keyId: string): Promise<ApiKeyWithHashes | undefined> {
    return this.database.read(async (knex) => {
      const rows: readonly (RowIn<'api_keys'> & { secret_id: string; hash: string })[] = await knex('api_keys')
        .join<RowIn<'api_key_secrets'>>('api_key_secrets', 'api_key_secrets.key_id', 'api_keys.id')
        .where('api_keys.id', keyId)
        .whereIn('api_keys.organization_id', liveOrganizations(knex))
        .orderBy('api_key_secrets.position')
        .select('api_keys.*', 'api_key_secrets.hash', { secret_id: 'api_key_secrets.id' });
      const [row] = rows;
      if (row === undefined) return undefined;
      return {
        id: toId('ak', row.id),
        organizationId: toId('org', row.organization_id),
        scopes: scopesJson.read(row.scopes),
        paused: row.paused_at !== null,
        secrets: rows.map(({ secret_id, hash }) => ({ id: toId('sec', secret_id), hash })),
      };
    });
  }

  async ingestTokenByHash(hash: string): ReturnType<Directory['ingestTokenByHash']> {
    const row = await this.#tokenByHash('ingest_tokens', hash);
    if (row === undefined) return undefined;
    const found = { id: toId('it', row.id), organizationId: toId('org', row.organization_id) };
    this.#marks.mark(found.organizationId, 'ingest_tokens', found.id, this.now());
    return found;
  }

  async scimTokenByHash(hash: string): ReturnType<Directory['scimTokenByHash']> {
    const row = await this.#tokenByHash('scim_tokens', hash);
    return row && { id: toId('sct', row.id), organizationId: toId('org', row.organization_id) };
  }

  #tokenByHash(table: 'ingest_tokens' | 'scim_tokens', hash: string) {
    return this.database.read((knex) =>
      knex(table).where({ hash }).whereIn('organization_id', liveOrganizations(knex)).first('id', 'organization_id'),
    );
  }

  takeTurn(name: string, now: Date, everyMs: number): Promise<boolean> {
    const time = now.getTime();
    return this.some(async (knex) => {
      await knex('locks').insert({ name, taken: 0 }).onConflict('name').ignore();
      return (
        knex('locks')
          .where({ name })
          // A time to come is of a clock that was wrong.
          .where((due) => void due.where('taken', '<=', time - everyMs).orWhere('taken', '>', time + everyMs))
          .update({ taken: time })
      );
    });
  }

  lastTurn(name: string): Promise<Date | undefined> {
    return this.one(
      (knex) => knex('locks').where({ name }).where('taken', '>', 0).first(),
      ({ taken }) => date(taken),
    );
  }
}

/** Asked on every request: what a token stands for now. Prepared once. */
class LiveAccess {
  readonly key: (keyId: string, secretId: string) => Promise<LiveKey | undefined>;
  readonly grant: (id: GrantId) => Promise<LiveGrant | undefined>;
  readonly member: (userId: string, organizationId: OrganizationId) => Promise<LiveMember | undefined>;
  readonly #scopes = new Map<string, readonly Scope[]>();

  constructor(database: Database) {
    this.key = database.lookup(
      'select k.organization_id, k.name, k.scopes from api_key_secrets s join api_keys k on k.id = s.key_id' +
        ` where s.key_id = ? and s.id = ? and k.paused_at is null and ${ofLiveOrganization('k')}`,
      (row) => ({
        organizationId: toId('org', row['organization_id']),
        name: String(row['name']),
        scopes: this.#parseScopes(String(row['scopes'])),
      }),
    );
    this.grant = database.lookup(
      'select g.user_id, g.organization_id, g.scopes, u.email, m.role from grants g join users u on u.id = g.user_id' +
        ' join members m on m.organization_id = g.organization_id and m.user_id = g.user_id' +
        ` where g.id = ? and u.enabled and ${ofLiveOrganization('g')}`,
      (row) => ({
        userId: toId('usr', row['user_id']),
        organizationId: toId('org', row['organization_id']),
        email: String(row['email']),
        role: roleColumn.parse(row['role']),
        scopes: this.#parseScopes(String(row['scopes'])),
      }),
    );
    this.member = database.lookup(
      'select u.email, m.role from members m join users u on u.id = m.user_id' +
        ` where m.user_id = ? and m.organization_id = ? and u.enabled and ${ofLiveOrganization('m')}`,
      (row) => ({ email: String(row['email']), role: roleColumn.parse(row['role']) }),
    );
  }

  /** There are few different lists, and parsing one costs several times the look-up. */
  #parseScopes(text: string): readonly Scope[] {
    let scopes = this.#scopes.get(text);
    if (scopes === undefined) {
      scopes = Object.freeze(scopesJson.read(text).slice());
      if (this.#scopes.size < 1_000) this.#scopes.set(text, scopes);
    }
    return scopes;
  }
}

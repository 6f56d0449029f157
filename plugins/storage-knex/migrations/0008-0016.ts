import { alter, create, type Migration } from './columns.ts';

/** People who sign in, several gateways, webhooks, alerts, and the chain of the audit. */
export const second: Readonly<Record<string, Migration>> = {
  async '0008-people'(knex) {
    await alter(knex, 'users', (columns) => {
      columns.long('password_hash?');
    });
    await alter(knex, 'members', (_, table) => {
      table.string('source', 20).notNullable().defaultTo('given');
      table.index(['user_id']);
    });
    await create(knex, 'identities', (columns, table) => {
      // SHA-256 of issuer and subject, which together may be longer than an index takes.
      columns.key('hash', 64);
      columns.long('issuer subject');
      columns.refer('user_id', 'users');
      columns.time('created_at');
      table.index(['user_id']);
    });
    await create(knex, 'sessions', (columns, table) => {
      columns.key('hash', 64);
      columns.refer('user_id', 'users');
      columns.refer('organization_id?', 'organizations');
      columns.time('created_at expires_at');
      table.index(['user_id']);
      table.index(['expires_at']);
    });
    await create(knex, 'invitations', (columns, table) => {
      columns.owned();
      columns.short(320, 'email');
      columns.short(640, 'email_key');
      columns.short(20, 'role');
      table.string('hash', 64).notNullable().unique();
      columns.long('created_by');
      columns.time('created_at expires_at');
      table.unique(['organization_id', 'email_key']);
    });
    await create(knex, 'grants', (columns, table) => {
      columns.owned();
      columns.id('user_id');
      columns.long('client_id client_name redirect_origin scopes');
      columns.time('created_at last_used_at?');
      // Nothing can be granted in an organization one is not, or no longer, a member of.
      table.foreign(['organization_id', 'user_id']).references(['organization_id', 'user_id']).inTable('members');
      table.index(['organization_id', 'user_id']);
    });
    await create(knex, 'oauth_clients', (columns, table) => {
      columns.key('id', 255);
      columns.long('metadata');
      columns.time('created_at');
      // When it was first used.
      columns.time('used_at?');
      table.index(['used_at', 'created_at']);
    });
    await knex('locks').insert({ name: 'oauth_clients', taken: 0 });
  },

  async '0009-replicas'(knex) {
    await create(knex, 'gateways', (columns) => {
      columns.key();
      columns.short(200, 'host');
      columns.id('telemetry_in?');
      columns.time('seen_at');
    });
    await create(knex, 'buckets', (columns, table) => {
      columns.key('name', 200);
      columns.time('empty_at');
      table.index(['empty_at']);
    });
  },

  async '0010-kept-results'(knex) {
    await create(knex, 'kept_results', (columns, table) => {
      columns.organization();
      columns.id('id');
      columns.short(64, 'holder');
      columns.long('sealed');
      columns.small('bytes');
      columns.time('expires_at');
      table.primary(['organization_id', 'id']);
      table.index(['expires_at']);
    });
  },

  async '0011-webhooks'(knex) {
    await create(knex, 'webhooks', (columns, table) => {
      columns.owned();
      columns.long('url events sealed_secret');
      columns.time('created_at delivered_at? failed_at?');
      columns.long('failure?');
      table.index(['organization_id', 'created_at']);
    });
    await create(knex, 'webhook_messages', (columns, table) => {
      columns.owned();
      columns.partOf('webhooks', 'webhook_id');
      columns.short(40, 'event');
      columns.short(60, 'subject');
      columns.long('data');
      columns.time('created_at');
      columns.small('attempts');
      columns.time('next_at');
      columns.short(255, 'lease_holder?');
      columns.time('lease_until?');
      table.index(['next_at']);
      table.index(['webhook_id', 'lease_until']);
    });
  },

  async '0012-incident-life'(knex) {
    await alter(knex, 'incidents', (columns) => {
      columns.short(20, 'resolution?');
      // The number of the incident that a duplicate repeats.
      columns.big('duplicate_of?');
    });
    await alter(knex, 'investigations', (columns) => {
      columns.long('question? doing?');
    });
  },

  async '0013-alerts'(knex) {
    await create(knex, 'alert_sources', (columns, table) => {
      columns.owned();
      columns.short(100, 'name');
      columns.short(200, 'name_key');
      columns.short(100, 'plugin');
      columns.long('sealed');
      columns.time('created_at');
      columns.long('created_by');
      table.unique(['organization_id', 'name_key']);
    });
    await create(knex, 'alerts', (columns, table) => {
      columns.organization();
      // In the order of coming within the organization.
      columns.big('position');
      // A source may be gone: its alerts stay.
      columns.id('source_id');
      // SHA-256 of source and fingerprint; null in what is history, since a later row is the alert now.
      columns.short(64, 'key_hash?');
      columns.partOf('incidents', 'incident_id?');
      columns.long('fingerprint title description');
      columns.short(20, 'status severity');
      columns.long('labels url?');
      columns.time('starts_at ends_at? updated_at');
      table.primary(['organization_id', 'position']);
      table.unique(['organization_id', 'key_hash']);
      table.index(['organization_id', 'incident_id', 'status', 'position']);
      table.index(['incident_id']);
    });
    await create(knex, 'alert_groups', (columns, table) => {
      columns.organization();
      columns.short(64, 'group_hash');
      columns.partOf('incidents', 'incident_id');
      columns.time('since');
      table.primary(['organization_id', 'group_hash', 'incident_id']);
      table.index(['organization_id', 'since']);
      table.index(['incident_id']);
    });
  },

  async '0015-audit-chain'(knex) {
    await create(knex, 'audit_registers', (columns, table) => {
      columns.key('organization_id');
      table.foreign('organization_id').references('id').inTable('organizations');
      columns.small('chains');
      columns.big('unchained');
      columns.boolean('damaged');
      columns.short(100, 'seal');
    });
    await create(knex, 'audit_chains', (columns, table) => {
      columns.organization();
      columns.small('number');
      columns.short(300, 'instance');
      columns.time('opened_at');
      columns.big('seq');
      columns.short(64, 'hash');
      columns.short(100, 'seal');
      columns.big('cut_seq?');
      columns.short(64, 'cut_hash?');
      columns.short(100, 'cut_seal?');
      table.primary(['organization_id', 'number']);
    });
    await alter(knex, 'audit', (columns, table) => {
      // What was there before is in chain 0, which is none.
      table.integer('chain').notNullable().defaultTo(0);
      table.bigInteger('seq').notNullable().defaultTo(0);
      table.string('hash', 64).notNullable().defaultTo('');
      columns.long('statement?');
    });
    await knex('audit').update({ seq: knex.ref('id') });
    await alter(knex, 'audit', (_, table) => {
      table.unique(['organization_id', 'chain', 'seq']);
    });
  },

  async '0016-findings'(knex) {
    await alter(knex, 'incidents', (columns, table) => {
      columns.long('finding?');
      columns.short(64, 'blamed_hash?');
      table.index(['organization_id', 'blamed_hash', 'started_at']);
    });
  },
};

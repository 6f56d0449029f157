import { alter, create, type Migration } from './columns.ts';

/** What tells credentials apart, and their pauses; keys of the admin interface; what identity providers provision. */
export const third: Readonly<Record<string, Migration>> = {
  async '0017-credential-use'(knex) {
    await alter(knex, 'api_keys', (columns) => {
      columns.time('paused_at?');
    });
    await alter(knex, 'api_key_secrets', (columns) => {
      columns.short(4, 'last_four?');
      columns.time('last_used_at?');
    });
    await alter(knex, 'ingest_tokens', (columns) => {
      columns.short(255, 'created_by?');
      columns.time('last_used_at?');
    });
  },

  async '0018-leaving'(knex) {
    await alter(knex, 'organizations', (columns) => {
      columns.time('deleted_at?');
      // Null once what it owned is gone.
      columns.time('purge_at?');
    });
  },

  async '0019-admin-keys'(knex) {
    await create(knex, 'admin_keys', (columns, table) => {
      columns.key();
      // A key goes with its organization; without one it is for all.
      columns.partOf('organizations', 'organization_id?');
      columns.short(100, 'name');
      columns.long('scopes created_by');
      table.string('hash', 64).notNullable().unique();
      columns.time('created_at');
    });
  },

  async '0020-scim'(knex) {
    await create(knex, 'scim_tokens', (columns, table) => {
      columns.owned();
      table.string('hash', 64).notNullable().unique();
      columns.short(4, 'last_four');
      columns.short(255, 'created_by');
      columns.time('created_at last_used_at?');
    });
    await create(knex, 'scim_users', (columns, table) => {
      columns.owned();
      columns.partOf('users', 'user_id');
      columns.short(200, 'user_name');
      // Null once the person was deleted there: the row then says only that the account was.
      columns.short(400, 'user_key?');
      columns.short(200, 'external_id?');
      columns.short(640, 'email_key?');
      columns.long('attributes');
      columns.boolean('active');
      columns.small('version');
      columns.time('created_at updated_at');
      table.unique(['organization_id', 'user_id']);
      table.unique(['organization_id', 'user_key']);
      table.index(['organization_id', 'external_id']);
      table.index(['organization_id', 'created_at', 'id']);
      table.index(['user_id']);
    });
    await create(knex, 'scim_groups', (columns, table) => {
      columns.owned();
      columns.short(200, 'display_name');
      columns.short(400, 'display_key');
      columns.short(200, 'external_id?');
      columns.time('created_at updated_at');
      table.unique(['organization_id', 'display_key']);
    });
    await create(knex, 'scim_group_members', (columns, table) => {
      columns.organization();
      columns.partOf('scim_groups', 'group_id');
      columns.partOf('scim_users', 'member_id');
      table.primary(['group_id', 'member_id']);
      table.index(['member_id']);
    });
  },

  async '0021-grant-machine'(knex) {
    await alter(knex, 'grants', (columns) => {
      columns.short(200, 'machine?');
    });
  },

  async '0022-erasures'(knex) {
    await alter(knex, 'audit', (columns) => {
      columns.short(100, 'erasure_seal?');
    });
    await create(knex, 'erasures', (columns, table) => {
      columns.key();
      columns.id('user_id organization_id?');
      columns.long('subjects');
      columns.time('created_at');
      table.index(['user_id']);
    });
  },

  async '0023-scim-departures'(knex) {
    await create(knex, 'scim_departures', (columns, table) => {
      columns.organization();
      // Of an address or an identity. The account and what SCIM kept of it are gone.
      columns.short(64, 'hash');
      table.primary(['organization_id', 'hash']);
      table.index(['hash']);
    });
  },
};

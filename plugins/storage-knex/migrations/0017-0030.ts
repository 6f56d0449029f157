import { alter, create, type Migration } from './columns.ts';

/** What tells credentials apart, and their pauses; keys of the admin interface. */
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
};

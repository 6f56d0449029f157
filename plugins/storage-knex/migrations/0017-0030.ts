import { alter, type Migration } from './columns.ts';

/** What tells credentials apart, and their pauses. */
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
};

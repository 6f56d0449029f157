import { create, type Migration } from './columns.ts';

/** What one gateway keeps. */
export const first: Readonly<Record<string, Migration>> = {
  async '0001-directory'(knex) {
    await create(knex, 'organizations', (columns, table) => {
      columns.key();
      columns.short(200, 'name');
      // The name as it is compared: what "without case" means must not depend on a database's collation.
      table.string('name_key', 400).notNullable().unique();
      columns.time('created_at');
    });
    await create(knex, 'users', (columns, table) => {
      columns.key();
      columns.short(320, 'email');
      table.string('email_key', 640).notNullable().unique();
      columns.short(200, 'name');
      columns.boolean('enabled');
      columns.time('created_at');
    });
    await create(knex, 'members', (columns, table) => {
      columns.organization();
      columns.refer('user_id', 'users');
      columns.short(20, 'role');
      columns.time('created_at');
      table.primary(['organization_id', 'user_id']);
    });
    // Numbers given out in order within an organization; the row is also the lock under which they are.
    await create(knex, 'counters', (columns, table) => {
      columns.organization();
      columns.short(40, 'name');
      columns.big('value');
      table.primary(['organization_id', 'name']);
    });
    // Rows that are updated to take a lock where there is no row of the thing itself yet.
    await create(knex, 'locks', (columns) => {
      columns.key('name', 40);
      columns.big('taken');
    });
    await knex('locks').insert({ name: 'signing_keys', taken: 0 });
    await create(knex, 'signing_keys', (columns) => {
      columns.key('kid', 200);
      columns.small('position');
      columns.short(20, 'algorithm state');
      columns.long('public_jwk sealed_private_jwk');
      columns.time('created_at state_since');
    });
    await create(knex, 'artifacts', (columns, table) => {
      columns.short(64, 'model');
      columns.short(255, 'id');
      columns.long('payload');
      table.string('grant_id', 255).index();
      table.string('uid', 255).index();
      table.string('user_code', 255).index();
      columns.time('consumed_at?');
      table.bigInteger('expires_at').index();
      table.primary(['model', 'id']);
    });
  },

  async '0002-credentials'(knex) {
    await create(knex, 'api_keys', (columns, table) => {
      columns.owned();
      columns.short(200, 'name');
      columns.long('scopes');
      columns.short(255, 'created_by');
      columns.time('created_at last_used_at?');
      table.index(['organization_id', 'created_at']);
    });
    await create(knex, 'api_key_secrets', (columns, table) => {
      columns.owned();
      columns.partOf('api_keys', 'key_id');
      // 1, 2, 3 … in the order of issue: two secrets may be made within one millisecond.
      columns.small('position');
      columns.short(64, 'hash');
      columns.time('created_at');
      table.unique(['key_id', 'position']);
    });
    await create(knex, 'ingest_tokens', (columns, table) => {
      columns.owned();
      columns.small('position');
      table.string('hash', 64).notNullable().unique();
      columns.long('sealed');
      columns.time('created_at');
      table.unique(['organization_id', 'position']);
    });
  },

  async '0003-incidents'(knex) {
    await create(knex, 'incidents', (columns, table) => {
      columns.owned();
      columns.big('number');
      columns.long('title summary');
      // Title and summary in lower case: engines disagree on what case is outside ASCII.
      columns.long('search_text');
      columns.short(20, 'status severity waiting_party');
      columns.long('waiting_name? waiting_key? waiting_reason?');
      columns.time('waiting_since');
      columns.long('services environment source fingerprint?');
      columns.short(64, 'fingerprint_hash?');
      columns.long('labels assignee? alerts');
      columns.time('started_at detected_at created_at updated_at mitigated_at? resolved_at?');
      table.unique(['organization_id', 'number']);
      table.index(['organization_id', 'started_at', 'id']);
      table.index(['organization_id', 'fingerprint_hash']);
    });
    await create(knex, 'incident_services', (columns, table) => {
      columns.organization();
      columns.partOf('incidents', 'incident_id');
      // SHA-256 of the name in lower case: a name may be longer than an index takes.
      columns.short(64, 'service_hash');
      table.primary(['organization_id', 'service_hash', 'incident_id']);
      table.index(['incident_id']);
    });
    await create(knex, 'incident_documents', (columns, table) => {
      columns.organization();
      columns.partOf('incidents', 'incident_id');
      columns.small('version');
      columns.long('markdown author');
      columns.time('updated_at');
      table.primary(['incident_id', 'version']);
    });
    await create(knex, 'incident_timeline', (columns, table) => {
      columns.organization();
      columns.partOf('incidents', 'incident_id');
      columns.small('seq');
      columns.time('at');
      columns.long('actor');
      columns.short(40, 'change');
      columns.long('from_value? to_value?');
      table.primary(['incident_id', 'seq']);
    });
  },

  async '0004-chats'(knex) {
    await create(knex, 'chats', (columns, table) => {
      columns.owned();
      columns.long('title search_text');
      columns.short(20, 'status');
      columns.long('created_by');
      columns.short(255, 'created_by_id');
      columns.refer('incident_id?', 'incidents');
      columns.time('created_at updated_at');
      columns.small('last_seq');
      table.index(['organization_id', 'updated_at', 'id']);
      table.index(['organization_id', 'created_by_id', 'updated_at'], 'chats_author_index');
      table.index(['incident_id']);
    });
    await create(knex, 'chat_messages', (columns, table) => {
      columns.organization();
      columns.partOf('chats', 'chat_id');
      columns.small('seq');
      table.string('id', 40).notNullable().unique();
      columns.short(20, 'role');
      columns.long('author');
      columns.time('at');
      columns.long('content parts');
      table.primary(['chat_id', 'seq']);
    });
    // What a caller's idempotency key stood for. The digest covers author, operation and key, which may be long.
    await create(knex, 'chat_requests', (columns, table) => {
      columns.organization();
      columns.short(64, 'digest');
      columns.id('chat_id message_id');
      columns.time('at');
      table.primary(['organization_id', 'digest']);
    });
  },

  async '0005-investigations'(knex) {
    await create(knex, 'investigations', (columns, table) => {
      columns.owned();
      // In the order of asking within the organization; times may be equal.
      columns.big('position');
      columns.refer('chat_id?', 'chats');
      columns.refer('incident_id?', 'incidents');
      columns.short(20, 'status');
      columns.short(100, 'engine');
      columns.time('asked_at started_at? finished_at?');
      columns.long('conclusion? failure?');
      columns.short(255, 'lease_holder?');
      columns.time('lease_until?');
      table.index(['status', 'asked_at']);
      table.index(['chat_id', 'status']);
      table.index(['incident_id', 'status']);
    });
    await create(knex, 'investigation_steps', (columns, table) => {
      columns.organization();
      columns.partOf('investigations', 'investigation_id');
      columns.small('seq');
      columns.long('step');
      table.primary(['investigation_id', 'seq']);
    });
  },

  async '0006-audit'(knex) {
    await create(knex, 'audit', (columns, table) => {
      // The one table that numbers its own rows: nobody names a record, and rows of one millisecond keep their order.
      table.bigIncrements('id');
      columns.organization();
      columns.time('at');
      columns.short(40, 'event');
      columns.long('subject request_id target');
      columns.short(60, 'outcome');
      columns.short(64, 'arguments_hash?');
      table.double('duration_ms');
      columns.big('row_count? bytes?');
      columns.boolean('truncated?');
      table.index(['organization_id', 'at', 'id']);
    });
  },

  async '0007-scan-usage'(knex) {
    await create(knex, 'scan_usage', (columns, table) => {
      columns.organization();
      columns.short(10, 'day');
      columns.big('bytes');
      table.primary(['organization_id', 'day']);
    });
  },
};

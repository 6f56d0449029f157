import type { Table } from './table.ts';

/** Who may do what in an organization, and by which credential. */
export const accessTables = {
  members: { key: ['user_id'], columns: { user_id: 'text', role: 'text', created_at: 'integer', source: 'text' } },
  invitations: {
    key: ['id'],
    columns: {
      id: 'text',
      email: 'text',
      email_key: 'text',
      role: 'text',
      hash: 'text',
      created_by: 'text',
      created_at: 'integer',
      expires_at: 'integer',
    },
  },
  grants: {
    key: ['id'],
    columns: {
      id: 'text',
      user_id: 'text',
      client_id: 'text',
      client_name: 'text',
      redirect_origin: 'text',
      scopes: 'text',
      created_at: 'integer',
      last_used_at: 'integer?',
    },
  },
  counters: { key: ['name'], columns: { name: 'text', value: 'integer' } },
  api_keys: {
    key: ['id'],
    columns: {
      id: 'text',
      name: 'text',
      scopes: 'text',
      created_by: 'text',
      created_at: 'integer',
      last_used_at: 'integer?',
    },
  },
  api_key_secrets: {
    key: ['id'],
    columns: { id: 'text', key_id: 'text', position: 'small', hash: 'text', created_at: 'integer' },
    within: { key_id: 'api_keys' },
  },
  ingest_tokens: {
    key: ['id'],
    columns: { id: 'text', position: 'small', hash: 'text', sealed: 'text', created_at: 'integer' },
  },
} as const satisfies Record<string, Table>;

/**
 * Tables that no organization owns and an export moves, what is referred to first. Left out: sessions, since people sign in again,
 * what running gateways tell each other and keep for minutes, and rows that are only locks.
 */
export const directoryTables = {
  organizations: { key: ['id'], columns: { id: 'text', name: 'text', name_key: 'text', created_at: 'integer' } },
  users: {
    key: ['id'],
    columns: {
      id: 'text',
      email: 'text',
      email_key: 'text',
      name: 'text',
      enabled: 'boolean',
      created_at: 'integer',
      password_hash: 'text?',
    },
  },
  identities: {
    key: ['hash'],
    columns: { hash: 'text', issuer: 'text', subject: 'text', user_id: 'text', created_at: 'integer' },
  },
  signing_keys: {
    key: ['position'],
    columns: {
      kid: 'text',
      position: 'small',
      algorithm: 'text',
      state: 'text',
      public_jwk: 'text',
      sealed_private_jwk: 'text',
      created_at: 'integer',
      state_since: 'integer',
    },
  },
  oauth_clients: {
    key: ['id'],
    columns: { id: 'text', metadata: 'text', created_at: 'integer', used_at: 'integer?' },
  },
  artifacts: {
    key: ['model', 'id'],
    columns: {
      model: 'text',
      id: 'text',
      payload: 'text',
      grant_id: 'text?',
      uid: 'text?',
      user_code: 'text?',
      consumed_at: 'integer?',
      expires_at: 'integer?',
    },
  },
} as const satisfies Record<string, Table>;

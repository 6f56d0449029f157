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

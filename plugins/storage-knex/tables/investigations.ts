import type { Table } from './table.ts';

/** Chats and investigations. */
export const investigationTables = {
  chats: {
    key: ['id'],
    columns: {
      id: 'text',
      title: 'text',
      search_text: 'text',
      status: 'text',
      created_by: 'text',
      created_by_id: 'text',
      incident_id: 'text?',
      created_at: 'integer',
      updated_at: 'integer',
      last_seq: 'small',
    },
    within: { incident_id: 'incidents' },
  },
  chat_messages: {
    key: ['chat_id', 'seq'],
    columns: {
      chat_id: 'text',
      seq: 'small',
      id: 'text',
      role: 'text',
      author: 'text',
      at: 'integer',
      content: 'text',
      parts: 'text',
    },
    within: { chat_id: 'chats' },
  },
  chat_requests: {
    key: ['digest'],
    columns: { digest: 'text', chat_id: 'text', message_id: 'text', at: 'integer' },
    within: { chat_id: 'chats' },
  },
  investigations: {
    key: ['id'],
    columns: {
      id: 'text',
      position: 'integer',
      chat_id: 'text?',
      incident_id: 'text?',
      status: 'text',
      engine: 'text',
      asked_at: 'integer',
      started_at: 'integer?',
      finished_at: 'integer?',
      conclusion: 'text?',
      failure: 'text?',
      question: 'text?',
      doing: 'text?',
      lease_holder: 'text?',
      lease_until: 'integer?',
    },
    within: { chat_id: 'chats', incident_id: 'incidents' },
  },
  investigation_steps: {
    key: ['investigation_id', 'seq'],
    columns: { investigation_id: 'text', seq: 'small', step: 'text' },
    within: { investigation_id: 'investigations' },
  },
} as const satisfies Record<string, Table>;

import type { Table } from './table.ts';

/** The audit, usage, and what webhooks have to deliver. */
export const recordTables = {
  audit: {
    key: ['at', 'id'],
    columns: {
      chain: 'integer',
      seq: 'integer',
      hash: 'text',
      at: 'integer',
      event: 'text',
      subject: 'text',
      request_id: 'text',
      target: 'text',
      outcome: 'text',
      arguments_hash: 'text?',
      duration_ms: 'real?',
      row_count: 'integer?',
      bytes: 'integer?',
      truncated: 'boolean?',
      statement: 'text?',
    },
  },
  audit_chains: {
    key: ['number'],
    columns: {
      number: 'integer',
      instance: 'text',
      opened_at: 'integer',
      seq: 'integer',
      hash: 'text',
      seal: 'text',
      cut_seq: 'integer?',
      cut_hash: 'text?',
      cut_seal: 'text?',
    },
  },
  audit_registers: {
    key: ['chains'],
    columns: { chains: 'integer', unchained: 'integer', damaged: 'boolean', seal: 'text' },
  },
  scan_usage: { key: ['day'], columns: { day: 'text', bytes: 'integer' } },
  webhooks: {
    key: ['id'],
    columns: {
      id: 'text',
      url: 'text',
      events: 'text',
      sealed_secret: 'text',
      created_at: 'integer',
      delivered_at: 'integer?',
      failed_at: 'integer?',
      failure: 'text?',
    },
  },
  webhook_messages: {
    key: ['id'],
    columns: {
      id: 'text',
      webhook_id: 'text',
      event: 'text',
      subject: 'text',
      data: 'text',
      created_at: 'integer',
      attempts: 'small',
      next_at: 'integer',
      lease_holder: 'text?',
      lease_until: 'integer?',
    },
    within: { webhook_id: 'webhooks' },
  },
} as const satisfies Record<string, Table>;

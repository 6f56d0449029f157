import type {
  ArtifactRow,
  ClientRow,
  IdentityRow,
  OrganizationRow,
  OrganizationTable,
  OrganizationTables,
  SigningKeyRow,
  UserRow,
} from '../rows.ts';

/** What a column holds as it is moved; with `?` it may be null. */
export type Kind = 'text' | 'text?' | 'integer' | 'integer?' | 'real?' | 'boolean' | 'boolean?';

export interface MovedTable {
  /** The order in which rows are read, page by page: no two rows have the same values here. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Kind>>;
  /** Columns with the id of a row that must be of the same organization, and that row's table. */
  readonly within?: Readonly<Record<string, OrganizationTable>>;
}

type Moved<Row> = MovedTable & { readonly columns: Readonly<Record<keyof Row, Kind>> };

interface DirectoryTables {
  organizations: OrganizationRow;
  users: UserRow;
  identities: IdentityRow;
  signing_keys: SigningKeyRow;
  oauth_clients: ClientRow;
  artifacts: ArtifactRow;
}

/*
 * Everything that is moved, what is referred to first. Left out: sessions, since people sign in again, what running gateways
 * tell each other and keep for minutes, and rows that are but locks. A column that is added to rows.ts does not compile until it stands here.
 */

export const movedOfDirectory: { readonly [Table in keyof DirectoryTables]: Moved<DirectoryTables[Table]> } = {
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
      position: 'integer',
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
};

type Own<Row> = Omit<Row, 'organization_id'>;

export const movedOfOrganization: {
  // The audit numbers its rows itself, in the order in which they are written.
  readonly [Table in Exclude<OrganizationTable, 'kept_results'>]: Table extends 'audit'
    ? Moved<Omit<Own<OrganizationTables['audit']>, 'id'>>
    : Moved<Own<OrganizationTables[Table]>>;
} = {
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
    columns: { id: 'text', key_id: 'text', position: 'integer', hash: 'text', created_at: 'integer' },
    within: { key_id: 'api_keys' },
  },
  ingest_tokens: {
    key: ['id'],
    columns: { id: 'text', position: 'integer', hash: 'text', sealed: 'text', created_at: 'integer' },
  },
  alert_sources: {
    key: ['id'],
    columns: {
      id: 'text',
      name: 'text',
      name_key: 'text',
      plugin: 'text',
      sealed: 'text',
      created_at: 'integer',
      created_by: 'text',
    },
  },
  incidents: {
    key: ['id'],
    columns: {
      id: 'text',
      number: 'integer',
      title: 'text',
      summary: 'text',
      search_text: 'text',
      status: 'text',
      severity: 'text',
      waiting_party: 'text',
      waiting_name: 'text?',
      waiting_key: 'text?',
      waiting_reason: 'text?',
      waiting_since: 'integer',
      services: 'text',
      environment: 'text',
      source: 'text',
      fingerprint: 'text?',
      fingerprint_hash: 'text?',
      labels: 'text',
      assignee: 'text?',
      alerts: 'text',
      started_at: 'integer',
      detected_at: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
      mitigated_at: 'integer?',
      resolved_at: 'integer?',
      resolution: 'text?',
      duplicate_of: 'integer?',
    },
  },
  incident_services: {
    key: ['service_hash', 'incident_id'],
    columns: { incident_id: 'text', service_hash: 'text' },
    within: { incident_id: 'incidents' },
  },
  alerts: {
    key: ['position'],
    columns: {
      position: 'integer',
      source_id: 'text',
      key_hash: 'text?',
      incident_id: 'text?',
      fingerprint: 'text',
      title: 'text',
      description: 'text',
      status: 'text',
      severity: 'text',
      labels: 'text',
      url: 'text?',
      starts_at: 'integer',
      ends_at: 'integer?',
      updated_at: 'integer',
    },
    within: { incident_id: 'incidents' },
  },
  alert_groups: {
    key: ['group_hash', 'incident_id'],
    columns: { group_hash: 'text', incident_id: 'text', since: 'integer' },
    within: { incident_id: 'incidents' },
  },
  incident_documents: {
    key: ['incident_id', 'version'],
    columns: { incident_id: 'text', version: 'integer', markdown: 'text', author: 'text', updated_at: 'integer' },
    within: { incident_id: 'incidents' },
  },
  incident_timeline: {
    key: ['incident_id', 'seq'],
    columns: {
      incident_id: 'text',
      seq: 'integer',
      at: 'integer',
      actor: 'text',
      change: 'text',
      from_value: 'text?',
      to_value: 'text?',
    },
    within: { incident_id: 'incidents' },
  },
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
      last_seq: 'integer',
    },
    within: { incident_id: 'incidents' },
  },
  chat_messages: {
    key: ['chat_id', 'seq'],
    columns: {
      chat_id: 'text',
      seq: 'integer',
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
    columns: { investigation_id: 'text', seq: 'integer', step: 'text' },
    within: { investigation_id: 'investigations' },
  },
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
      attempts: 'integer',
      next_at: 'integer',
      lease_holder: 'text?',
      lease_until: 'integer?',
    },
    within: { webhook_id: 'webhooks' },
  },
};

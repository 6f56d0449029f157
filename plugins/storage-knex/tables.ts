/*
 * Values as the database gives them. Big integers come as strings from some drivers and booleans as numbers from others; only
 * columns.ts reads them.
 */
export type DbInteger = number | string;
export type DbBoolean = boolean | number;

/** What is written into a column. */
export type ColumnValue = string | number | boolean | null;

/** What each kind of column holds in a row; with `?` it may be null. `small` is a number with every driver. */
interface Held {
  text: string;
  'text?': string | null;
  small: number;
  integer: DbInteger;
  'integer?': DbInteger | null;
  'real?': number | null;
  boolean: DbBoolean;
  'boolean?': DbBoolean | null;
}

export type Kind = keyof Held;

/** What each kind is in an export. */
export const kept = {
  text: 'string',
  'text?': 'string',
  small: 'integer',
  integer: 'integer',
  'integer?': 'integer',
  'real?': 'number',
  boolean: 'boolean',
  'boolean?': 'boolean',
} as const satisfies Record<Kind, string>;

const kinds = Object.keys(kept).filter((name): name is Kind => name in kept);

/** The names of a table's columns, separated by spaces, for each kind. `key` and `within`: see Table. */
interface Description<Parent extends string = string> extends Readonly<Partial<Record<Kind, string>>> {
  readonly key: string;
  readonly within?: Readonly<Record<string, Parent>>;
}

/** A table as it is moved by an export. An organization's have its id, too. */
export interface Table {
  /** The order in which rows are read, page by page: no two rows have the same values here. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Kind>>;
  /** Columns with the id of a row that must be of the same organization, and that row's table. */
  readonly within: Readonly<Record<string, string>>;
}

type Names<Text> = Text extends `${infer First} ${infer Rest}` ? First | Names<Rest> : Text;

type KindOf<Described, Column> = {
  [Each in Kind & keyof Described]: Column extends Names<Described[Each]> ? Each : never;
}[Kind & keyof Described];

export type RowOf<Described> = {
  [Column in Names<Described[Kind & keyof Described]> & string]: Held[KindOf<Described, Column>];
};

/** Who may do what in an organization, and by which credential; incidents, chats and investigations; the audit and webhooks. */
const owned = {
  members: { key: 'user_id', text: 'user_id role source', integer: 'created_at' },
  invitations: { key: 'id', text: 'id email email_key role hash created_by', integer: 'created_at expires_at' },
  grants: {
    key: 'id',
    text: 'id user_id client_id client_name redirect_origin scopes',
    'text?': 'machine',
    integer: 'created_at',
    'integer?': 'last_used_at',
  },
  counters: { key: 'name', text: 'name', integer: 'value' },
  api_keys: {
    key: 'id',
    text: 'id name scopes created_by',
    integer: 'created_at',
    'integer?': 'last_used_at paused_at',
  },
  api_key_secrets: {
    key: 'id',
    text: 'id key_id hash',
    'text?': 'last_four',
    small: 'position',
    integer: 'created_at',
    'integer?': 'last_used_at',
    within: { key_id: 'api_keys' },
  },
  ingest_tokens: {
    key: 'id',
    text: 'id hash sealed',
    'text?': 'created_by',
    small: 'position',
    integer: 'created_at',
    'integer?': 'last_used_at',
  },
  scim_tokens: {
    key: 'id',
    text: 'id hash last_four created_by',
    integer: 'created_at',
    'integer?': 'last_used_at',
  },
  scim_users: {
    key: 'id',
    text: 'id user_id user_name attributes',
    'text?': 'user_key external_id email_key',
    small: 'version',
    boolean: 'active',
    integer: 'created_at updated_at',
  },
  scim_groups: {
    key: 'id',
    text: 'id display_name display_key',
    'text?': 'external_id',
    integer: 'created_at updated_at',
  },
  scim_group_members: {
    key: 'group_id member_id',
    text: 'group_id member_id',
    within: { group_id: 'scim_groups', member_id: 'scim_users' },
  },
  scim_departures: { key: 'hash', text: 'hash' },
  alert_sources: { key: 'id', text: 'id name name_key plugin sealed created_by', integer: 'created_at' },
  incidents: {
    key: 'id',
    text: 'id title summary search_text status severity waiting_party services environment source labels alerts',
    'text?':
      'waiting_name waiting_key waiting_reason fingerprint fingerprint_hash assignee resolution finding blamed_hash',
    integer: 'number waiting_since started_at detected_at created_at updated_at',
    'integer?': 'mitigated_at resolved_at duplicate_of',
  },
  incident_services: {
    key: 'service_hash incident_id',
    text: 'incident_id service_hash',
    within: { incident_id: 'incidents' },
  },
  alerts: {
    key: 'position',
    text: 'source_id fingerprint title description status severity labels',
    'text?': 'key_hash incident_id url',
    integer: 'position starts_at updated_at',
    'integer?': 'ends_at',
    within: { incident_id: 'incidents' },
  },
  alert_groups: {
    key: 'group_hash incident_id',
    text: 'group_hash incident_id',
    integer: 'since',
    within: { incident_id: 'incidents' },
  },
  incident_documents: {
    key: 'incident_id version',
    text: 'incident_id markdown author',
    small: 'version',
    integer: 'updated_at',
    within: { incident_id: 'incidents' },
  },
  incident_timeline: {
    key: 'incident_id seq',
    text: 'incident_id actor change',
    'text?': 'from_value to_value',
    small: 'seq',
    integer: 'at',
    within: { incident_id: 'incidents' },
  },
  chats: {
    key: 'id',
    text: 'id title search_text status created_by created_by_id',
    'text?': 'incident_id',
    small: 'last_seq',
    integer: 'created_at updated_at',
    within: { incident_id: 'incidents' },
  },
  chat_messages: {
    key: 'chat_id seq',
    text: 'chat_id id role author content parts',
    small: 'seq',
    integer: 'at',
    within: { chat_id: 'chats' },
  },
  chat_requests: { key: 'digest', text: 'digest chat_id message_id', integer: 'at', within: { chat_id: 'chats' } },
  investigations: {
    key: 'id',
    text: 'id status engine',
    'text?': 'chat_id incident_id conclusion failure question doing lease_holder',
    integer: 'position asked_at',
    'integer?': 'started_at finished_at lease_until',
    within: { chat_id: 'chats', incident_id: 'incidents' },
  },
  investigation_steps: {
    key: 'investigation_id seq',
    text: 'investigation_id step',
    small: 'seq',
    within: { investigation_id: 'investigations' },
  },
  audit: {
    key: 'at id',
    text: 'hash event subject request_id target outcome',
    'text?': 'arguments_hash statement erasure_seal',
    integer: 'chain seq at',
    'integer?': 'row_count bytes',
    'real?': 'duration_ms',
    'boolean?': 'truncated',
  },
  audit_chains: {
    key: 'number',
    text: 'instance hash seal',
    'text?': 'cut_hash cut_seal',
    integer: 'number opened_at seq',
    'integer?': 'cut_seq',
  },
  audit_registers: { key: 'chains', text: 'seal', integer: 'chains unchained', boolean: 'damaged' },
  scan_usage: { key: 'day', text: 'day', integer: 'bytes' },
  webhooks: {
    key: 'id',
    text: 'id url events sealed_secret',
    'text?': 'failure',
    integer: 'created_at',
    'integer?': 'delivered_at failed_at',
  },
  webhook_messages: {
    key: 'id',
    text: 'id webhook_id event subject data',
    'text?': 'lease_holder',
    small: 'attempts',
    integer: 'created_at next_at',
    'integer?': 'lease_until',
    within: { webhook_id: 'webhooks' },
  },
} as const satisfies Record<string, Description>;

/**
 * Tables that no organization owns and an export moves, what is referred to first. Left out: sessions, since people sign in again,
 * what running gateways tell each other and keep for minutes, and rows that are only locks.
 */
const unowned = {
  organizations: { key: 'id', text: 'id name name_key', integer: 'created_at', 'integer?': 'deleted_at purge_at' },
  users: {
    key: 'id',
    text: 'id email email_key name',
    'text?': 'password_hash',
    integer: 'created_at',
    boolean: 'enabled',
  },
  identities: { key: 'hash', text: 'hash issuer subject user_id', integer: 'created_at' },
  signing_keys: {
    key: 'position',
    text: 'kid algorithm state public_jwk sealed_private_jwk',
    small: 'position',
    integer: 'created_at state_since',
  },
  admin_keys: { key: 'id', text: 'id name scopes hash created_by', 'text?': 'organization_id', integer: 'created_at' },
  oauth_clients: { key: 'id', text: 'id metadata', integer: 'created_at', 'integer?': 'used_at' },
  artifacts: {
    key: 'model id',
    text: 'model id payload',
    'text?': 'grant_id uid user_code',
    'integer?': 'consumed_at expires_at',
  },
} as const satisfies Record<string, Description>;

export type Owned = typeof owned;
export type Unowned = typeof unowned;

function tablesOf(described: Readonly<Record<string, Description>>): ReadonlyMap<string, Table> {
  const tables = Object.entries(described).map(([name, description]): [string, Table] => {
    const { key, within = {} } = description;
    const columns = kinds.flatMap((kind) => words(description[kind]).map((column): [string, Kind] => [column, kind]));
    return [name, { key: words(key), columns: Object.fromEntries(columns), within }];
  });
  return new Map(tables);
}

function words(text = ''): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

export const directoryTables = tablesOf(unowned);

/** An organization's tables that an export moves, what is referred to first. */
export const movedOfOrganization = tablesOf(owned satisfies Record<string, Description<keyof Owned>>);

/** What a token may do. Each tool asks for exactly one. */
export const scopes = ['telemetry:read', 'ingest:read', 'incidents:read', 'chats:read', 'chats:write'] as const;

export type Scope = (typeof scopes)[number];

export const roles = ['admin', 'member'] as const;

export type Role = (typeof roles)[number];

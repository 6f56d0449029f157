import type { OrganizationId, UserId } from '../core/ids.ts';

/** Who did something that is kept. */
export interface Actor {
  readonly kind: 'user' | 'key' | 'agent' | 'alert' | 'operator';
  /** `usr_…`, `ak_…`, the agent's engine, the alert source or the operating system's user. */
  readonly id: string;
  readonly name: string;
}

/** Stands where a person did who was deleted. */
export const deletedPerson = { kind: 'user', id: 'deleted', name: 'Deleted person' } as const satisfies Actor;

/** One page of a list, and what to ask for the next. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: Date;
}

/** An organization that nobody can use: its people, keys, tokens, applications and alert sources find nothing. */
export interface DeletedOrganization extends Organization {
  /** From then on it cannot be had back. Absent once what it owned is gone, and its id is its name. */
  readonly purgeAt?: Date;
}

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly createdAt: Date;
}

/** Deletes records past the organization's retention. Each call deletes a bounded number, so that other work is not blocked. */
export interface RetentionRepository {
  /** Removes some of the audit records older than this; how many. */
  removeAudit(before: Date): Promise<number>;
  /**
   * Removes some of the chats that were completed, failed or cancelled and did not change since, with their messages; how
   * many. An investigation of an incident stays with the incident, without the chat.
   */
  removeChats(before: Date): Promise<number>;
  /**
   * Removes some of the incidents that were resolved or dismissed and did not change since, with their alerts, documents,
   * timeline and investigations; how many. What was investigated in a chat stays with the chat, without the incident.
   */
  removeIncidents(before: Date): Promise<number>;
  /** Removes some of all that the organization owns but its audit; how many rows or groups of rows, 0 when nothing is left. */
  removeAll(): Promise<number>;
}

import type { OrganizationId, UserId } from '../core/ids.ts';

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: Date;
}

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly createdAt: Date;
}

/** Who did something that is kept. */
export interface Actor {
  readonly kind: 'user' | 'key' | 'agent' | 'alert' | 'operator';
  /** `usr_…`, `ak_…`, the agent's engine, the alert source or the operating system's user. */
  readonly id: string;
  readonly name: string;
}

/** One page of a list, and what to ask for the next. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

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

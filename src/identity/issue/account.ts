import { isId } from '../../contract/core/index.ts';
import type { OrganizationId, UserId } from '../../contract/core/index.ts';

/**
 * A person in the organization they chose: to the protocol library that is one account, so that nothing granted in one
 * organization is ever found from another.
 */
export interface Account {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
}

export function accountId({ userId, organizationId }: Account): string {
  return `${userId}:${organizationId}`;
}

/** The way back; undefined for anything that `accountId` did not write. */
export function readAccountId(text: string): Account | undefined {
  const [userId = '', organizationId = '', ...rest] = text.split(':');
  if (rest.length > 0 || !isId('usr', userId) || !isId('org', organizationId)) return undefined;
  return { userId, organizationId };
}

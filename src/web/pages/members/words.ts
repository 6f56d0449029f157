import type { InvitationId } from '../../../contract/core/index.ts';
import type { Role } from '../../../contract/issuer/index.ts';

export const roleWords = { admin: 'Admin', member: 'Member' } as const satisfies Record<Role, string>;

/** What a link that is shown once belongs to. */
export function about(id: InvitationId): string {
  return `invitation:${id}`;
}

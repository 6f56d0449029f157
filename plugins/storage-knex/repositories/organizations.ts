import { toId } from '../../../src/contract/core/index.ts';
import type { Membership, Organization } from '../../../src/contract/storage/index.ts';
import { date, roleColumn } from '../columns.ts';
import type { RowIn } from '../rows.ts';

type Shown = Pick<RowIn<'organizations'>, 'id' | 'name' | 'created_at'>;

export function toOrganization(row: Shown): Organization {
  return { id: toId('org', row.id), name: row.name, createdAt: date(row.created_at) };
}

/** Selected beside another table's columns, and read by `joinedOrganization`. */
export const organizationColumns = {
  organization_id: 'organizations.id',
  organization_name: 'organizations.name',
  organization_created_at: 'organizations.created_at',
} as const;

export type JoinedOrganization = { readonly [Column in keyof Shown as `organization_${Column}`]: Shown[Column] };

export function joinedOrganization(row: JoinedOrganization): Organization {
  return toOrganization({
    id: row.organization_id,
    name: row.organization_name,
    created_at: row.organization_created_at,
  });
}

export function toMembership(row: JoinedOrganization & { readonly role: string }): Membership {
  return { organization: joinedOrganization(row), role: roleColumn.parse(row.role) };
}

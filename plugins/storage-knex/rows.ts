import { movedOfOrganization, type DbInteger, type Owned, type RowOf, type Unowned } from './tables.ts';

/** Tables of an organization that an export leaves out, and what rows have beside their columns' kinds. */
interface More {
  members: { source: 'given' | 'provider' | 'scim' };
  /** The audit numbers its rows itself, in the order in which they are written. */
  audit: { id?: DbInteger };
  kept_results: { id: string; holder: string; sealed: string; bytes: DbInteger; expires_at: DbInteger };
}

/** What an organization owns; reached only through a Scope. */
export type OrganizationTables = {
  [Name in keyof Owned | keyof More]: { organization_id: string } & (Name extends keyof Owned
    ? RowOf<Owned[Name]>
    : unknown) &
    (Name extends keyof More ? More[Name] : unknown);
};

export type OrganizationTable = keyof OrganizationTables;

export const organizationTables: readonly string[] = [
  ...movedOfOrganization.keys(),
  'kept_results' satisfies OrganizationTable,
];

/** Every table that statements name. */
export type Tables = OrganizationTables & { [Name in keyof Unowned]: RowOf<Unowned[Name]> } & {
  sessions: {
    hash: string;
    user_id: string;
    organization_id: string | null;
    created_at: DbInteger;
    expires_at: DbInteger;
  };
  /** People who were deleted lately, in one organization or all: what was under way then is refused or erased. */
  erasures: { id: string; user_id: string; organization_id: string | null; subjects: string; created_at: DbInteger };
  gateways: { id: string; host: string; telemetry_in: string | null; seen_at: DbInteger };
  buckets: { name: string; empty_at: DbInteger };
  locks: { name: string; taken: DbInteger };
};

export type RowIn<Table extends keyof Tables> = Tables[Table];

import { z } from 'zod';
import type { OrganizationId } from '../core/ids.ts';

const valueType = z.enum(['string', 'uuid', 'int']).default('string');
/** Stands in names for the tenant; what replaces it has only letters, digits, `_` and `-`. */
const template = z.string().includes('{tenant}');

const mode = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('none'), organization: z.string().min(1) }),
  z.strictObject({ mode: z.literal('column'), column: z.string().min(1), type: valueType }),
  z.strictObject({ mode: z.literal('resource_attribute'), key: z.string().min(1) }),
  z.strictObject({ mode: z.literal('attribute'), key: z.string().min(1) }),
  z.strictObject({ mode: z.literal('expression'), expression: z.string().min(1), type: valueType }),
  z.strictObject({ mode: z.literal('database'), template }),
  z.strictObject({ mode: z.literal('schema'), template }),
  z.strictObject({ mode: z.literal('dataset'), template }),
  z.strictObject({ mode: z.literal('table_template'), template }),
  z.strictObject({ mode: z.literal('connection') }),
]);

/**
 * The `tenancy` section of a telemetry plugin's config: whose rows are whose. Whatever the mode, the boundary is beneath
 * the caller's SQL, and an organization that is no tenant reads nothing.
 */
export const tenancySchema = z.strictObject({
  boundary: mode.meta({ description: 'What tells one tenant from another' }),
  value: z
    .enum(['id', 'name'])
    .default('name')
    .meta({ description: 'What of the organization is the tenant, unless `organizations` says' }),
  organizations: z.record(z.string(), z.string().min(1)).optional().meta({
    description: 'Tenant by organization (name or id). With it, an organization that is not listed is denied',
  }),
});

export type TenancyConfig = z.output<typeof tenancySchema>;
export type TenancyMode = TenancyConfig['boundary']['mode'];

/** The warehouse's word for an organization. */
export type Tenant = string & { readonly __brand: 'Tenant' };

export interface Tenancy {
  readonly boundary: TenancyConfig['boundary'];
  /** Rejects with forbidden for an organization that is no tenant, or whose tenant does not fit the boundary's type or template. */
  tenantOf(organizationId: OrganizationId): Promise<Tenant>;
}

export interface TenancyHelpers {
  open(config: TenancyConfig): Tenancy;
}

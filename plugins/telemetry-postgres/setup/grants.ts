import type { ResolvedMapping, Tenant } from '../../../src/contract/telemetry/index.ts';
import { tableNames } from '../../../src/contract/telemetry/index.ts';
import { ofTenant } from '../boundary.ts';
import { quoteName } from '../literals.ts';

const qualified = /^("(?:[^"]|"")+"|\w+)\.(?:"(?:[^"]|"")+"|\w+)$/;

/** Whether a source is a table by its name, and not one of each tenant whose name is not known here. */
export function isNamed(from: string): boolean {
  return !from.includes('{tenant}') && qualified.test(from);
}

/** SELECT on what the mappings read, where it is tables; for anything else a reminder. */
export function grantsOn(mappings: readonly ResolvedMapping[], role: string): readonly string[] {
  const sources = mappings.flatMap(({ tables }) => tableNames.flatMap((table) => tables[table] ?? []));
  return [...new Set(sources.map(({ from }) => from))].flatMap((from) => {
    const schema = isNamed(from) ? qualified.exec(from)?.[1] : undefined;
    return schema === undefined
      ? [`-- Grant ${quoteName(role)} SELECT on what this reads: ${from.replaceAll(/\s+/g, ' ')}`]
      : [`GRANT USAGE ON SCHEMA ${schema} TO ${quoteName(role)};`, `GRANT SELECT ON ${from} TO ${quoteName(role)};`];
  });
}

/** One for each tenant that has tables of its own, where they are listed. */
export function mappingsOf(mapping: ResolvedMapping, tenants: readonly Tenant[]): readonly ResolvedMapping[] {
  return tenants.length > 0 ? tenants.map((tenant) => ofTenant(mapping, tenant)) : [mapping];
}

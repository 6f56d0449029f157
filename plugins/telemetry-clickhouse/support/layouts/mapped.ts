import {
  mappingSchema,
  type PhysicalColumns,
  type ResolvedMapping,
  type StatementBinding,
  type TableName,
  type Tenancy,
  type Tenant,
} from '../../../../src/contract/telemetry/index.ts';
import { mappingHelpers } from '../../../../src/telemetry/mapping/mapping.ts';
import { withJson } from '../../json-attributes.ts';
import { prewhereSources } from '../../mapped.ts';
import { presets } from '../../presets/index.ts';
import { literal, type Rows } from '../../quote.ts';
import { relationWriter } from '../../relation-writer.ts';
import { tenantPredicate } from '../../tenant.ts';

export const physicalColumns =
  (rows: Rows): PhysicalColumns =>
  async (path) => {
    const [database, table] = path.split('.');
    const found = await rows(
      `SELECT name, type FROM system.columns WHERE database = ${literal(database ?? '')} AND table = ${literal(table ?? '')}`,
    );
    return found.length === 0 ? undefined : new Map(found.map(({ name, type }) => [String(name), String(type)]));
  };

export interface Mapped {
  readonly mapping: ResolvedMapping;
  readonly boundary: Tenancy['boundary'];
  readonly json: ReadonlySet<string>;
  relation(table: TableName, tenant?: string, binding?: StatementBinding): string;
}

/** A layout mapped as a gateway does it. */
export async function mapped(rows: Rows, config: unknown, boundary?: Tenancy['boundary']): Promise<Mapped> {
  const none = { json: new Set<string>(), prewhere: new Set<string>() };
  const section = mappingSchema.parse(config);
  const resolved = await mappingHelpers.resolve(section, presets, physicalColumns(rows), relationWriter(none));
  const { mapping, json } = await withJson(rows, resolved);
  const writer = relationWriter({ json, prewhere: await prewhereSources(rows, mapping) });
  const keptApart: Tenancy['boundary'] =
    boundary ??
    (section.preset === 'sightline'
      ? { mode: 'column', column: 'organization', type: 'string' }
      : { mode: 'resource_attribute', key: 'tenant.id' });
  return {
    mapping,
    boundary: keptApart,
    json,
    relation(table, tenant = 'acme', binding = {}) {
      if (!isTenant(tenant)) throw new TypeError('no tenant');
      const predicate = tenantPredicate(keptApart, tenant, mapping.tables[table] ?? [], json);
      return mappingHelpers.relation(mapping, table, { binding, tenant: predicate }, writer);
    },
  };
}

export function isTenant(value: string): value is Tenant {
  return value !== '';
}

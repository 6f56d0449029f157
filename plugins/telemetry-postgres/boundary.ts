import {
  type MappingHelpers,
  type ResolvedMapping,
  type StatementBinding,
  type TableName,
  type TableSource,
  type TenancyConfig,
  type Tenant,
  boundaryIn,
  mappingFor,
  otelTables,
  ownColumnsOf,
} from '../../src/contract/telemetry/index.ts';
import { quoteName, quoteText } from './types.ts';
import { relationOf } from './relation.ts';
import type { BoundaryKind } from './settings.ts';

type Mode = TenancyConfig['boundary'];

/**
 * What tells tenants apart in one source: `side` is the SQL of the tenant, a literal or what the views' function answers.
 * Undefined where the table, the schema or the database is the tenant's own.
 */
export function tenantPredicate(usual: Mode, source: TableSource, side: string): string | undefined {
  const boundary = boundaryIn(usual, source);
  switch (boundary.mode) {
    case 'column':
      return `${quoteName(boundary.column)} = ${typed(side, boundary.type)}`;
    case 'expression':
      return `(${boundary.expression}) = ${typed(side, boundary.type)}`;
    case 'resource_attribute':
      return `((${source.columns['resource_attributes']}) ->> ${quoteText(boundary.key)}) = ${side}`;
    case 'attribute':
      return `((${source.columns['attributes']}) ->> ${quoteText(boundary.key)}) = ${side}`;
    case 'none':
    case 'database':
    case 'schema':
    case 'dataset':
    case 'table_template':
    case 'connection':
      return undefined;
  }
}

function typed(side: string, type: 'string' | 'uuid' | 'int'): string {
  if (type === 'uuid') return `(${side})::uuid`;
  return type === 'int' ? `(${side})::bigint` : side;
}

/** The mapping onto the views of the setup script, which have the logical columns by their names; early ones not all. */
export function viewMapping(schema: string, views: ReadonlyMap<TableName, ReadonlyMap<string, string>>) {
  const sources: { [Name in TableName]?: readonly TableSource[] } = {};
  const empties: { readonly table: TableName; readonly column: string }[] = [];
  for (const [table, there] of views) {
    sources[table] = [
      { from: `${quoteName(schema)}.${quoteName(table)}`, columns: ownColumnsOf(table, there, quoteName) },
    ];
    for (const { name } of otelTables[table].columns) if (!there.has(name)) empties.push({ table, column: name });
  }
  return { preset: undefined, tables: sources, empties } satisfies ResolvedMapping;
}

export interface RelationRequest {
  readonly table: TableName;
  readonly binding: StatementBinding;
  readonly tenant: Tenant;
}

export function relationFor(
  { table, binding, tenant }: RelationRequest,
  kind: BoundaryKind,
  mode: Mode,
  resolved: ResolvedMapping,
  helpers: MappingHelpers,
): string {
  if (kind === 'views') return relationOf(helpers, resolved, table, binding, () => undefined);
  const own = mappingFor(resolved, tenant);
  const predicate = (source: TableSource) =>
    kind === 'connections' ? undefined : tenantPredicate(mode, source, quoteText(tenant));
  return relationOf(helpers, own, table, binding, predicate);
}

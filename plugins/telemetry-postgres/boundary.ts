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

/** The mapping onto the views of the setup script, which have the logical columns by their names. */
export function viewMapping(schema: string, tables: readonly TableName[]): ResolvedMapping {
  const sources: { [Name in TableName]?: readonly TableSource[] } = {};
  for (const table of tables) {
    const columns = Object.fromEntries(otelTables[table].columns.map(({ name }) => [name, quoteName(name)]));
    sources[table] = [{ from: `${quoteName(schema)}.${quoteName(table)}`, columns }];
  }
  return { preset: undefined, tables: sources, empties: [] };
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

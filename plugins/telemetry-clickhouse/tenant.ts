import { SightlineError } from '../../src/contract/core/index.ts';
import {
  boundaryIn,
  tenantType,
  type TableSource,
  type Tenancy,
  type Tenant,
} from '../../src/contract/telemetry/index.ts';
import { jsonAttribute } from './json-attributes.ts';
import { identifier, literal } from './quote.ts';

type Boundary = Tenancy['boundary'];

/** The predicate under every telemetry table of a statement; undefined where the boundary lies in names or the connection. */
export function tenantPredicate(
  boundary: Boundary,
  tenant: Tenant,
  sources: readonly TableSource[],
  json: ReadonlySet<string>,
): string | undefined {
  const expressions = new Set(sources.map((source) => tenantExpression(boundary, source, json)));
  const [expression] = expressions;
  if (expressions.size > 1) {
    throw new SightlineError(
      'config_invalid',
      'telemetry.mapping: the tables of one kind tell tenants apart differently.',
      {
        hint: 'Give them the same expression for what telemetry.tenancy.boundary names.',
      },
    );
  }
  return expression === undefined ? undefined : `${expression} = ${tenantLiteral(boundary, tenant)}`;
}

/** What the tenant of a row is, in SQL over the physical table. */
export function tenantExpression(usual: Boundary, source: TableSource, json: ReadonlySet<string>): string | undefined {
  const boundary = boundaryIn(usual, source);
  if (boundary.mode === 'column') return identifier(boundary.column);
  if (boundary.mode === 'expression') return `(${boundary.expression})`;
  if (boundary.mode !== 'resource_attribute' && boundary.mode !== 'attribute') return undefined;
  const attributes = source.columns[boundary.mode === 'attribute' ? 'attributes' : 'resource_attributes'];
  if (attributes === undefined) return "''";
  return json.has(attributes) ? jsonAttribute(attributes, boundary.key) : `(${attributes})[${literal(boundary.key)}]`;
}

/** The predicate of a row policy: the tenant is what the gateway wrote before the colon of the query id. */
export function tenantOfQueryId(boundary: Boundary): string {
  const written = "decodeURLComponent(splitByChar(':', initialQueryID())[1])";
  const type = tenantType(boundary);
  if (type === 'int') return `toInt64OrNull(${written})`;
  return type === 'uuid' ? `toUUIDOrNull(${written})` : written;
}

/** Encoded, since a tenant may hold a colon and the policy reads up to the first. */
export function queryId(tenant: Tenant, unique: string): string {
  return `${encodeURIComponent(tenant)}:${unique}`;
}

/** A tenant as the boundary's expression is compared with it. */
export function tenantLiteral(boundary: Boundary, tenant: Tenant): string {
  const type = tenantType(boundary);
  if (type === 'string') return literal(tenant);
  if (type === 'uuid') return `toUUID(${literal(tenant)})`;
  if (!/^-?\d{1,18}$/.test(tenant)) throw new SightlineError('forbidden', 'This organization has no telemetry here.');
  return tenant;
}

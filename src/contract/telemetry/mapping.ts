import { z } from 'zod';
import type { ReadRules, StatementBinding } from './statement.ts';
import {
  otelTables,
  tableNames,
  type AttributesType,
  type LogicalColumn,
  type LogicalTable,
  type TableName,
} from './schema.ts';
import type { OrganizationId } from '../core/ids.ts';

const valueType = z.enum(['string', 'uuid', 'int']).default('string').describe('Type of the tenant');
/** Stands in names for the tenant; what replaces it has only letters, digits, `_` and `-`. */
const template = z.string().includes('{tenant}').describe('Its name, with {tenant} in it');

const attributeKey = z.string().min(1).describe('Key of the attribute');

const mode = z.discriminatedUnion('mode', [
  z.strictObject({
    mode: z.literal('none').describe('One organization has the whole warehouse'),
    organization: z.string().min(1).describe('Its name or id'),
  }),
  z.strictObject({
    mode: z.literal('column').describe('A column holds the tenant'),
    column: z.string().min(1).describe('Name of the column'),
    type: valueType,
  }),
  z.strictObject({
    mode: z.literal('resource_attribute').describe('A resource attribute holds the tenant'),
    key: attributeKey,
  }),
  z.strictObject({
    mode: z.literal('attribute').describe('An attribute of the row holds the tenant'),
    key: attributeKey,
  }),
  z.strictObject({
    mode: z.literal('expression').describe('A SQL expression gives the tenant'),
    expression: z.string().min(1).describe('SQL expression of the tenant of a row'),
    type: valueType,
  }),
  z.strictObject({ mode: z.literal('database').describe('Each tenant has a database'), template }),
  z.strictObject({ mode: z.literal('schema').describe('Each tenant has a schema'), template }),
  z.strictObject({ mode: z.literal('dataset').describe('Each tenant has a dataset'), template }),
  z.strictObject({ mode: z.literal('table_template').describe('Each tenant has tables'), template }),
  z.strictObject({ mode: z.literal('connection').describe('Each tenant has a login, named in connections') }),
]);

/** The `tenancy` section: whose rows are whose, beneath the caller's SQL. An organization that is no tenant reads nothing. */
export const tenancySchema = z.strictObject({
  boundary: mode.describe('What separates tenants'),
  value: z
    .enum(['id', 'name'])
    .default('name')
    .describe('Whether the id or the name of an organization is its tenant, unless `organizations` says otherwise'),
  organizations: z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe('Tenant of each organization (name or id); organizations that are not listed are then denied'),
});

export type TenancyConfig = z.output<typeof tenancySchema>;

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

const source = z.strictObject({
  from: z.string().min(1).describe('FROM item of the warehouse; contains {tenant} if the tenancy needs it').optional(),
  columns: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('SQL expression of each column; others come from the preset or are empty'),
  where: z.string().min(1).optional().describe('Predicate that is added to every read'),
  tenant: z.string().min(1).optional().describe('SQL expression of the tenant of a row, if it differs between tables'),
  timeBounds: z
    .array(z.string().min(1))
    .optional()
    .describe('Predicates with {start} or {end} that use the sort key or the partitions'),
});

const table = z.union([z.literal(false), source]).describe('Where its rows are read; false if there are none');

/** The `mapping` section of a telemetry plugin's config. */
export const mappingSchema = z.strictObject({
  preset: z
    .string()
    .min(1)
    .optional()
    .describe('Known layout of the warehouse; `sightline telemetry inspect` proposes one'),
  names: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('Names of the preset that differ in this warehouse: database, tables'),
  tables: z
    .strictObject({
      spans: table.optional(),
      metrics: table.optional(),
      logs: table.optional(),
    })
    .default({})
    .describe('How each table is read; false if the warehouse has none'),
});

/** The same where a preset is one of these, so that a misspelt name is told before anything is connected. */
export function mappingWith(presets: readonly MappingPreset[]) {
  const { preset } = mappingSchema.shape;
  return mappingSchema.extend({
    preset: z
      .enum(presets.map(({ name }) => name))
      .optional()
      .describe(preset.description ?? ''),
  });
}

export type MappingConfig = z.output<typeof mappingSchema>;

/** Where one logical table comes from. Expressions are SQL of the warehouse, written by its operator or by a preset. */
export interface TableSource {
  readonly from: string;
  /** By logical column. Never wrap `time`, `trace_id` or `service_name` in a function: indexes would be lost. */
  readonly columns: Readonly<Record<string, string>>;
  readonly where?: string;
  /** What the tenant of a row is, in place of what the boundary says for all tables. */
  readonly tenant?: string;
  /** Beside the window on `time` itself, for tables whose sort key or partition is another expression. */
  readonly timeBounds?: readonly string[];
}

/** Several sources are one UNION ALL. Absent: the warehouse holds none. */
export type TableSources = { readonly [Name in TableName]?: readonly TableSource[] };

/** The columns of a physical table with the engine's names of their types; undefined when it does not exist. */
export type PhysicalColumns = (table: string) => Promise<ReadonlyMap<string, string> | undefined>;

export interface MappingPreset {
  readonly name: string;
  readonly title: string;
  /** Names that the config may change, with what they usually are. */
  readonly names: Readonly<Record<string, string>>;
  /** The sources that exist; a table without any is left out. Names are unquoted. */
  sources(names: Readonly<Record<string, string>>, columns: PhysicalColumns): Promise<TableSources>;
}

export interface ResolvedMapping {
  readonly preset: string | undefined;
  /** Every source has an expression for every logical column. */
  readonly tables: TableSources;
  /** Columns that the warehouse lacks, served as empties of their type. */
  readonly empties: readonly { readonly table: TableName; readonly column: string }[];
}

/** The tables that a mapping serves, with the columns marked that it has nothing for. */
export function servedTables({ tables, empties }: ResolvedMapping): readonly LogicalTable[] {
  return tableNames.filter((name) => tables[name] !== undefined).map((name) => served(name, empties));
}

function served(name: TableName, empties: ResolvedMapping['empties']): LogicalTable {
  const lacked = new Set(empties.flatMap(({ table, column }) => (table === name ? [column] : [])));
  const { columns, ...table }: LogicalTable = otelTables[name];
  return { ...table, columns: columns.map((column) => (lacked.has(column.name) ? emptied(column) : column)) };
}

function emptied(column: LogicalColumn): LogicalColumn {
  return { ...column, empty: true };
}

/** How a dialect writes what stands beneath a telemetry table. */
export interface RelationWriter {
  identifier(name: string): string;
  /** A moment as the dialect compares it with `time`. */
  timestamp(time: Date): string;
  /** Empty value of a column: '' 0 false, NULL where `nullable`, an empty map or array, typed. */
  empty(column: LogicalColumn): string;
  /** `mask` and `hash` of a text expression. */
  text(expression: string, action: 'mask' | 'hash', salt: string): string;
  /** A map, or a list of what has attributes, with the rules applied to them. */
  attributes(expression: string, type: AttributesType, rules: AttributeRules): string;
  /** The clauses after FROM: `tenant` must be evaluated before anything of the caller's (PREWHERE, a barrier). */
  filter(tenant: string | undefined, others: readonly string[]): string;
  /**
   * The whole SELECT over one source, for dialects where an alias of the list stands for a column of the table in the
   * filter, or where what comes before the caller's predicates depends on the source. Without it:
   * `SELECT <expression> AS <column>, … FROM <from> <filter(tenant, others)>`.
   */
  select?(
    columns: readonly (readonly [column: string, expression: string])[],
    from: string,
    tenant: string | undefined,
    others: readonly string[],
  ): string;
}

export type AttributeRules = Pick<ReadRules, 'salt'> & Pick<ReadRules['tables'][TableName], 'attributes'>;

export interface MappingHelpers {
  /** The config over the preset. Throws config_invalid naming the key: unknown preset, name, column, or a table without `from`. */
  resolve(
    config: MappingConfig,
    presets: readonly MappingPreset[],
    columns: PhysicalColumns,
    writer: Pick<RelationWriter, 'empty'>,
  ): Promise<ResolvedMapping>;
  /**
   * `(SELECT … FROM … tenant, window)`: what a telemetry table of a statement stands for. `tenant` is the predicate that
   * keeps organizations apart, undefined where the boundary lies elsewhere. Throws unknown_table for one that is absent.
   */
  relation(
    mapping: ResolvedMapping,
    table: TableName,
    bound: { readonly binding: StatementBinding; readonly tenant: string | undefined },
    writer: RelationWriter,
  ): string;
}

import { SightlineError } from '../../src/contract/core/index.ts';
import {
  boundaryIn,
  type MappingConfig,
  type MappingPreset,
  type ResolvedMapping,
  type TableName,
  type Tenancy,
} from '../../src/contract/telemetry/index.ts';
import { attributeText, identifier, textLiteral, type KeyStyle } from './literals.ts';

type Boundary = Tenancy['boundary'];

/** Which rows are the tenant's, and how its value is written. */
export interface TenantRows {
  readonly boundary: Boundary;
  readonly mapping: ResolvedMapping;
  readonly style: KeyStyle;
  /** SQL of the boundary's type. */
  readonly value: string;
}

/** Stands for what a source's rows are called: a column that the table lacks would be found around it, in the caller's SQL. */
const itsRows = '{rows}';

/** The predicate on the tenant beneath a table; undefined where its rows lie apart, or there is only one. */
export function tenantPredicate(rows: TenantRows, table: TableName): string | undefined {
  const { value } = rows;
  const boundary = boundaryIn(rows.boundary, rows.mapping.tables[table]?.[0]);
  switch (boundary.mode) {
    case 'none':
    case 'connection':
    case 'dataset':
    case 'table_template':
      return undefined;
    case 'column':
      return `${itsRows}.${identifier(boundary.column)} = ${value}`;
    case 'expression':
      return `(${boundary.expression}) = ${value}`;
    case 'resource_attribute':
      return attributePredicate(rows, table, 'resource_attributes', boundary.key);
    case 'attribute':
      return attributePredicate(rows, table, 'attributes', boundary.key);
    case 'database':
    case 'schema':
      throw new SightlineError('config_invalid', `telemetry.tenancy.boundary.mode: BigQuery has no ${boundary.mode}.`, {
        hint: 'Write dataset or table_template.',
      });
  }
}

/** A table is called by the last part of its path; for a join, `start` has found the column in it. */
export function named(predicate: string, from: string): string {
  const path = /^`?(?:[\w-]+[.:])*(?<table>[\w-]+)`?$/.exec(from)?.groups;
  const alias = path?.['table'] ?? /(?:\)|`|\s)\s*(?:AS\s+)?`?(\w+)`?$/i.exec(from)?.[1];
  return predicate.replaceAll(`${itsRows}.`, () =>
    alias === undefined || / JOIN |,/i.test(from) ? '' : `${identifier(alias)}.`,
  );
}

function attributePredicate(
  { mapping, style, value }: TenantRows,
  table: TableName,
  column: 'attributes' | 'resource_attributes',
  key: string,
): string | undefined {
  const expressions = new Set(mapping.tables[table]?.map((source) => source.columns[column] ?? ''));
  const [expression = ''] = expressions;
  // Of a table that is not there nothing is read.
  if (expressions.size === 0) return undefined;
  if (expressions.size > 1 || expression === '') {
    throw new SightlineError(
      'config_invalid',
      `telemetry.mapping.tables.${table}.columns.${column} differs by source.`,
      {
        hint: 'The tenant is read from it: map the same expression for every source, or set the tenancy by column.',
      },
    );
  }
  return `${attributeText(expression, key, style)} = ${value}`;
}

/** The tenant's value; that it fits the boundary's type was checked where it comes from. */
export function tenantLiteral(boundary: Boundary, tenant: string): string {
  return 'type' in boundary && boundary.type === 'int' ? String(BigInt(tenant)) : textLiteral(tenant);
}

/** Whether each tenant has names of its own, so that the mapping differs by tenant. */
export function namedByTenant({ mode }: Boundary): boolean {
  return mode === 'dataset' || mode === 'table_template';
}

/**
 * The mapping of one tenant: `{tenant}` in its names is the tenant. A template is what the preset's datasets are called
 * (`dataset`), or with `{table}` its tables (`table_template`), unless the config names them itself.
 */
export function mappingOfTenant(
  config: MappingConfig,
  boundary: Boundary,
  presets: readonly MappingPreset[],
  tenant: string,
): MappingConfig {
  if (boundary.mode !== 'dataset' && boundary.mode !== 'table_template') return config;
  const put = (text: string) => text.replaceAll('{tenant}', () => tenant);
  const preset = presets.find(({ name }) => name === config.preset);
  const names: Record<string, string> = {};
  for (const [key, usual] of Object.entries(preset?.names ?? {})) {
    const isDataset = key.endsWith('dataset');
    if (boundary.mode === 'dataset' && isDataset) names[key] = boundary.template;
    if (boundary.mode === 'table_template' && !isDataset && key !== 'keys') {
      names[key] = boundary.template.replaceAll('{table}', () => usual);
    }
  }
  Object.assign(names, config.names);
  checkApart(names, boundary.mode);
  const tables: MappingConfig['tables'] = {};
  for (const [table, source] of tableEntries(config)) {
    if (source === undefined || source === false || source.from === undefined) {
      Object.assign(tables, { [table]: source });
      continue;
    }
    if (!source.from.includes('{tenant}')) {
      throw new SightlineError('config_invalid', `telemetry.mapping.tables.${table}.from does not name the tenant.`, {
        hint: 'Put {tenant} where its name differs by organization.',
      });
    }
    Object.assign(tables, { [table]: { ...source, from: put(source.from) } });
  }
  return { ...config, names: Object.fromEntries(Object.entries(names).map(([key, name]) => [key, put(name)])), tables };
}

function tableEntries({ tables }: MappingConfig) {
  return [
    ['spans', tables.spans],
    ['metrics', tables.metrics],
    ['logs', tables.logs],
  ] as const;
}

/** A name without the tenant in it would be every tenant's. */
function checkApart(names: Readonly<Record<string, string>>, mode: 'dataset' | 'table_template'): void {
  for (const [key, name] of Object.entries(names)) {
    const isDataset = key.endsWith('dataset');
    if (key === 'keys' || name.includes('{tenant}') || isDataset !== (mode === 'dataset')) continue;
    throw new SightlineError('config_invalid', `telemetry.mapping.names.${key} does not name the tenant.`, {
      hint: 'Put {tenant} where its name differs by organization.',
    });
  }
}

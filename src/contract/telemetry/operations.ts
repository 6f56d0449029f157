import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SightlineError } from '../core/errors.ts';
import type { MappingConfig, ResolvedMapping, TableSource, TableSources, TenancyConfig, Tenant } from './mapping.ts';
import { otelTables, tableNames, type LogicalColumn, type TableName } from './schema.ts';
import type { Finding, InspectedPreset } from './warehouse.ts';

interface Configured {
  readonly mapping: MappingConfig;
  readonly tenancy: TenancyConfig;
}

export function isTenant(value: string): value is Tenant {
  return value !== '';
}

/** Of the values that tell tenants apart. */
export function tenantType(boundary: TenancyConfig['boundary']): 'string' | 'uuid' | 'int' {
  return 'type' in boundary ? boundary.type : 'string';
}

/** What tells tenants apart in one source. Throws config_invalid for a source that says so where names or logins do. */
export function boundaryIn(
  boundary: TenancyConfig['boundary'],
  source: TableSource | undefined,
): TenancyConfig['boundary'] {
  const expression = source?.tenant;
  if (expression === undefined) return boundary;
  if ('type' in boundary || 'key' in boundary) return { mode: 'expression', expression, type: tenantType(boundary) };
  throw new SightlineError(
    'config_invalid',
    `telemetry.mapping: a table has a tenant of its own, which tenancy.boundary ${boundary.mode} does not ask.`,
    { hint: 'Leave the tenant out there, or set the boundary to column or expression.' },
  );
}

/** The sources of one tenant, where names hold `{tenant}`. */
export function mappingFor(mapping: ResolvedMapping, tenant: Tenant): ResolvedMapping {
  const tables: { [Name in TableName]?: NonNullable<TableSources[Name]> } = {};
  for (const table of tableNames) {
    const sources = mapping.tables[table];
    if (sources === undefined) continue;
    tables[table] = sources.map((source) => namedFor(source, tenant));
  }
  return { ...mapping, tables };
}

function namedFor(source: TableSource, tenant: Tenant): TableSource {
  return { ...source, from: source.from.replaceAll('{tenant}', () => tenant) };
}

/** Throws config_invalid for a table that is not the tenant's own: it would be everybody's. */
export function expectApart({ tables }: ResolvedMapping, { mode }: TenancyConfig['boundary']): void {
  for (const table of tableNames) {
    const shared = tables[table]?.find(({ from }) => !from.includes('{tenant}'));
    if (shared === undefined) continue;
    throw new SightlineError(
      'config_invalid',
      `telemetry.mapping: otel.${table} would be the same for all organizations.`,
      {
        operatorMessage: `telemetry.mapping.tables.${table} reads ${shared.from}, in which {tenant} does not stand although telemetry.tenancy.boundary is ${mode}.`,
        hint: 'Put {tenant} into telemetry.mapping.names or into the table’s from.',
      },
    );
  }
}

/** Without the tables that have no source. */
export function sourcesOf(given: {
  readonly [Name in TableName]?: TableSource | readonly TableSource[] | undefined;
}): TableSources {
  const sources: { [Name in TableName]?: readonly TableSource[] } = {};
  for (const table of tableNames) {
    const found = [given[table] ?? []].flat();
    if (found.length > 0) sources[table] = found;
  }
  return sources;
}

/** SQL of a logical column in a table of our own layout. Rows of every type are stored with true or false for `is_monotonic`. */
export function ownColumn(name: string, quote: (name: string) => string = String): string {
  const column = quote(name);
  return name === 'is_monotonic' ? `CASE WHEN ${quote('type')} = 'sum' THEN ${column} END` : column;
}

/** The logical columns that a table of our own layout has, each by its name. */
export function ownColumnsOf(
  table: TableName,
  there: ReadonlyMap<string, string>,
  quote: (name: string) => string = String,
) {
  const known = otelTables[table].columns.filter(({ name }) => there.has(name));
  return Object.fromEntries(known.map(({ name }) => [name, ownColumn(name, quote)]));
}

export interface InspectionWords {
  /** A FROM item as an operator knows it. */
  from(from: string): string;
  /** What a query of a table is given that is not there. */
  readonly absent: string;
  empty(column: LogicalColumn): string;
}

/** What inspection tells of a preset: the tables there are, and what queries will not find. */
export function inspected(
  { tables, empties }: Pick<ResolvedMapping, 'tables' | 'empties'>,
  words: InspectionWords,
): Pick<InspectedPreset, 'found' | 'missing'> {
  const found = tableNames.flatMap((table) => {
    const names = (tables[table] ?? []).map(({ from }) => words.from(from));
    return names.length === 0 ? [] : [[table, names.join(', ')] as const];
  });
  const absent = tableNames.filter((table) => tables[table] === undefined);
  return {
    found: Object.fromEntries(found),
    missing: [
      ...absent.map((table) => ({ what: `otel.${table}`, instead: words.absent })),
      ...empties.map(({ table, column }) => {
        const columns: readonly LogicalColumn[] = otelTables[table].columns;
        const logical = columns.find(({ name }) => name === column);
        return { what: `otel.${table}.${column}`, instead: logical === undefined ? 'NULL' : words.empty(logical) };
      }),
    ],
  };
}

/** A table more is worth more than all columns of one. */
export function bestFirst(candidates: readonly InspectedPreset[]): readonly InspectedPreset[] {
  const worth = ({ found, missing }: InspectedPreset) => Object.keys(found).length * 100 - missing.length;
  return candidates.toSorted((one, other) => worth(other) - worth(one));
}

/** What is said of a check that holds, and of one that does not. */
export interface Verdict extends Omit<Finding, 'check' | 'status'> {
  readonly ok: string;
  /** Where it does not hold; a `fail` unless it says `warn`. */
  readonly status?: 'warn' | 'fail';
}

export function judged(check: string, holds: boolean, { ok, status = 'fail', ...broken }: Verdict): Finding {
  return holds ? { check, status: 'ok', detail: ok } : { check, status, ...broken };
}

const record = z.record(z.string(), z.string());

/**
 * What objects in a warehouse are made from, as a line that stays with them: mapping and tenancy, key by key. Organizations are
 * left out; `tenants` are those that have objects of their own.
 */
export function madeFrom({ mapping, tenancy }: Configured, tenants: readonly string[] = []): string {
  const keys = {
    mapping,
    tenancy: { boundary: tenancy.boundary, ...(tenants.length > 0 && { tenants: tenants.toSorted(byText) }) },
  };
  return JSON.stringify(Object.fromEntries(leaves(keys).toSorted(([one], [other]) => byText(one, other))));
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function leaves(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) {
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  }
  return Object.entries(value).flatMap(([key, item]) => leaves(item, path === '' ? key : `${path}.${key}`));
}

/** In words, where the config is another than what `made` says; undefined where `made` says nothing. */
export function changedSince(made: string, config: string): readonly string[] | undefined {
  const [then, now] = [made, config].map(parsed);
  if (then === undefined || now === undefined) return undefined;
  const told = (value: string | undefined) => (value === undefined ? 'absent' : `\`${value}\``);
  return [...new Set([...Object.keys(now), ...Object.keys(then)])]
    .filter((key) => now[key] !== then[key])
    .map((key) => `telemetry.${key} is ${told(now[key])} in the config and was ${told(then[key])} at the set-up`);
}

function parsed(json: string): Readonly<Record<string, string>> | undefined {
  try {
    return record.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

const mark = 'sightline-setup:';

/** What a set-up was printed for, part by part, short enough to be kept beside what it makes. Of a list the order is no matter. */
export function fingerprint(parts: Readonly<Record<string, readonly string[]>>): string {
  const digests = Object.entries(parts).map(([name, lines]) => {
    const digest = createHash('sha256').update(JSON.stringify(lines.toSorted())).digest('hex');
    return `${name}=${digest.slice(0, 12)}`;
  });
  return `${mark}${digests.join(',')}`;
}

/** Names of the parts that are not as they were printed; undefined where what is kept is no fingerprint. */
export function changedParts(kept: string, now: string): readonly string[] | undefined {
  if (!kept.startsWith(mark)) return undefined;
  const known = new Map(partsOf(kept));
  return partsOf(now).flatMap(([name, digest]) => (known.get(name) === digest ? [] : [name]));
}

function partsOf(text: string): readonly (readonly [name: string, digest: string])[] {
  return text
    .slice(mark.length)
    .split(',')
    .map((part) => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']);
}

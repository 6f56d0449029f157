import { mappingSchema, otelTables, tableNames } from '../../../src/contract/telemetry/index.ts';
import type {
  InspectedPreset,
  Inspection,
  MappingHelpers,
  PhysicalColumns,
  ResolvedMapping,
} from '../../../src/contract/telemetry/index.ts';
import { presets } from '../presets/index.ts';
import { tablePath, textOf } from '../quote.ts';
import { relationWriter } from '../relation-writer.ts';
import type { Rows } from '../quote.ts';
import { catalogue, columnsOf } from './catalogue.ts';
import { guess } from './guess.ts';
import { exporters, owns } from './named-presets.ts';
import type { NamedPreset } from './named-presets.ts';

/** Looks at every table that the account sees and says how it can be mapped, best first. */
export async function inspectWarehouse(rows: Rows, helpers: Pick<MappingHelpers, 'resolve'>): Promise<Inspection> {
  const [version] = await rows('SELECT version() AS version');
  const tables = await catalogue(rows);
  const columns = columnsOf(tables);
  const named: readonly NamedPreset[] = [...exporters(tables), ...owns(tables), { preset: 'signoz', names: {} }];
  const candidates: InspectedPreset[] = [];
  for (const one of named) {
    const preset = presets.find(({ name }) => name === one.preset);
    if (preset === undefined) continue;
    const sources = await preset.sources({ ...preset.names, ...one.names }, columns);
    if (Object.keys(sources).length === 0) continue;
    const names = Object.entries(one.names).filter(([key, name]) => preset.names[key] !== name);
    const mapping = { preset: preset.name, ...(names.length === 0 ? {} : { names: Object.fromEntries(names) }) };
    candidates.push(await candidate(preset.name, preset.title, mapping, columns, helpers));
  }
  const mapped = new Set(candidates.flatMap(({ found }) => Object.values(found).flatMap((list) => list.split(', '))));
  const others = guess(tables.filter(({ database, name }) => !mapped.has(tablePath(`${database}.${name}`))));
  if (candidates.length === 0 && others.length > 0) {
    const byHand = Object.fromEntries(
      others.map(({ table, from, columns: own }) => [
        table,
        { from: tablePath(`${from.database}.${from.name}`), columns: own },
      ]),
    );
    const title = 'No known layout: a start for a mapping by hand, told from the names of columns';
    candidates.push(await candidate('by hand', title, { tables: byHand }, columns, helpers));
  }
  return {
    server: `ClickHouse ${textOf(version?.['version'])}`,
    candidates: candidates.toSorted((one, two) => score(two) - score(one)),
  };
}

async function candidate(
  preset: string,
  title: string,
  mapping: Readonly<Record<string, unknown>>,
  columns: PhysicalColumns,
  { resolve }: Pick<MappingHelpers, 'resolve'>,
): Promise<InspectedPreset> {
  const writer = relationWriter({ json: new Set(), prewhere: new Set() });
  const resolved = await resolve(mappingSchema.parse(mapping), presets, columns, writer);
  const found = tableNames.flatMap((table) => {
    const from = (resolved.tables[table] ?? []).map((source) => source.from);
    return from.length === 0 ? [] : [[table, from.map((item) => item.split(' AS ')[0] ?? item).join(', ')] as const];
  });
  return { preset, title, mapping, found: Object.fromEntries(found), missing: missing(resolved) };
}

function missing({ tables, empties }: ResolvedMapping): InspectedPreset['missing'] {
  const absent = tableNames
    .filter((table) => tables[table] === undefined)
    .map((table) => ({ what: `otel.${table}`, instead: 'a query of it is told that the warehouse has none' }));
  const empty = empties.map(({ table, column }) => {
    const logical = otelTables[table].columns.find(({ name }) => name === column);
    const nullable = logical !== undefined && 'nullable' in logical;
    const scalar = logical?.type === 'string' ? "''" : logical?.type === 'boolean' ? 'false' : '0';
    const many =
      logical?.type === 'map' || logical?.type.endsWith('s') === true || logical?.type.endsWith('[]') === true;
    return { what: `otel.${table}.${column}`, instead: nullable ? 'NULL' : many ? 'an empty one' : scalar };
  });
  return [...absent, ...empty];
}

/** A table more is worth more than all columns of one. */
function score({ found, missing: lacking, preset }: InspectedPreset): number {
  return Object.keys(found).length * 100 - lacking.length - (preset === 'by hand' ? 50 : 0);
}

import { SightlineError } from '../../contract/core/index.ts';
import {
  otelTables,
  tableNames,
  type LogicalColumn,
  type MappingConfig,
  type MappingHelpers,
  type MappingPreset,
  type PhysicalColumns,
  type RelationWriter,
  type ResolvedMapping,
  type TableName,
  type TableSource,
  type TableSources,
} from '../../contract/telemetry/index.ts';
import { checkFragment, relation } from './relation.ts';

const section = 'telemetry.mapping';

/** What a column is where nothing else is said of it: another column of the same row. */
const sameAs: Readonly<Record<string, string>> = { start_time: 'time', observed_time: 'time' };

export const mappingHelpers: MappingHelpers = { resolve, relation };

async function resolve(
  config: MappingConfig,
  presets: readonly MappingPreset[],
  physical: PhysicalColumns,
  writer: Pick<RelationWriter, 'empty'>,
): Promise<ResolvedMapping> {
  const preset = choosePreset(config, presets);
  const given = preset === undefined ? {} : await preset.sources(namesOf(preset, config), physical);
  const empties: { table: TableName; column: string }[] = [];
  const tables: { [Name in TableName]?: readonly TableSource[] } = {};
  for (const table of tableNames) {
    const sources = sourcesOf(table, config, given);
    if (sources.length === 0) continue;
    const lacked = new Map<string, number>();
    tables[table] = sources.map((source) => complete(table, source, writer, lacked));
    for (const [column, times] of lacked) if (times === sources.length) empties.push({ table, column });
  }
  if (Object.keys(tables).length === 0) {
    const looked = preset === undefined ? '' : ` What the preset ${preset.name} looks for is not in the warehouse.`;
    throw wrong(`${section} maps no table.${looked}`, 'sightline telemetry inspect names the preset that fits.');
  }
  return { preset: preset?.name, tables, empties };
}

function choosePreset({ preset: name, names }: MappingConfig, presets: readonly MappingPreset[]) {
  const list = presets.map((preset) => preset.name).join(', ');
  if (name === undefined) {
    const [unused] = Object.keys(names);
    if (unused !== undefined) throw wrong(`${section}.names.${unused} belongs to no preset.`, `Presets: ${list}.`);
    return undefined;
  }
  const preset = presets.find((candidate) => candidate.name === name);
  if (preset === undefined) throw wrong(`${section}.preset: there is no preset "${name}".`, `Presets: ${list}.`);
  return preset;
}

function namesOf(preset: MappingPreset, { names }: MappingConfig): Readonly<Record<string, string>> {
  for (const name of Object.keys(names)) {
    if (Object.hasOwn(preset.names, name)) continue;
    const known = Object.keys(preset.names).join(', ');
    throw wrong(`${section}.names.${name}: the preset ${preset.name} has no such name.`, `It has ${known}.`);
  }
  return { ...preset.names, ...names };
}

/** `from` in the config is a table of its own; without it the config changes the preset's. */
function sourcesOf(table: TableName, { tables }: MappingConfig, given: TableSources): readonly TableSource[] {
  const own = tables[table];
  const preset = given[table] ?? [];
  if (own === false) return [];
  if (own === undefined) return preset;
  const key = `${section}.tables.${table}`;
  checkColumns(table, Object.keys(own.columns), key);
  const { columns, where, tenant, timeBounds } = own;
  checkFragment(own.from ?? '', `${key}.from`);
  checkFragment(where ?? '', `${key}.where`);
  checkFragment(tenant ?? '', `${key}.tenant`);
  for (const [column, expression] of Object.entries(columns)) checkFragment(expression, `${key}.columns.${column}`);
  for (const [index, bound] of timeBounds?.entries() ?? []) checkFragment(bound, `${key}.timeBounds.${index}`);
  const rest = {
    ...(where === undefined ? {} : { where }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(timeBounds === undefined ? {} : { timeBounds }),
  };
  if (own.from !== undefined) return [{ from: own.from, columns, ...rest }];
  if (preset.length === 0) throw wrong(`${key}.from is missing.`, 'Name the table that it comes from.');
  return preset.map(({ from, ...source }): TableSource =>
    Object.assign(source, { from }, rest, { columns: Object.assign({}, source.columns, columns) }),
  );
}

function checkColumns(table: TableName, names: readonly string[], key: string): void {
  const known: readonly LogicalColumn[] = otelTables[table].columns;
  for (const name of names) {
    if (known.some((column) => column.name === name)) continue;
    const list = known.map((column) => column.name).join(', ');
    throw wrong(`${key}.columns.${name}: otel.${table} has no such column.`, `It has ${list}.`);
  }
}

function complete(
  table: TableName,
  source: TableSource,
  writer: Pick<RelationWriter, 'empty'>,
  /** By column, how many of the sources lack it. */
  lacked: Map<string, number>,
): TableSource {
  const key = `${section}.tables.${table}`;
  checkColumns(table, Object.keys(source.columns), key);
  if (source.columns['time'] === undefined) {
    throw wrong(`${key}.columns.time is missing.`, 'Every table needs its time: queries are bounded by it.');
  }
  const known: readonly LogicalColumn[] = otelTables[table].columns;
  const columns = known.map((column) => {
    const expression = source.columns[column.name] ?? source.columns[sameAs[column.name] ?? ''];
    if (expression === undefined) lacked.set(column.name, (lacked.get(column.name) ?? 0) + 1);
    return [column.name, expression ?? writer.empty(column)] as const;
  });
  return { ...source, columns: Object.fromEntries(columns) };
}

function wrong(message: string, hint: string): SightlineError {
  return new SightlineError('config_invalid', message, { hint });
}

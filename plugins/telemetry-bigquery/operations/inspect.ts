import {
  bestFirst,
  inspected,
  mappingSchema,
  tableNames,
  type InspectedPreset,
  type Inspection,
  type InspectionWords,
  type MappingPreset,
  type PhysicalColumns,
  type TelemetryHost,
} from '../../../src/contract/telemetry/index.ts';
import type { Api } from '../api.ts';
import { physicalColumns } from '../cells.ts';
import { RunningJob } from '../jobs.ts';
import { keyPath, textLiteral } from '../literals.ts';
import { presets } from '../config.ts';
import { sinkTables, type SinkTable } from './sinks.ts';
import type { Warehouse } from '../warehouse.ts';
import { relationWriter } from '../writer.ts';

const sampleTimeoutMs = 20_000;

/** Tries every preset on every dataset that the config names. */
export async function inspect(warehouse: Warehouse, host: TelemetryHost, signal: AbortSignal): Promise<Inspection> {
  const { projectId, location, datasets } = warehouse.config;
  const api = await warehouse.api(undefined);
  const columns = physicalColumns(api, signal);
  const candidates: InspectedPreset[] = [];
  for (const preset of presets) {
    const tried = await Promise.all(
      namesToTry(preset, datasets).map((names) => tryPreset(preset, names, host, columns, warehouse, signal)),
    );
    const [best] = bestFirst(tried.filter((found) => found !== undefined));
    if (best !== undefined) candidates.push(best);
  }
  const byHand = await ofSinks(datasets, host, api, columns, signal);
  candidates.push(...(byHand === undefined ? [] : [byHand]));
  return { server: `BigQuery, project ${projectId}, ${location}`, candidates: bestFirst(candidates) };
}

/** The first table of logs and the first of spans that sinks wrote; of the others their titles. */
async function ofSinks(
  datasets: readonly string[],
  host: TelemetryHost,
  api: Api,
  columns: PhysicalColumns,
  signal: AbortSignal,
): Promise<InspectedPreset | undefined> {
  const all: SinkTable[] = [];
  for (const dataset of datasets) all.push(...(await sinkTables(dataset, api, columns, signal)));
  const chosen = (['spans', 'logs'] as const).flatMap((name) => all.find(({ table }) => table === name) ?? []);
  if (chosen.length === 0) return undefined;
  const tables = Object.fromEntries(chosen.map(({ table, source }) => [table, source]));
  const absent = tableNames.filter((name) => tables[name] === undefined);
  const mapping = { tables: { ...tables, ...Object.fromEntries(absent.map((name) => [name, false])) } };
  const resolved = await host.mapping.resolve(
    mappingSchema.parse(mapping),
    presets,
    columns,
    relationWriter({ guarded: false }),
  );
  const others = all.filter((each) => !chosen.includes(each));
  return {
    preset: 'by hand',
    title: chosen.map(({ title }) => title).join('; '),
    mapping,
    notes: [
      ...chosen.flatMap(({ notes }) => notes),
      ...others.map(({ table, source }) => ({
        what: `otel.${table}`,
        found: `${source.from.replaceAll('`', '')} is another: read them together by a view with UNION ALL`,
      })),
    ],
    ...inspected(resolved, words),
  };
}

/** The preset's usual datasets, then each of the config's in all places, and in each place alone. */
function namesToTry(preset: MappingPreset, datasets: readonly string[]): readonly Readonly<Record<string, string>>[] {
  const places = Object.keys(preset.names).filter((name) => name.endsWith('dataset'));
  const tries: Record<string, string>[] = [{}];
  for (const dataset of datasets) {
    tries.push(Object.fromEntries(places.map((place) => [place, dataset])));
  }
  const [first, second] = places;
  if (first !== undefined && second !== undefined) {
    for (const one of datasets) {
      for (const other of datasets) if (one !== other) tries.push({ [first]: one, [second]: other });
    }
  }
  return tries.slice(0, 100);
}

async function tryPreset(
  preset: MappingPreset,
  names: Readonly<Record<string, string>>,
  host: TelemetryHost,
  columns: PhysicalColumns,
  warehouse: Warehouse,
  signal: AbortSignal,
): Promise<InspectedPreset | undefined> {
  const sources = await preset.sources({ ...preset.names, ...names }, columns);
  const [sample] = tableNames.flatMap((table) => (sources[table] ?? []).map(({ from }) => from));
  if (sample === undefined) return undefined;
  const api = await warehouse.api(undefined);
  const style =
    'keys' in preset.names && (await keysAreNested(sample, api, warehouse, signal)) ? { keys: 'nested' } : {};
  const written = { preset: preset.name, names: { ...names, ...style } };
  const config = mappingSchema.parse(written);
  const { empties } = await host.mapping.resolve(config, presets, columns, relationWriter({ guarded: false }));
  return {
    preset: preset.name,
    title: preset.title,
    mapping: Object.keys(written.names).length === 0 ? { preset: preset.name } : written,
    ...inspected({ tables: sources, empties }, words),
  };
}

const words: InspectionWords = {
  from: (from) => from.replaceAll('`', ''),
  absent: 'an error that names the tables there are',
  empty: ({ nullable }) => (nullable ? 'NULL' : 'an empty value'),
};

/** Looks at a thousand rows of the last day; where there are none, or they cannot be read, keys are taken for flat. */
async function keysAreNested(from: string, api: Api, warehouse: Warehouse, signal: AbortSignal): Promise<boolean> {
  const has = (style: 'flat' | 'nested') =>
    `COUNTIF(JSON_VALUE(resource_attributes, ${textLiteral(keyPath('service.name', style) ?? '$')}) IS NOT NULL)`;
  const recent = 'WHERE _PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 DAY)';
  const sql = `SELECT ${has('nested')} > ${has('flat')} FROM (SELECT resource_attributes FROM ${from} ${recent} LIMIT 1000)`;
  const until = AbortSignal.any([signal, AbortSignal.timeout(sampleTimeoutMs)]);
  const job = new RunningJob(api, warehouse.job(sql, ''), sampleTimeoutMs, until);
  try {
    const { rows } = await job.page(undefined, 1, until);
    return rows[0]?.f[0]?.v === 'true';
  } catch {
    await job.cancel().catch(() => {});
    return false;
  }
}

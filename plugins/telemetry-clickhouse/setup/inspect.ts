import {
  bestFirst,
  inspected,
  mappingSchema,
  tableNames,
  type InspectedPreset,
  type Inspection,
  type TelemetryHost,
  type PhysicalColumns,
  type InspectionWords,
  type MappingConfig,
} from '../../../src/contract/telemetry/index.ts';
import { presets } from '../presets/index.ts';
import { textOf, type Rows } from '../quote.ts';
import { relationWriter } from '../relation-writer.ts';
import { catalogue, columnsOf, type FoundTable } from './profile.ts';
import { sighted, valueReader } from './values.ts';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { ownColumns } from './own-tables.ts';

const map = 'Map(LowCardinality(String), String)';
const exporter: ReadonlyMap<string, string> = new Map([
  ['Timestamp', 'DateTime64(9)'],
  ['TimeUnix', 'DateTime64(9)'],
  ['ResourceAttributes', map],
  ['SpanAttributes', map],
  ['LogAttributes', map],
  ['Attributes', map],
]);

/** What decides about access: times, and what tells tenants apart, as the presets' tables usually have it. */
const usual: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  'otel-collector': exporter,
  clickstack: exporter,
  signoz: new Map([
    ['timestamp', 'DateTime64(9)'],
    ['resources_string', map],
    ['attributes_string', map],
    ['attributes_number', 'Map(LowCardinality(String), Float64)'],
    ['attributes_bool', 'Map(LowCardinality(String), Bool)'],
    ['labels', 'String'],
    ['attrs', map],
    ['resource_attrs', map],
  ]),
  sightline: new Map(tableNames.flatMap(ownColumns).map(({ name, type }) => [name, type])),
};

/** Whether the login sees any table: before the set-up it may not exist, or may read nothing. */
export async function seesTables(rows: Rows): Promise<boolean> {
  try {
    const found = await rows(
      "SELECT 1 FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') LIMIT 1",
    );
    return found.length > 0;
  } catch (error) {
    if (error instanceof SightlineError && error.code === 'telemetry_unavailable') return false;
    throw error;
  }
}

/** A mapping's tables in their usual layout, for a server that cannot be inspected. */
export class UnseenTables {
  readonly #columns: ReadonlyMap<string, string> | undefined;
  readonly #named = new Set<string>();

  constructor({ preset = '', tables }: MappingConfig) {
    this.#columns = usual[preset];
    for (const name of tableNames) {
      const source = tables[name];
      if (source !== undefined && source !== false && source.from !== undefined) {
        this.#named.add(source.from.replaceAll('`', ''));
      }
    }
  }

  /** For a preset: whatever it looks for is there. */
  readonly lookedFor: PhysicalColumns = async (path) => {
    if (this.#columns !== undefined) this.#named.add(path);
    return this.#columns;
  };

  /** What a preset looked for, or the config names; in the FROM of a join nothing else that looks like a table. */
  readonly there: PhysicalColumns = async (path) => {
    const known = [...this.#named].some((name) => ofTenants(name).test(path));
    return known ? (this.#columns ?? new Map()) : undefined;
  };
}

function ofTenants(name: string): RegExp {
  const parts = name.split('{tenant}').map((part) => part.replaceAll(/[\\^$.*+?()[\]|{}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[A-Za-z0-9_-]+')}$`);
}

/** Looks at every table that the account sees and says how it can be mapped, best first. */
export async function inspectWarehouse(
  rows: Rows,
  { mapping: helpers, values }: Pick<TelemetryHost, 'mapping' | 'values'>,
): Promise<Inspection> {
  const [version] = await rows('SELECT version() AS version');
  const tables = await catalogue(rows);
  const columns = columnsOf(tables);
  const named: readonly NamedPreset[] = [...exporters(tables), ...owns(tables), { preset: 'signoz', names: {} }];
  const found: InspectedPreset[] = [];
  for (const one of named) {
    const preset = presets.find(({ name }) => name === one.preset);
    if (preset === undefined) continue;
    const sources = await preset.sources({ ...preset.names, ...one.names }, columns);
    if (Object.keys(sources).length === 0) continue;
    const names = Object.entries(one.names).filter(([key, name]) => preset.names[key] !== name);
    const config = { preset: preset.name, ...(names.length === 0 ? {} : { names: Object.fromEntries(names) }) };
    found.push(...(await candidate(preset.name, preset.title, config)));
  }
  if (found.length === 0) {
    found.push(...(await candidate('by hand', 'No known layout: a mapping told from names and values of columns')));
  }
  return { server: `ClickHouse ${textOf(version?.['version'])}`, candidates: bestFirst(found) };

  async function candidate(preset: string, title: string, config?: object): Promise<readonly InspectedPreset[]> {
    const resolved = async (mapping: object) =>
      await helpers.resolve(
        mappingSchema.parse(mapping),
        presets,
        columns,
        relationWriter({ json: new Set(), prewhere: new Set() }),
      );
    const known = config && { config: mappingSchema.parse(config), mapping: await resolved(config) };
    const proposal = await values.propose(known, tables.map(sighted), valueReader(rows));
    if (proposal === undefined) return [];
    const { mapping, notes } = proposal;
    return [{ preset, title, mapping, notes, ...inspected(await resolved(mapping), words) }];
  }
}

const words: InspectionWords = {
  from: (from) => from.split(' AS ')[0] ?? from,
  absent: 'a query of it is told that the warehouse has none',
  empty({ type, nullable }) {
    if (nullable) return 'NULL';
    if (type === 'string') return "''";
    if (type === 'boolean') return 'false';
    return type === 'int64' || type === 'float64' || type === 'timestamp' ? '0' : 'an empty one';
  },
};

interface NamedPreset {
  readonly preset: string;
  readonly names: Readonly<Record<string, string>>;
}

/** The columns by which a table of the Collector's exporter is known, whatever it is called. */
const exporterSigns: Readonly<Record<string, (has: (...names: readonly string[]) => boolean) => boolean>> = {
  traces: (has) => has('Timestamp', 'TraceId', 'SpanName', 'SpanAttributes'),
  logs: (has) => has('Timestamp', 'Body', 'SeverityNumber', 'LogAttributes'),
  metrics_gauge: (has) => has('TimeUnix', 'MetricName', 'Value') && !has('IsMonotonic'),
  metrics_sum: (has) => has('TimeUnix', 'MetricName', 'Value', 'IsMonotonic'),
  metrics_histogram: (has) => has('TimeUnix', 'MetricName', 'BucketCounts'),
  metrics_exponential_histogram: (has) => has('TimeUnix', 'MetricName', 'PositiveBucketCounts'),
  metrics_summary: (has) => has('TimeUnix', 'MetricName', 'ValueAtQuantiles.Quantile'),
};

/** Where the exporter's tables are: one for each database that has one of them, ClickStack's told from the Collector's. */
function exporters(tables: readonly FoundTable[]): readonly NamedPreset[] {
  return [...Map.groupBy(tables, ({ database }) => database)].flatMap(([database, there]) => {
    const names: Record<string, string> = {};
    for (const [key, sign] of Object.entries(exporterSigns)) {
      const like = there.filter(({ columns }) => sign((...wanted) => wanted.every((name) => columns.has(name))));
      const best = bestOf(like, `otel_${key}`);
      if (best !== undefined) names[key] = best.name;
    }
    if (Object.keys(names).length === 0) return [];
    const ofClickStack = there.some(
      ({ name, columns }) =>
        name === 'hyperdx_sessions' || [...columns.keys()].some((column) => column.startsWith('__hdx_')),
    );
    return [{ preset: ofClickStack ? 'clickstack' : 'otel-collector', names: { database, ...names } }];
  });
}

/** Tables of our own, in each database that has some. */
function owns(tables: readonly FoundTable[]): readonly NamedPreset[] {
  const ours = tables.filter(({ columns }) =>
    ['organization', 'time', 'resource_attributes'].every((name) => columns.has(name)),
  );
  return [...Map.groupBy(ours, ({ database }) => database)].map(([database, there]) => {
    const named = (key: string, sign: string) => {
      const best = bestOf(
        there.filter(({ columns }) => columns.has(sign)),
        `sightline_${key}`,
      );
      return best === undefined ? {} : { [key]: best.name };
    };
    return {
      preset: 'sightline',
      names: {
        database,
        ...named('spans', 'span_id'),
        ...named('metrics', 'aggregation_temporality'),
        ...named('logs', 'body'),
      },
    };
  });
}

/** The usual name, then a Distributed table, which has the rows of all shards, then the fullest. */
function bestOf(tables: readonly FoundTable[], usual: string): FoundTable | undefined {
  return (
    tables.find(({ name }) => name === usual) ?? tables.find(({ engine }) => engine === 'Distributed') ?? tables.at(0)
  );
}

import { SightlineError } from '../../../src/contract/core/index.ts';
import { tableNames } from '../../../src/contract/telemetry/index.ts';
import type { MappingConfig, PhysicalColumns } from '../../../src/contract/telemetry/index.ts';
import type { Rows } from '../quote.ts';
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

/** A mapping's tables where nobody can look, as they usually are. */
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

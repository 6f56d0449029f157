import { SightlineError } from '../../src/contract/core/index.ts';
import {
  expectApart,
  mappingFor,
  type MappingConfig,
  type RelationWriter,
  type ResolvedMapping,
  type StatementBinding,
  type TableName,
  type TableSource,
  type TelemetryHost,
  type Tenancy,
  type Tenant,
} from '../../src/contract/telemetry/index.ts';
import { withJson, type ReadMapping } from './json-attributes.ts';
import { named, physicalColumns } from './types.ts';
import { presets } from './presets/index.ts';
import { literal, type Rows } from './quote.ts';
import { relationWriter } from './relation-writer.ts';
import { tenantExpression, tenantPredicate } from './tenant.ts';

/** The FROM items of a mapping whose engine takes PREWHERE. Views, joins and whatever cannot be looked up are not among them. */
export async function prewhereSources(rows: Rows, { tables }: ResolvedMapping): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (!(await hasAnalyzer(rows))) return found;
  for (const { from } of Object.values(tables).flat()) {
    const path = /^((?<database>[^.\s()]+)\.)?(?<table>[^.\s()]+)$/.exec(from.replaceAll('`', ''))?.groups;
    if (path === undefined) continue;
    const engines = await rows(
      `SELECT DISTINCT engine FROM system.tables WHERE ${named('name', path['table'] ?? '')}
         AND ${path['database'] === undefined ? 'database = currentDatabase()' : named('database', path['database'])}`,
    );
    const takes = engines.every(
      ({ engine }) => typeof engine === 'string' && /MergeTree$|^(Distributed|Merge|Buffer)$/.test(engine),
    );
    if (engines.length > 0 && takes) found.add(from);
  }
  return found;
}

/**
 * Without its analyzer (before 24.3, with `enable_analyzer = 0` or an old `compatibility`) the engine computes PREWHERE and
 * a caller's predicate in one go, and errors of the latter tell of other tenants' rows.
 */
async function hasAnalyzer(rows: Rows): Promise<boolean> {
  const found = await rows(
    "SELECT value FROM system.settings WHERE name IN ('allow_experimental_analyzer', 'enable_analyzer')",
  );
  return found.length > 0 && found.every(({ value }) => value === '1');
}

type Boundary = Tenancy['boundary'];

/** What stands beneath the telemetry tables of this warehouse, for one tenant at a time. */
export class Mapped {
  readonly mapping: ResolvedMapping;
  readonly json: ReadMapping['json'];
  readonly jsonNames: ReadMapping['jsonNames'];
  readonly #boundary: Boundary;
  readonly #helpers: TelemetryHost['mapping'];
  readonly #writer: RelationWriter;

  private constructor(
    { mapping, json, jsonNames }: ReadMapping,
    writer: RelationWriter,
    boundary: Boundary,
    helpers: TelemetryHost['mapping'],
  ) {
    this.mapping = mapping;
    this.json = json;
    this.jsonNames = jsonNames;
    this.#writer = writer;
    this.#boundary = boundary;
    this.#helpers = helpers;
  }

  /** Throws config_invalid where the mapping does not fit the warehouse or the boundary. */
  static async read(
    rows: Rows,
    config: MappingConfig,
    boundary: Boundary,
    helpers: TelemetryHost['mapping'],
  ): Promise<Mapped> {
    const unknown = relationWriter({ json: new Set(), prewhere: new Set() });
    const resolved = await helpers.resolve(inTemplate(config, boundary), presets, physicalColumns(rows), unknown);
    if ('template' in boundary) expectApart(resolved, boundary);
    const read = await withJson(rows, resolved);
    const writer = relationWriter({ json: read.json, prewhere: await prewhereSources(rows, read.mapping) });
    const mapped = new Mapped(read, writer, boundary, helpers);
    await mapped.#tryOut(rows);
    return mapped;
  }

  /** `(SELECT …)` with this tenant's rows alone. */
  relation(table: TableName, tenant: Tenant, binding: StatementBinding): string {
    const sources = this.mapping.tables[table] ?? [];
    const predicate = tenantPredicate(this.#boundary, tenant, sources, this.json);
    const mapping = 'template' in this.#boundary ? forTenant(this.mapping, tenant) : this.mapping;
    return this.#helpers.relation(mapping, table, { binding, tenant: predicate }, this.#writer);
  }

  /** Every expression is read once by the engine, so that a wrong one stops the start and not every query. */
  async #tryOut(rows: Rows): Promise<void> {
    if ('template' in this.#boundary) return;
    for (const [table, sources] of Object.entries(this.mapping.tables)) {
      for (const source of sources) {
        try {
          await rows(`DESCRIBE TABLE (SELECT ${this.#expressions(source).join(', ')} FROM ${source.from})`);
        } catch (cause) {
          const engine = cause instanceof SightlineError && cause.cause instanceof Error ? cause.cause.message : '';
          throw new SightlineError('config_invalid', `telemetry.mapping does not fit the warehouse: otel.${table}.`, {
            operatorMessage: `telemetry.mapping.tables.${table}: ClickHouse does not read what it maps from ${source.from}: ${engine.slice(0, 500)}`,
            hint: 'sightline telemetry inspect prints a mapping that fits.',
            cause,
          });
        }
      }
    }
  }

  #expressions(source: TableSource): readonly string[] {
    const moment = this.#writer.timestamp(new Date(0));
    return [
      ...Object.values(source.columns),
      tenantExpression(this.#boundary, source, this.json) ?? '1',
      source.where ?? '1',
      ...(source.timeBounds ?? []).map((bound) => bound.replaceAll(/\{(?:start|end)\}/g, () => moment)),
    ].map((expression, index) => `(${expression}) AS _${index}`);
  }
}

/** Where names keep tenants apart, a preset's tables have the tenant's, unless the config names them itself. */
export function inTemplate(config: MappingConfig, boundary: Boundary): MappingConfig {
  const preset = presets.find(({ name }) => name === config.preset);
  if (preset === undefined) return config;
  if (boundary.mode === 'database') {
    if (!('database' in preset.names)) return config;
    return { ...config, names: { database: boundary.template, ...config.names } };
  }
  if (boundary.mode !== 'table_template' || !boundary.template.includes('{table}')) return config;
  const { template } = boundary;
  const tables = Object.entries(preset.names).filter(([key]) => !/(^|_)database$/.test(key));
  const names = tables.map(([key, usual]) => [key, template.replaceAll('{table}', () => usual)]);
  return { ...config, names: { ...Object.fromEntries(names), ...config.names } };
}

/** The tenancy lets no character through here that would have to be quoted. */
export function forTenant(mapping: ResolvedMapping, tenant: Tenant): ResolvedMapping {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(tenant)) throw new TypeError(`a tenant that fits no name: ${literal(tenant)}`);
  return mappingFor(mapping, tenant);
}

import type { Health, SightlineError } from '../../src/contract/core/index.ts';
import {
  labelComment,
  notConnected,
  servedTables,
  tableNames,
  type CheckedStatement,
  type Cursor,
  type ParsedStatement,
  type QueryLimits,
  type ResolvedMapping,
  type ScanEstimate,
  type StatementBinding,
  type StatementContext,
  type TableName,
  type Telemetry,
  type TelemetryHost,
  type TelemetrySink,
  type Tenancy,
} from '../../src/contract/telemetry/index.ts';
import { relationFor } from './boundary.ts';
import { ask, physicalColumns, serverVersion } from './catalog.ts';
import type { PostgresConfig } from './config.ts';
import type { Connections } from './connections.ts';
import { PostgresDialect } from './dialect.ts';
import { estimateOf } from './estimate.ts';
import { explain } from './failures.ts';
import { functionNames, openGate, type PostgresGate } from './gate/index.ts';
import { createSink } from './ingest/sink.ts';
import { KnownSmall, notKept } from './known-small.ts';
import { readOnce, resolveLayout } from './layout.ts';
import { PostgresOperations } from './operations.ts';
import { Pipelines } from './pipelines.ts';
import { openStatement } from './query.ts';
import { boundaryOf, checkEncryption, checkIngest, clientOf, wrong, type BoundaryKind } from './settings.ts';
import { type SentWindow, stepsAfter, StepsBefore, TenantTokens, windowSettings } from './steps.ts';
import { sessionsChange, Warehouses } from './warehouses.ts';

interface Started {
  readonly gate: PostgresGate;
  readonly warehouses: Warehouses;
  readonly layout: ResolvedMapping;
  readonly tokens: TenantTokens | undefined;
  /** The views read the window from the session. */
  readonly windowed: boolean;
}

/** Telemetry in PostgreSQL: whatever its tables are called, behind the gate and the database's own boundary. */
export class PostgresTelemetry implements Telemetry {
  readonly dialect = new PostgresDialect(functionNames);
  readonly sink?: TelemetrySink;
  readonly operations: PostgresOperations;
  readonly #config: PostgresConfig;
  readonly #host: TelemetryHost;
  readonly #kind: BoundaryKind;
  readonly #tenancy: Tenancy;
  readonly #ingest;
  readonly #small = new KnownSmall();
  readonly #pipelines = new Pipelines();
  readonly #stepsBefore = new StepsBefore();
  #warehouses: Warehouses | undefined;
  #started: Started | undefined;

  constructor(config: PostgresConfig, host: TelemetryHost) {
    this.#kind = boundaryOf(config);
    checkIngest(config);
    checkEncryption(config);
    if (config.tenancy.boundary.mode !== 'connection') clientOf(config);
    this.#config = config;
    this.#host = host;
    this.#tenancy = host.tenancy.open(config.tenancy);
    this.#ingest = createSink(config, this.#tenancy, host.logger);
    if (this.#ingest !== undefined) this.sink = this.#ingest.sink;
    this.operations = new PostgresOperations({ config, kind: this.#kind, host });
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const gate = await openGate(this.#host.sql);
    this.#warehouses = new Warehouses(this.#config, this.#host.logger);
    const warehouses = this.#warehouses;
    const version = await serverVersion(warehouses.main, signal);
    if (await sessionsChange(this.#config, this.#host.logger, signal)) {
      throw wrong(
        "telemetry.url leads through a pooler in transaction mode: the server's session changes with each transaction.",
        'Name the server itself, or a pool in session mode: pool_mode = session (PgBouncer), port 5432 in place of 6543 (Supabase), the host without -pooler (Neon).',
      );
    }
    const physical = physicalColumns(warehouses.main, signal);
    const layout = await resolveLayout(this.#kind, this.#config, this.#host, physical);
    if (this.#kind === 'substitution')
      await readOnce(this.#config, this.#host.mapping, layout, warehouses.main, signal);
    await this.#ingest?.start(signal);
    this.dialect.found(version, servedTables(layout));
    const tokens = this.#tokens();
    const windowed =
      tokens !== undefined && (await asksForWindow(this.#config.boundary.schema, warehouses.main, signal));
    this.#started = { gate, warehouses, layout, tokens, windowed };
  }

  async stop(): Promise<void> {
    this.#started = undefined;
    await Promise.all([this.#warehouses?.end(), this.#ingest?.stop()]);
  }

  async health(signal: AbortSignal): Promise<Health> {
    if (this.#started === undefined) return { ok: false, detail: 'not started' };
    const { warehouses } = this.#started;
    try {
      await ask(warehouses.main, 'SELECT 1', [], signal);
      return { ok: true, detail: `${warehouses.open} ${warehouses.open === 1 ? 'connection' : 'connections'} open` };
    } catch {
      return { ok: false, detail: 'the PostgreSQL server does not answer' };
    }
  }

  async parse(sql: string): Promise<ParsedStatement> {
    return await this.#running.gate.parse(sql);
  }

  check(parsed: ParsedStatement): CheckedStatement {
    return this.#running.gate.check(parsed);
  }

  async render(checked: CheckedStatement, binding: StatementBinding, context: StatementContext): Promise<string> {
    const { gate, layout } = this.#running;
    const tenant = await this.#tenancy.tenantOf(context.organizationId);
    const mode = this.#tenancy.boundary;
    const template = gate.template(checked);
    const { mapping } = this.#host;
    const relation = (table: TableName) => relationFor({ table, binding, tenant }, this.#kind, mode, layout, mapping);
    const text = this.#kind === 'substitution' ? template.writeApart(relation) : template.write(relation);
    const windowed = this.#running.windowed ? text + windowComment(binding.window) : text;
    const sent = template.isOfItsMoment ? windowed + notKept : windowed;
    if (template.saysFewRows) this.#small.expect(tenant, sent);
    return sent;
  }

  async open(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    try {
      const { warehouses, tokens } = this.#running;
      const tenant = await this.#tenancy.tenantOf(context.organizationId);
      const timeoutMs = Math.min(limits.timeoutMs, this.#config.statementTimeoutSeconds * 1_000);
      return await openStatement(
        {
          connections: warehouses.of(tenant),
          tenant,
          before: this.#stepsBefore.of(timeoutMs, tokens?.for(tenant) ?? '', windowIn(rendered)),
          text: rendered,
          label: context.label,
          after: stepsAfter,
          small: this.#small,
          limits: { ...limits, timeoutMs },
          signal: context.signal,
          explain: (error, sent) => this.#explain(error, rendered, context, sent),
        },
        this.#pipelines,
      );
    } catch (error) {
      throw this.#explain(error, rendered, context);
    }
  }

  async estimate(rendered: string, context: StatementContext): Promise<ScanEstimate> {
    const text = `EXPLAIN (VERBOSE, FORMAT JSON) ${rendered}`;
    try {
      const cursor = await this.open(text, estimateLimits, context);
      const tenant = await this.#tenancy.tenantOf(context.organizationId);
      return await estimateOf(cursor, this.#running.warehouses.of(tenant), context.signal);
    } catch (error) {
      throw this.#explain(error, text, context);
    }
  }

  #explain(
    error: unknown,
    text: string,
    { label }: StatementContext,
    sent = labelComment(label) + text,
  ): SightlineError {
    const { tables = {} } = this.#started?.layout ?? {};
    const sources = Object.values(tables).flatMap((each) => each.map(({ from }) => from));
    return explain(error, { helpers: this.#host.sql, sent, tables: this.#tablesIn(text), sources });
  }

  #tokens(): TenantTokens | undefined {
    const { secret, tokenSeconds } = this.#config.boundary;
    if (this.#kind !== 'views' || secret === undefined) return undefined;
    return new TenantTokens(secret, tokenSeconds * 1_000, this.#host.now);
  }

  get #running(): Started {
    if (this.#started === undefined) throw notConnected();
    return this.#started;
  }

  #tablesIn(rendered: string): readonly TableName[] {
    const { tables } = this.#started?.layout ?? {};
    return tableNames.filter((table) =>
      (tables?.[table] ?? []).some(({ from }) => rendered.includes(from.split('{tenant}', 1)[0] ?? from)),
    );
  }
}

/** Goes with what is sent, from which it is set in the session. The gate lets no comment of a caller's through. */
function windowComment({ start, end }: NonNullable<StatementBinding['window']> = {}): string {
  const written = (time?: Date) => /^\d{4}-\S*$/.exec(time?.toISOString() ?? '')?.[0] ?? '';
  return ` /* window ${written(start)} ${written(end)} */`;
}

function windowIn(rendered: string): SentWindow {
  const at = rendered.lastIndexOf(' /* window ');
  const [, start = '', end = ''] = /^ \/\* window (\S*) (\S*) \*\//.exec(at === -1 ? '' : rendered.slice(at)) ?? [];
  return { start, end };
}

async function asksForWindow(schema: string, connections: Connections, signal: AbortSignal): Promise<boolean> {
  const text = `SELECT FROM pg_catalog.pg_views WHERE schemaname = $1 AND strpos(definition, $2) > 0 LIMIT 1`;
  return (await ask(connections, text, [schema, windowSettings.start], signal)).length > 0;
}

const estimateLimits: QueryLimits = { maxRows: 1, maxBytes: 8 << 20, maxCellBytes: 8 << 20, timeoutMs: 10_000 };

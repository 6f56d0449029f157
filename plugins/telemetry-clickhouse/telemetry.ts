import { randomUUID } from 'node:crypto';
import { SightlineError, type Health } from '../../src/contract/core/index.ts';
import {
  commonFailures,
  noTelemetry,
  notConnected,
  tableNames,
  told,
  type CheckedStatement,
  type Cursor,
  type Dialect,
  type GatedStatement,
  type ParsedStatement,
  type QueryLimits,
  type ScanEstimate,
  type SqlGate,
  type StatementBinding,
  type StatementContext,
  type TableName,
  type Telemetry,
  type TelemetryHost,
  type TelemetrySink,
  type Tenancy,
  type Tenant,
  type WarehouseOperations,
} from '../../src/contract/telemetry/index.ts';
import { Accounts, openSink, type OpenSink, ownMapping } from './accounts.ts';
import type { ClickHouseConfig } from './config.ts';
import { dialectOf } from './dialect.ts';
import { Estimates } from './estimates.ts';
import { policy } from './gate/policy.ts';
import { Mapped } from './mapped.ts';
import { ClickHouseOperations } from './operations.ts';
import { queryId } from './tenant.ts';
import { textOf } from './quote.ts';

/** All columns, or those that fit a pattern, and what is done to all of them. */
const anyColumns = /(?:\bselect|\bdistinct|[,.(])\s*\*|\bdistinct on\b|\bcolumns\b|\bapply\b|\buntuple\b/i;
const counted = /\bcount\s*\(\s*\*\s*\)/gi;

/**
 * The columns that a regenerated statement may name: a superset, made of every word in it. Undefined if it may name any. The
 * analyzer resolves a table's subquery column by column, which is most of the time of a short statement.
 */
export function namedColumns(statement: string): ReadonlySet<string> | undefined {
  if (anyColumns.test(statement.replaceAll(counted, 'count()'))) return undefined;
  return new Set(statement.match(/[A-Za-z_]\w*/g));
}

interface Running {
  readonly gate: SqlGate;
  readonly mapped: Mapped;
  readonly dialect: Dialect;
}

/** An existing ClickHouse: its tables under our names, each organization its own rows. */
export class ClickHouseTelemetry implements Telemetry {
  /** Absent where the tables are of engines that cannot tell. */
  estimate?: NonNullable<Telemetry['estimate']>;
  readonly sink?: TelemetrySink;
  readonly operations: WarehouseOperations;
  readonly atOnce: NonNullable<Telemetry['atOnce']>;
  readonly #config: ClickHouseConfig;
  readonly #host: TelemetryHost;
  readonly #tenancy: Tenancy;
  readonly #accounts: Accounts;
  readonly #own: OpenSink | undefined;
  #running: Running | undefined;

  constructor(config: ClickHouseConfig, host: TelemetryHost) {
    const { mode } = config.tenancy.boundary;
    if (mode === 'schema' || mode === 'dataset') {
      throw new SightlineError('config_invalid', `telemetry.tenancy.boundary: ClickHouse has no ${mode}.`, {
        hint: 'Use the mode database, or one of none, column, resource_attribute, attribute, expression, table_template, connection.',
      });
    }
    this.#config = config;
    const most = config.maxConnections * config.url.length;
    this.atOnce = mode === 'connection' ? { organization: most } : { all: most };
    this.#host = host;
    this.#tenancy = host.tenancy.open(config.tenancy);
    this.#accounts = new Accounts(config, { helpers: host.sql, functions: policy.functions });
    this.#own = openSink(config, this.#tenancy, { helpers: host.sql, functions: policy.functions });
    if (this.#own !== undefined) this.sink = this.#own.sink;
    this.operations = new ClickHouseOperations(config, host, this.#tenancy.boundary);
  }

  get dialect(): Dialect {
    return this.#started().dialect;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { main } = this.#accounts;
    await this.#accounts.start(main, signal);
    const rows = (sql: string) => main.rowsAsSent(sql, signal);
    const [version] = await rows('SELECT version() AS version');
    const mapped = await Mapped.read(rows, ownMapping(this.#config), this.#tenancy.boundary, this.#host.mapping);
    const { mapping, jsonNames: json } = mapped;
    const estimates = await Estimates.open((sql) => main.rows(sql), mapping);
    if (estimates !== undefined) this.estimate = (rendered, context) => this.#estimate(estimates, rendered, context);
    this.#running = {
      gate: await this.#host.gates.open(policy, this.#host.sql),
      mapped,
      dialect: dialectOf({ version: textOf(version?.['version']), mapping, json }),
    };
  }

  async stop(): Promise<void> {
    this.#running = undefined;
    await this.#accounts.stop();
    await this.#own?.account.stop();
  }

  async health(signal: AbortSignal): Promise<Health> {
    if (this.#running === undefined) return { ok: false, detail: 'not started' };
    try {
      await this.#accounts.main.rows('SELECT 1', signal);
      return { ok: true, detail: `ClickHouse ${this.#running.dialect.version}` };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      return { ok: false, detail: `ClickHouse does not answer: ${cause.slice(0, 200)}` };
    }
  }

  async parse(sql: string, context: StatementContext): Promise<ParsedStatement> {
    const { gate } = this.#started();
    try {
      return new Statement(await gate.admit(sql, context.signal));
    } catch (error) {
      throw context.signal.aborted ? told(commonFailures.cancelled, error) : error;
    }
  }

  check(parsed: ParsedStatement): CheckedStatement {
    return own(parsed);
  }

  async render(checked: CheckedStatement, binding: StatementBinding, context: StatementContext): Promise<string> {
    const { mapped } = this.#started();
    const tenant = await this.#tenancy.tenantOf(context.organizationId);
    const { tree, columns } = own(checked);
    const bound = columns === undefined ? binding : { ...binding, columns };
    return tree.write((table) => mapped.relation(table, tenant, bound));
  }

  async open(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    const { account, ...query } = await this.#query(rendered, context);
    return await account.open({ ...query, limits });
  }

  async #estimate(estimates: Estimates, rendered: string, context: StatementContext): Promise<ScanEstimate> {
    const { account, ...query } = await this.#query(rendered, context);
    return await estimates.of(await account.explainEstimate(query));
  }

  /** What the server tells organizations apart by travels beside the SQL, which cannot change it. */
  async #query(sql: string, { organizationId, signal, label }: StatementContext) {
    const { mapped } = this.#started();
    const tenant = await this.#tenancy.tenantOf(organizationId);
    return {
      account: await this.#accounts.of(tenant, signal),
      sql,
      queryId: queryId(tenant, randomUUID()),
      role: this.#roleOf(tenant),
      label,
      signal,
      tables: tablesIn(sql, mapped),
    };
  }

  #roleOf(tenant: Tenant): string | undefined {
    const { serverBoundary } = this.#config;
    if (serverBoundary.by !== 'role') return undefined;
    if (!/^[\w.@-]{1,128}$/.test(tenant)) {
      throw noTelemetry(
        `The tenant ${JSON.stringify(tenant)} cannot be part of a role's name (telemetry.serverBoundary.role).`,
      );
    }
    return serverBoundary.role.replaceAll('{tenant}', tenant);
  }

  #started(): Running {
    if (this.#running !== undefined) return this.#running;
    throw notConnected();
  }
}

class Statement implements CheckedStatement {
  readonly tree: GatedStatement;
  readonly tables: readonly TableName[];
  readonly reaches: GatedStatement['reaches'];
  readonly columns: ReadonlySet<string> | undefined;

  constructor(gated: GatedStatement) {
    this.tree = gated;
    this.tables = gated.tables;
    this.reaches = gated.reaches;
    this.columns = namedColumns(gated.write(() => '_'));
  }
}

function own(parsed: ParsedStatement): Statement {
  if (parsed instanceof Statement) return parsed;
  throw new TypeError('a statement that this plugin did not parse');
}

function tablesIn(rendered: string, { mapping }: Mapped): readonly TableName[] {
  return tableNames.filter((table) => mapping.tables[table]?.some(({ from }) => rendered.includes(` FROM ${from}`)));
}

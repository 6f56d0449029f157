import type { Health } from '../../src/contract/core/index.ts';
import {
  notConnected,
  otelTables,
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
  type Telemetry,
  type TelemetryHost,
  type WarehouseOperations,
} from '../../src/contract/telemetry/index.ts';
import { ApiFailure } from './api.ts';
import type { BigqueryConfig } from './config.ts';
import { dialectOf } from './dialect.ts';
import { policy } from './gate/policy.ts';
import { inspect } from './operations/inspect.ts';
import { probe } from './operations/probe.ts';
import { setup } from './operations/setup.ts';
import { Queries } from './queries.ts';
import { Warehouse } from './warehouse.ts';

/** Telemetry in BigQuery, in tables that somebody else fills. */
export class BigqueryTelemetry implements Telemetry {
  readonly operations: WarehouseOperations;
  readonly #host: TelemetryHost;
  readonly #warehouse: Warehouse;
  #dialect: Dialect;
  #running: { readonly gate: SqlGate; readonly queries: Queries } | undefined;
  /** Checked statements, by the tree they are passed around as. */
  readonly #statements = new WeakMap<object, GatedStatement>();

  constructor(config: BigqueryConfig, host: TelemetryHost) {
    this.#host = host;
    this.#warehouse = new Warehouse(config, host);
    // They work on a service that was not started, too.
    this.operations = {
      setup: (signal) => setup(this.#warehouse, signal),
      inspect: (signal) => inspect(this.#warehouse, host, signal),
      probe: (signal) => probe(this.#warehouse, signal),
    };
    this.#dialect = dialectOf(Object.values(otelTables), this.#warehouse.style);
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const gate = await this.#host.gates.open(policy, this.#host.sql);
    const tables = await this.#warehouse.tables(signal);
    this.#dialect = dialectOf(tables, this.#warehouse.style);
    this.#running = { gate, queries: new Queries(this.#warehouse, this.#host.sql, this.#host.logger) };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.queries.stop();
    await this.#warehouse.idle();
  }

  async health(signal: AbortSignal): Promise<Health> {
    if (this.#running === undefined) return { ok: false, detail: 'not started' };
    const { projectId, location } = this.#warehouse.config;
    try {
      await this.#warehouse.ping(signal);
      return { ok: true, detail: `jobs run in ${projectId}, ${location}` };
    } catch (error) {
      const reason = error instanceof ApiFailure && error.reason !== '' ? error.reason : 'no answer';
      return { ok: false, detail: `BigQuery, ${projectId}: ${reason}` };
    }
  }

  async parse(sql: string, context: StatementContext): Promise<ParsedStatement> {
    const statement = await this.#started().gate.admit(sql, context.signal);
    const tree = {};
    this.#statements.set(tree, statement);
    return { tree };
  }

  /** The gate reads and checks in one; this is what it found. */
  check(parsed: ParsedStatement): CheckedStatement {
    const { tables, reaches } = this.#statementOf(parsed);
    return { tree: parsed.tree, tables, reaches };
  }

  async render(checked: CheckedStatement, binding: StatementBinding, context: StatementContext): Promise<string> {
    const statement = this.#statementOf(checked);
    const access = await this.#warehouse.accessOf(context.organizationId, context.signal);
    return statement.write((table) => this.#warehouse.relation(access, table, binding));
  }

  open(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    return this.#started().queries.open(rendered, limits, context);
  }

  async estimate(rendered: string, context: StatementContext): Promise<ScanEstimate> {
    return { bytes: await this.#started().queries.estimate(rendered, context) };
  }

  #started() {
    if (this.#running === undefined) throw notConnected();
    return this.#running;
  }

  #statementOf({ tree }: ParsedStatement): GatedStatement {
    const statement = typeof tree === 'object' && tree !== null ? this.#statements.get(tree) : undefined;
    if (statement === undefined) throw new TypeError('a statement that this plugin did not parse');
    return statement;
  }
}

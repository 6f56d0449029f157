import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeBatch } from '../../../src/contract/batch-codec.ts';
import {
  newId,
  otelTables,
  type BatchColumn,
  type Logger,
  type OrganizationId,
  type QueryLimits,
  type TableName,
  type Telemetry,
  type TelemetryHost,
} from '../../../src/contract/index.ts';
import { testHost } from '../../../src/contract-tests/host.ts';
import { sqlHelpers } from '../../../src/sql/helpers.ts';
import plugin from '../index.ts';

export const limits: QueryLimits = { maxRows: 1_000, maxBytes: 1_000_000, maxCellBytes: 16_384, timeoutMs: 10_000 };

export interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated?: 'rows' | 'bytes' | undefined;
  readonly cutCells: number;
  /** As it came. */
  readonly text: string;
}

/** A data directory of its own and a running telemetry product on it. */
export class Harness {
  readonly directory: string;
  readonly telemetry: Telemetry;

  private constructor(directory: string, telemetry: Telemetry) {
    this.directory = directory;
    this.telemetry = telemetry;
  }

  static async start(config: object = {}, directory?: string, logger?: Logger): Promise<Harness> {
    const home = directory ?? (await mkdtemp(join(tmpdir(), 'sl-duck-')));
    const telemetry = createTelemetry(home, config, logger);
    await telemetry.start(AbortSignal.timeout(10_000));
    return new Harness(home, telemetry);
  }

  async stop(): Promise<void> {
    await this.telemetry.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** The whole way of a query. */
  async query(
    organizationId: OrganizationId,
    sql: string,
    options: {
      readonly limits?: Partial<QueryLimits>;
      readonly signal?: AbortSignal;
      readonly window?: { readonly start?: Date; readonly end?: Date };
    } = {},
  ): Promise<Answer> {
    const context = { organizationId, signal: options.signal ?? new AbortController().signal };
    const checked = this.telemetry.check(await this.telemetry.parse(sql, context));
    const binding = options.window ? { window: options.window } : {};
    const rendered = await this.telemetry.render(checked, binding, context);
    return await this.run(organizationId, rendered, options);
  }

  /** Past the gate: the SQL goes to the engine as it is. */
  async run(
    organizationId: OrganizationId,
    sql: string,
    options: { readonly limits?: Partial<QueryLimits>; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const context = { organizationId, signal: options.signal ?? new AbortController().signal };
    const cursor = await this.telemetry.open(sql, { ...limits, ...options.limits }, context);
    const parts: string[] = [];
    for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
      parts.push(Buffer.from(chunk.json).toString('utf8'));
    }
    await cursor.close();
    const text = `[${parts.join(',')}]`;
    return {
      columns: cursor.columns,
      rows: JSON.parse(text),
      truncated: cursor.end?.truncated,
      cutCells: cursor.end?.cutCells ?? 0,
      text,
    };
  }

  async load(
    organizationId: OrganizationId,
    table: TableName,
    rows: readonly Row[],
    offset = nextOffset(),
  ): Promise<void> {
    const load = { organizationId, log: 'test', batches: [batch(table, rows)], upTo: { segment: 1, offset } };
    await this.telemetry.sink?.load(load, new AbortController().signal);
  }
}

export function createTelemetry(directory: string, config: object = {}, logger?: Logger): Telemetry {
  const host: TelemetryHost = { ...testHost(directory, logger && { logger }), sql: sqlHelpers };
  return plugin.create(plugin.configSchema.parse(config), host);
}

export function newOrganization(): OrganizationId {
  return newId('org');
}

let offset = 0;
function nextOffset(): number {
  offset += 1;
  return offset;
}

/** Values by column name; what is missing is empty. Times are dates, nested values are what their JSON says. */
export type Row = Readonly<Record<string, unknown>>;

/** Encodes rows as the receiver does. */
export function batch(table: TableName, rows: readonly Row[]): Uint8Array {
  const columns = otelTables[table].columns.map((column): BatchColumn => {
    const values = rows.map((row) => row[column.name]);
    const valid =
      'nullable' in column ? { valid: Uint8Array.from(values, (value) => (value === undefined ? 0 : 1)) } : {};
    switch (column.type) {
      case 'timestamp':
        return { kind: 'timestamp', values: BigInt64Array.from(values, micros), ...valid };
      case 'int64':
        return { kind: 'int64', values: BigInt64Array.from(values, (value) => BigInt(Number(value ?? 0))), ...valid };
      case 'float64':
        return { kind: 'float64', values: Float64Array.from(values, (value) => Number(value ?? 0)), ...valid };
      case 'boolean':
        return { kind: 'boolean', values: Uint8Array.from(values, (value) => (value === true ? 1 : 0)) };
      case 'string':
        return { kind: 'string', values: values.map((value) => String(value ?? '')) };
      case 'map':
        return { kind: 'json', values: values.map((value) => jsonText(value ?? {})) };
      default:
        return { kind: 'json', values: values.map((value) => jsonText(value ?? [])) };
    }
  });
  return encodeBatch({ table, rows: rows.length, columns });
}

/** A string is JSON text already, which may be broken on purpose. */
function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function micros(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return value instanceof Date ? BigInt(value.getTime()) * 1_000n : 0n;
}

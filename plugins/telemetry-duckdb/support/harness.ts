import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, type Logger, type OrganizationId } from '../../../src/contract/core/index.ts';
import { type QueryLimits, type TableName, type Telemetry } from '../../../src/contract/telemetry/index.ts';
import { noOrganizations, testHost } from '../../../test/contract/host.ts';
import { batch, type Row } from '../../../test/contract/telemetry-rows.ts';
import { telemetryHost } from '../../../src/gateway/wiring/telemetry-host.ts';
import plugin from '../index.ts';

export { batch, type Row };

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
  const host = telemetryHost(testHost(directory, logger && { logger }), noOrganizations);
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

import { z } from 'zod';
import { SightlineError, type OrganizationId } from '../../../contract/core/index.ts';
import type { QueryLimits, StatementBinding, Telemetry } from '../../../contract/telemetry/index.ts';

const limits: QueryLimits = {
  maxRows: 1_000_000,
  /** A batch is held in memory several times over. */
  maxBytes: 48 * 1024 * 1024,
  // Above what a record may hold: a cell that was cut would be lost in silence.
  maxCellBytes: 16 * 1024 * 1024,
  timeoutMs: 300_000,
};

const rowsSchema = z.array(z.array(z.unknown()));

export type Window = NonNullable<StatementBinding['window']>;

export interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there was more than can be held. */
  readonly cut: boolean;
}

/** One organization's telemetry, asked by the way of every query but without rules: all of it is moved. */
export class Source {
  readonly #telemetry: Telemetry;
  readonly #organizationId: OrganizationId;
  readonly #signal: AbortSignal;

  constructor(telemetry: Telemetry, organizationId: OrganizationId, signal: AbortSignal) {
    this.#telemetry = telemetry;
    this.#organizationId = organizationId;
    this.#signal = signal;
  }

  async ask(sql: string, window: Window): Promise<Answer> {
    const context = { organizationId: this.#organizationId, signal: this.#signal };
    const checked = this.#telemetry.check(await this.#telemetry.parse(sql, context));
    const rendered = await this.#telemetry.render(checked, { window }, context);
    const cursor = await this.#telemetry.open(rendered, limits, context);
    try {
      const rows: unknown[][] = [];
      for (let chunk = await cursor.read(); chunk !== undefined; chunk = await cursor.read()) {
        rows.push(...rowsSchema.parse(JSON.parse(`[${Buffer.from(chunk.json).toString('utf8')}]`)));
      }
      if ((cursor.end?.cutCells ?? 0) > 0) {
        throw new SightlineError('internal', 'A value is too long to be copied whole.');
      }
      return { rows, cut: cursor.end?.truncated !== undefined };
    } finally {
      await cursor.close();
    }
  }

  async count(table: string, window: Window): Promise<number> {
    const { rows } = await this.ask(`SELECT count(*) FROM otel.${table}`, window);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** The first time in the window. */
  async first(table: string, window: Window): Promise<Date | undefined> {
    const { rows } = await this.ask(`SELECT min(time) FROM otel.${table}`, window);
    const time = rows[0]?.[0];
    return typeof time === 'string' ? new Date(time) : undefined;
  }
}

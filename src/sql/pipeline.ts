import { SightlineError } from '../contract/index.ts';
import type { Logger, OrganizationId, QueryLimits, TableName, Telemetry } from '../contract/index.ts';
import { AttributeKeys } from './attribute-keys.ts';
import { describeTable, findTable, showTables } from './catalog.ts';
import type { ServiceAnswer } from './catalog.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { execute } from './execute.ts';
import { explainFailure } from './explain-failure.ts';
import type { Progress } from './explain-failure.ts';
import { rowSetOf } from './rows.ts';
import { parseServiceCommand } from './service-command.ts';
import type { ServiceCommand } from './service-command.ts';
import { StatementCache } from './statement-cache.ts';
import { checkText } from './statement-text.ts';
import type { QueryResult, QueryWindow } from './result.ts';
import { shapeResult } from './shape-result.ts';
import type { ResultFacts } from './shape-result.ts';
import { checkWindow, windowOf } from './window.ts';
import type { TimeBounds } from './window.ts';

/** Upper bounds; a request may ask for less, never for more. */
export interface PipelineLimits extends QueryLimits {
  /** Of a statement, UTF-8. */
  readonly maxSqlBytes: number;
}

export const defaultPipelineLimits: PipelineLimits = {
  maxSqlBytes: 64_000,
  maxRows: 10_000,
  maxBytes: 5_000_000,
  maxCellBytes: 16_000,
  timeoutMs: 30_000,
};

export interface QueryRequest {
  readonly organizationId: OrganizationId;
  readonly sql: string;
  readonly window?: TimeBounds;
  readonly limits?: Partial<QueryLimits>;
  /** Reads on behind what is returned, ten times as far and for a second at most, so that it can be kept. */
  readonly readAhead?: boolean;
  readonly signal: AbortSignal;
  /** Under which a failure's true cause is logged. */
  readonly requestId?: string;
}

export interface QueryPipeline {
  /** Rejects with a SightlineError that may be shown; whatever else happened is in the log. */
  run(request: QueryRequest): Promise<QueryResult>;
}

export interface PipelineParts {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly limits?: PipelineLimits;
}

/** The one way to a warehouse: size → service command → parse → check → render → open → capped rows → result. */
export function createQueryPipeline(parts: PipelineParts): QueryPipeline {
  const pipeline = new Pipeline(parts);
  return { run: (request) => pipeline.run(request) };
}

interface Prepared {
  readonly rendered: string;
  readonly tables: readonly TableName[];
}

class Pipeline {
  readonly #telemetry: Telemetry;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #limits: PipelineLimits;
  readonly #statements = new StatementCache();
  readonly #attributeKeys: AttributeKeys;

  constructor({ telemetry, logger, now, limits = defaultPipelineLimits }: PipelineParts) {
    this.#telemetry = telemetry;
    this.#logger = logger;
    this.#now = now;
    this.#limits = limits;
    this.#attributeKeys = new AttributeKeys(telemetry.dialect, now);
  }

  /** `remember` is false for statements that are never asked twice. */
  async run(request: QueryRequest, remember = true): Promise<QueryResult> {
    const started = performance.now();
    const limits = this.#bounded(request.limits);
    const window = windowOf(request.window);
    const facts = { dialect: this.#telemetry.dialect.name, window, limits, most: this.#limits, started };
    const progress: Progress = { step: 'size', tables: undefined };
    using deadline = startDeadline(request.signal, limits.timeoutMs);
    try {
      checkText(request.sql, this.#limits.maxSqlBytes);
      checkWindow(window);
      progress.step = 'command';
      const command = parseServiceCommand(request.sql);
      if (command !== undefined) return serviceResult(await this.#answer(command, request, deadline), facts);
      const { rendered, tables } = await this.#prepare(request, window, deadline, progress, remember);
      progress.step = 'open';
      progress.tables = tables;
      const read = await execute({
        telemetry: this.#telemetry,
        logger: this.#logger,
        organizationId: request.organizationId,
        rendered,
        returned: limits,
        readTo: request.readAhead === true ? this.#aheadOf(limits) : limits,
        deadline,
      });
      progress.step = 'result';
      return shapeResult(read, facts);
    } catch (error) {
      throw explainFailure(error, {
        sql: request.sql,
        window,
        dialect: this.#telemetry.dialect,
        now: this.#now(),
        timeoutMs: limits.timeoutMs,
        tables: progress.tables,
        step: progress.step,
        endedBy: deadline.endedBy,
        organizationId: request.organizationId,
        requestId: request.requestId,
        logger: this.#logger,
      });
    }
  }

  /** Parse, check and render, or what they answered for the same statement and window before. */
  async #prepare(
    request: QueryRequest,
    window: QueryWindow | undefined,
    deadline: Deadline,
    progress: Progress,
    remember: boolean,
  ): Promise<Prepared> {
    const { organizationId, sql } = request;
    const cached = this.#statements.get(organizationId, sql);
    const windowKey = `${window?.start?.getTime() ?? ''}:${window?.end?.getTime() ?? ''}`;
    if (cached?.window === windowKey) return { rendered: cached.rendered, tables: cached.checked.tables };
    const context = { organizationId, signal: deadline.signal };
    let checked = cached?.checked;
    if (checked === undefined) {
      progress.step = 'parse';
      const parsed = await deadline.race(this.#telemetry.parse(sql, context));
      progress.step = 'check';
      checked = this.#telemetry.check(parsed);
    }
    progress.step = 'render';
    progress.tables = checked.tables;
    const binding = request.window === undefined || window === undefined ? {} : { window: request.window };
    const rendered = await deadline.race(this.#telemetry.render(checked, binding, context));
    if (remember) this.#statements.set(organizationId, sql, { checked, window: windowKey, rendered });
    return { rendered, tables: checked.tables };
  }

  async #answer(command: ServiceCommand, request: QueryRequest, deadline: Deadline): Promise<ServiceAnswer> {
    const { dialect } = this.#telemetry;
    switch (command.kind) {
      case 'tables':
        return showTables(dialect, command.like);
      case 'columns':
        return describeTable(dialect, command.table, command.like);
      case 'attributes':
        return this.#attributeKeys.answer(
          request.organizationId,
          findTable(dialect, command.table),
          command.like,
          request.window ?? {},
          (sql, window) => this.#sample(sql, window, request, deadline),
        );
    }
  }

  async #sample(
    sql: string,
    window: TimeBounds,
    request: QueryRequest,
    deadline: Deadline,
  ): Promise<readonly (readonly unknown[])[]> {
    try {
      const sample: QueryRequest = {
        organizationId: request.organizationId,
        sql,
        window,
        limits: { maxCellBytes: sampledValueBytes, timeoutMs: deadline.remainingMs },
        signal: deadline.signal,
        ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
      };
      const { rowsJson } = await this.run(sample, false);
      const rows: readonly (readonly unknown[])[] = JSON.parse(`[${rowsJson}]`);
      return rows;
    } catch (error) {
      // The SQL is ours: a complaint about it would tell the caller to mend what it did not write.
      if (error instanceof SightlineError && /^(?:sql|unknown)_/.test(error.code)) {
        throw new Error('the sampling statement was refused', { cause: error });
      }
      throw error;
    }
  }

  #bounded(asked: Partial<QueryLimits> = {}): QueryLimits {
    const { maxRows, maxBytes, maxCellBytes, timeoutMs } = this.#limits;
    return {
      maxRows: Math.min(asked.maxRows ?? maxRows, maxRows),
      maxBytes: Math.min(asked.maxBytes ?? maxBytes, maxBytes),
      maxCellBytes: Math.min(asked.maxCellBytes ?? maxCellBytes, maxCellBytes),
      timeoutMs: Math.min(asked.timeoutMs ?? timeoutMs, timeoutMs),
    };
  }

  /** All the rows the pipeline may read, but not so many bytes that a wide result costs far more than what is returned. */
  #aheadOf(limits: QueryLimits): QueryLimits {
    const { maxRows, maxBytes } = this.#limits;
    return { ...limits, maxRows, maxBytes: Math.min(maxBytes, Math.max(1_000_000, limits.maxBytes * 10)) };
  }
}

/** Enough to recognise a value by. */
const sampledValueBytes = 200;

function serviceResult({ columns, rows, warnings }: ServiceAnswer, facts: ResultFacts): QueryResult {
  const result = shapeResult({ columns, rows: rowSetOf(rows), end: { cutCells: 0 }, overran: false }, facts);
  return { ...result, columns, warnings: [...warnings, ...result.warnings] };
}

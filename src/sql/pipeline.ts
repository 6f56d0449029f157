import { randomUUID } from 'node:crypto';
import { SightlineError } from '../contract/index.ts';
import type {
  Cursor,
  CursorEnd,
  Logger,
  OrganizationId,
  QueryLimits,
  ResultColumn,
  TableName,
  Telemetry,
} from '../contract/index.ts';
import { AttributeKeys } from './attribute-keys.ts';
import { describeTable, findTable, showTables } from './catalog.ts';
import type { ServiceAnswer } from './catalog.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { readRows } from './read-rows.ts';
import type { ReadRows } from './read-rows.ts';
import { repair, timedOut } from './repair.ts';
import { fit, rowSetOf, slice } from './rows.ts';
import { parseServiceCommand } from './service-command.ts';
import type { ServiceCommand } from './service-command.ts';
import { StatementCache } from './statement-cache.ts';
import { checkText } from './statement-text.ts';
import type { QueryColumn, QueryResult, QueryWindow, Truncation } from './result.ts';
import { untrustedColumns } from './untrusted.ts';

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
  /** From inclusive, to exclusive. */
  readonly window?: { readonly start?: Date; readonly end?: Date };
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

/** What is known of a query on its way; the error repair reads it. */
interface Progress {
  step: 'size' | 'command' | 'parse' | 'check' | 'render' | 'open' | 'read' | 'result';
  tables: readonly TableName[] | undefined;
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

  async run(request: QueryRequest): Promise<QueryResult> {
    const started = performance.now();
    const limits = this.#bounded(request.limits);
    const progress: Progress = { step: 'size', tables: undefined };
    using deadline = startDeadline(request.signal, limits.timeoutMs);
    try {
      checkText(request.sql, this.#limits.maxSqlBytes);
      const window = queryWindow(request.window);
      progress.step = 'command';
      const command = parseServiceCommand(request.sql);
      if (command !== undefined) {
        const answer = await this.#answer(command, request, deadline);
        return this.#serviceResult(answer, window, limits, started);
      }
      const { rendered, tables } = await this.#prepare(request, window, deadline, progress);
      progress.tables = tables;
      const read = await this.#execute(rendered, request, limits, deadline, progress);
      progress.step = 'result';
      return this.#result(read, window, limits, started);
    } catch (error) {
      throw this.#explain(error, request, limits, deadline, progress);
    }
  }

  /** Parse, check and render, or what they answered for the same statement and window before. */
  async #prepare(
    { organizationId, sql }: QueryRequest,
    window: QueryWindow | undefined,
    deadline: Deadline,
    progress: Progress,
  ): Promise<Prepared> {
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
    const binding = window === undefined ? {} : { window: bounds(window) };
    const rendered = await deadline.race(this.#telemetry.render(checked, binding, context));
    this.#statements.set(organizationId, sql, { checked, window: windowKey, rendered });
    return { rendered, tables: checked.tables };
  }

  async #execute(
    rendered: string,
    request: QueryRequest,
    limits: QueryLimits,
    deadline: Deadline,
    progress: Progress,
  ): Promise<ReadRows> {
    progress.step = 'open';
    const readTo = request.readAhead === true ? this.#aheadOf(limits) : limits;
    const context = { organizationId: request.organizationId, signal: deadline.signal };
    const opening = this.#telemetry.open(rendered, { ...readTo, timeoutMs: deadline.remainingMs }, context);
    let cursor;
    try {
      cursor = await deadline.race(opening);
    } catch (error) {
      // A cursor that comes after the deadline is still closed.
      if (deadline.endedBy !== undefined) opening.then((late) => this.#close(late)).catch(() => {});
      throw error;
    }
    progress.step = 'read';
    try {
      const read = await readRows(cursor, limits, readTo, deadline);
      if (read.overran) {
        this.#logger.warn({ dialect: this.#telemetry.dialect.name }, 'a telemetry plugin sent more than its limits');
      }
      return read;
    } finally {
      void this.#close(cursor);
    }
  }

  /** Not waited for: a plugin slow to let go does not keep the caller's answer. */
  async #close(cursor: Cursor): Promise<void> {
    try {
      await cursor.close();
    } catch (error) {
      this.#logger.warn({ err: error }, 'closing a cursor failed');
    }
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
    window: { readonly start?: Date; readonly end?: Date },
    request: QueryRequest,
    deadline: Deadline,
  ): Promise<readonly (readonly unknown[])[]> {
    try {
      const { rowsJson } = await this.run({
        organizationId: request.organizationId,
        sql,
        window,
        limits: { maxCellBytes: sampledValueBytes, timeoutMs: deadline.remainingMs },
        signal: deadline.signal,
        ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
      });
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

  #serviceResult(
    answer: ServiceAnswer,
    window: QueryWindow | undefined,
    limits: QueryLimits,
    started: number,
  ): QueryResult {
    const result = this.#result(
      { columns: answer.columns, rows: rowSetOf(answer.rows), end: { cutCells: 0 }, overran: false },
      window,
      limits,
      started,
    );
    return { ...result, columns: answer.columns, warnings: [...answer.warnings, ...result.warnings] };
  }

  #result(read: ReadRows, window: QueryWindow | undefined, limits: QueryLimits, started: number): QueryResult {
    const { count, stoppedBy } = fit(read.rows, 0, limits);
    const returned = slice(read.rows, 0, count);
    const reason = stoppedBy ?? read.end.truncated;
    const truncation = truncationOf(reason, count, read.end.cutCells, limits);
    const cellWarning = reason !== undefined && read.end.cutCells > 0;
    return {
      dialect: this.#telemetry.dialect.name,
      columns: columnsOf(read.columns, untrustedColumns(read.columns, returned)),
      rowsJson: returned.json.toString(),
      rowCount: count,
      truncated: truncation !== undefined,
      ...(truncation === undefined ? {} : { truncation }),
      ...(window === undefined ? {} : { window }),
      elapsedMs: Math.round((performance.now() - started) * 10) / 10,
      ...(read.end.bytesScanned === undefined ? {} : { bytesScanned: read.end.bytesScanned }),
      warnings: cellWarning ? [cutCells(read.end.cutCells, limits.maxCellBytes)] : [],
      ...(read.rows.ends.length > count
        ? { readAhead: { rows: read.rows, ...(read.end.truncated === undefined ? {} : { cutBy: read.end.truncated }) } }
        : {}),
    };
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

  #explain(
    error: unknown,
    request: QueryRequest,
    limits: QueryLimits,
    deadline: Deadline,
    progress: Progress,
  ): SightlineError {
    const query = {
      sql: request.sql,
      window: queryWindowOrNone(request.window),
      dialect: this.#telemetry.dialect,
      now: this.#now(),
      timeoutMs: limits.timeoutMs,
      tables: progress.tables,
    };
    if (deadline.endedBy === 'caller') return new SightlineError('query_cancelled', 'The query was cancelled.');
    const requestId = request.requestId ?? randomUUID();
    if (deadline.endedBy === 'timeout') {
      const { organizationId } = request;
      this.#logger.info({ requestId, organizationId, step: progress.step }, 'a query was stopped at its deadline');
      return timedOut(query, error);
    }
    if (error instanceof SightlineError) {
      if (error.cause !== undefined) {
        this.#logger.info(
          {
            requestId,
            organizationId: request.organizationId,
            step: progress.step,
            code: error.code,
            err: error.cause,
          },
          'a query failed',
        );
      }
      return repair(error, query);
    }
    this.#logger.error(
      { requestId, organizationId: request.organizationId, step: progress.step, err: error },
      'a query failed unexpectedly',
    );
    const atEngine = progress.step === 'open' || progress.step === 'read';
    return atEngine
      ? new SightlineError('telemetry_unavailable', 'The warehouse could not answer.', {
          hint: `Try again. The cause is in the log under request ${requestId}.`,
          cause: error,
        })
      : new SightlineError('internal', 'The query could not be handled.', {
          hint: `The cause is in the log under request ${requestId}.`,
          cause: error,
        });
  }
}

/** Enough to recognise a value by. */
const sampledValueBytes = 200;

function columnsOf(columns: readonly ResultColumn[], untrusted: readonly boolean[]): QueryColumn[] {
  return columns.map(({ name, type }, index) => ({ name, type, untrusted: untrusted[index] !== false }));
}

function truncationOf(
  reason: CursorEnd['truncated'],
  returned: number,
  cut: number,
  limits: QueryLimits,
): Truncation | undefined {
  const narrow = 'aggregate, select fewer columns, or narrow start and end';
  if (reason === 'rows') {
    return { reason, returned, hint: `There are more than ${returned} rows: raise max_rows, ${narrow}.` };
  }
  if (reason === 'bytes') {
    return { reason, returned, hint: `The rows reached ${limits.maxBytes} bytes: raise max_bytes, ${narrow}.` };
  }
  if (cut === 0) return undefined;
  return { reason: 'cell', returned, hint: cutCells(cut, limits.maxCellBytes) };
}

function cutCells(cut: number, maxCellBytes: number): string {
  return `${cut} cell${cut === 1 ? '' : 's'} over ${maxCellBytes} bytes were cut and are marked; select a part of the value, such as substring(body, 1, 1000) or one attribute.`;
}

function queryWindow(asked: QueryRequest['window']): QueryWindow | undefined {
  const window = queryWindowOrNone(asked);
  if (window?.start !== undefined && window.end !== undefined && window.start >= window.end) {
    throw new SightlineError('invalid_argument', 'start must be before end.', {
      hint: 'start is inclusive, end exclusive; leave end out for now.',
    });
  }
  return window;
}

function queryWindowOrNone(asked: QueryRequest['window']): QueryWindow | undefined {
  return asked?.start === undefined && asked?.end === undefined ? undefined : { ...bounds(asked), source: 'argument' };
}

function bounds({ start, end }: { readonly start?: Date; readonly end?: Date }): { start?: Date; end?: Date } {
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

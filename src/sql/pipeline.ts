import type {
  CheckedStatement,
  Instruments,
  Logger,
  Operation,
  OrganizationId,
  QueryLimits,
  ReadRules,
  RunningQuery,
  StatementContext,
  StatementLabel,
  TableName,
  Telemetry,
} from '../contract/index.ts';
import type { ServiceAnswer } from './catalog.ts';
import type { Admission, CostGuard } from './cost-guard.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { execute } from './execute.ts';
import { explainFailure } from './explain-failure.ts';
import type { Progress } from './explain-failure.ts';
import type { Governance, Reader } from './governance.ts';
import { defaultQueryPlaces, placesIn, QueryPlaces } from './places.ts';
import type { Place, QueryPlacesOptions } from './places.ts';
import { narrower } from './repair.ts';
import { rowSetOf } from './rows.ts';
import { ServiceAnswers } from './service-answers.ts';
import { parseServiceCommand } from './service-command.ts';
import { isSameBinding, StatementCache } from './statement-cache.ts';
import type { Binding } from './statement-cache.ts';
import { checkText } from './statement-text.ts';
import type { QueryResult } from './result.ts';
import { shapeResult } from './shape-result.ts';
import type { ResultFacts } from './shape-result.ts';
import { checkWindow, defaultWindowWarning, statementWindow, windowOf } from './window.ts';
import type { StatementWindow, TimeBounds } from './window.ts';

/** Upper bounds; a request may ask for less, never for more. */
export interface PipelineLimits extends QueryLimits {
  /** Of a statement, UTF-8. */
  readonly maxSqlBytes: number;
  /** How far back a statement reads that does not say. */
  readonly defaultWindowMs: number;
}

export const defaultPipelineLimits: PipelineLimits = {
  maxSqlBytes: 64_000,
  defaultWindowMs: 86_400_000,
  maxRows: 10_000,
  maxBytes: 5_000_000,
  maxCellBytes: 16_000,
  timeoutMs: 30_000,
};

export interface QueryRequest {
  readonly organizationId: OrganizationId;
  readonly sql: string;
  /** Who will read the rows: decides what of them may be read. */
  readonly reader: Reader;
  /** Sent to the warehouse with the statement. */
  readonly label: StatementLabel;
  readonly window?: TimeBounds | undefined;
  readonly limits?: Partial<QueryLimits>;
  /** Reads on behind what is returned, ten times as far and for a second at most, so that it can be kept. */
  readonly readAhead?: boolean;
  readonly signal: AbortSignal;
  /** Under which a failure's true cause is logged. */
  readonly requestId?: string;
  /** Under which it is recorded. */
  readonly operation?: Operation | undefined;
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
  /** Without it everybody reads everything of their organization. */
  readonly governance?: Governance | undefined;
  readonly costGuard?: CostGuard | undefined;
  /** How many queries run at once, if the warehouse takes so many. */
  readonly places?: QueryPlacesOptions | QueryPlaces;
  /** Undefined where nothing is recorded. */
  readonly instruments?: Instruments | undefined;
}

/** The one way to a warehouse: size → service command → a place → parse → check → render → cost → open → capped rows → result. */
export function createQueryPipeline(parts: PipelineParts): QueryPipeline {
  const pipeline = new Pipeline(parts);
  return { run: (request) => pipeline.run(request) };
}

interface Prepared {
  readonly rendered: string;
  readonly tables: readonly TableName[];
  readonly shown: StatementWindow | undefined;
}

/** A statement with the window in which it reads, and all that its rendering depends on. */
interface Bound {
  readonly checked: CheckedStatement;
  readonly shown: StatementWindow | undefined;
  readonly binding: Binding;
}

/** One request on its way. */
interface Run {
  readonly request: QueryRequest;
  readonly rules: ReadRules | undefined;
  readonly context: StatementContext;
  readonly deadline: Deadline;
  readonly progress: Progress;
  /** False for statements that are never asked twice. */
  readonly remember: boolean;
  readonly now: Date;
}

class Pipeline {
  readonly #telemetry: Telemetry;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #limits: PipelineLimits;
  readonly #governance: Governance | undefined;
  readonly #costGuard: CostGuard | undefined;
  readonly #places: QueryPlaces;
  readonly #statements = new StatementCache();
  readonly #answers: ServiceAnswers;
  readonly #instruments: Instruments | undefined;

  constructor(parts: PipelineParts) {
    const { telemetry, logger, now, limits = defaultPipelineLimits, governance, costGuard } = parts;
    this.#telemetry = telemetry;
    this.#logger = logger;
    this.#now = now;
    this.#limits = limits;
    this.#governance = governance;
    this.#costGuard = costGuard;
    this.#instruments = parts.instruments;
    const { places = defaultQueryPlaces } = parts;
    this.#places = places instanceof QueryPlaces ? places : new QueryPlaces(placesIn(telemetry, places));
    this.#answers = new ServiceAnswers(telemetry.dialect, now, (request) => this.run(request, false));
  }

  async run(request: QueryRequest, remember = true): Promise<QueryResult> {
    const started = performance.now();
    const { organizationId, label } = request;
    const limits = this.#bounded(request.limits);
    const asked = windowOf(request.window);
    const facts = { dialect: this.#telemetry.dialect.name, limits, most: this.#limits, started };
    const progress: Progress = { step: 'size', tables: undefined, window: asked };
    let rules: ReadRules | undefined;
    let place: Place | undefined;
    let recorded: RunningQuery | undefined;
    using deadline = startDeadline(request.signal, limits.timeoutMs);
    try {
      checkText(request.sql, this.#limits.maxSqlBytes);
      checkWindow(request.window);
      rules = this.#governance?.rulesFor(request.reader, organizationId);
      progress.step = 'command';
      const command = parseServiceCommand(request.sql);
      if (command !== undefined) {
        const own = { ...request, signal: deadline.signal, limits: { timeoutMs: deadline.remainingMs } };
        return serviceResult(await this.#answers.answer(command, own, rules), { ...facts, window: asked });
      }
      const taken = this.#places.take(organizationId, label.principal, deadline.signal);
      place = taken instanceof Promise ? await this.#waited(taken) : taken;
      recorded = this.#instruments?.query({
        dialect: this.#telemetry.dialect.name,
        sql: request.sql,
        organizationId,
        operation: request.operation,
      });
      const context = { organizationId, signal: deadline.signal, label };
      const run = { request, rules, context, deadline, progress, remember, now: this.#now() };
      const preparing = this.#prepare(run);
      const { rendered, tables, shown } = preparing instanceof Promise ? await preparing : preparing;
      progress.step = 'open';
      progress.tables = tables;
      progress.window = shown?.window;
      const admission = this.#costGuard && (await this.#admit(run, rendered, this.#costGuard));
      const read = await execute({
        telemetry: this.#telemetry,
        logger: this.#logger,
        context,
        rendered,
        returned: limits,
        readTo: request.readAhead === true ? this.#aheadOf(limits) : limits,
        deadline,
        place,
      });
      // A storage that cannot count it in time does not keep the answer back.
      if (admission !== undefined) await deadline.race(admission.settle(read.end.bytesScanned)).catch(() => {});
      progress.step = 'result';
      const result = shapeResult(read, { ...facts, window: shown?.window });
      recorded?.end({ rows: result.rowCount });
      if (shown?.window.source !== 'default') return result;
      const warning = defaultWindowWarning(shown.window, this.#limits.defaultWindowMs);
      return { ...result, warnings: [warning, ...result.warnings] };
    } catch (error) {
      const failure = explainFailure(error, {
        ...progress,
        sql: request.sql,
        rules,
        dialect: this.#telemetry.dialect,
        now: this.#now(),
        timeoutMs: limits.timeoutMs,
        endedBy: deadline.endedBy,
        organizationId,
        requestId: request.requestId,
        span: request.operation?.span,
        logger: this.#logger,
      });
      recorded?.end({ failed: failure.code });
      throw failure;
    } finally {
      place?.leave();
    }
  }

  async #waited(taking: Promise<Place>): Promise<Place> {
    if (this.#instruments === undefined) return taking;
    const since = performance.now();
    const place = await taking;
    this.#instruments.queued(since);
    return place;
  }

  /** Parse, check and render, or what they answered for the same statement, window and rules before. */
  #prepare(run: Run): Prepared | Promise<Prepared> {
    const { organizationId, sql } = run.request;
    const cached = this.#statements.get(organizationId, sql);
    if (cached === undefined) return this.#check(run).then((checked) => this.#render(run, this.#bind(run, checked)));
    const bound = this.#bind(run, cached.checked);
    if (!isSameBinding(cached.binding, bound.binding)) return this.#render(run, bound);
    return { rendered: cached.rendered, tables: bound.checked.tables, shown: bound.shown };
  }

  #bind({ request, rules, now }: Run, checked: CheckedStatement): Bound {
    const time = now.getTime();
    const shown = statementWindow(checked, request.window, { now: time, defaultMs: this.#limits.defaultWindowMs });
    const start = shown?.bound.start.getTime();
    const end = shown?.bound.end?.getTime();
    return { checked, shown, binding: { minute: Math.floor(time / 60_000), start, end, rules: rules?.key } };
  }

  async #render(run: Run, { checked, shown, binding }: Bound): Promise<Prepared> {
    const { request, rules, context, deadline, progress, remember } = run;
    const { organizationId, sql } = request;
    const { tables } = checked;
    progress.step = 'render';
    progress.tables = tables;
    progress.window = shown?.window;
    const bound = { ...(shown && { window: shown.bound }), ...(rules && { rules }) };
    const rendered = await deadline.race(this.#telemetry.render(checked, bound, context));
    if (remember) this.#statements.set(organizationId, sql, { checked, binding, rendered });
    return { rendered, tables, shown };
  }

  async #check({ request, context, deadline, progress }: Run): Promise<CheckedStatement> {
    progress.step = 'parse';
    const parsed = await deadline.race(this.#telemetry.parse(request.sql, context));
    progress.step = 'check';
    return this.#telemetry.check(parsed);
  }

  #admit(
    { request, context, deadline, progress, now }: Run,
    rendered: string,
    costGuard: CostGuard,
  ): Promise<Admission | undefined> {
    const { sql, requestId } = request;
    const { tables, window } = progress;
    return deadline.race(
      costGuard.admit({
        rendered,
        context,
        requestId,
        narrower: (share) => narrower({ sql, window, tables, now }, Math.min(1 / 4, share * 0.8)),
      }),
    );
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

function serviceResult({ columns, rows, warnings }: ServiceAnswer, facts: ResultFacts): QueryResult {
  const result = shapeResult(
    { columns, untrusted: [], rows: rowSetOf(rows), end: { cutCells: 0 }, overran: false },
    facts,
  );
  return { ...result, columns, warnings: [...warnings, ...result.warnings] };
}

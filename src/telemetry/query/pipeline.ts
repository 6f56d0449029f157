import type { Instruments, Logger, QueryOutcome } from '../../contract/core/index.ts';
import type { QueryLimits, ReadRules, Telemetry } from '../../contract/telemetry/index.ts';
import type { ServiceAnswer } from './catalog.ts';
import type { Admission, CostGuard } from './cost-guard.ts';
import { startDeadline } from './deadline.ts';
import { execute, explainFailure, type Execution, type Progress } from './execute.ts';
import type { Governance } from './governance.ts';
import { QueryPlaces, defaultQueryPlaces, placesIn, type Place, type QueryPlacesOptions } from './places.ts';
import { Preparation, checkText, type Prepared, type Preparing, type Unprepared } from './prepare.ts';
import type { ReadRows } from './read-rows.ts';
import { narrower } from './repair.ts';
import type { QueryRequest } from './request.ts';
import { type QueryResult, rowSetOf } from './result.ts';
import { ServiceAnswers } from './service-answers.ts';
import { parseServiceCommand } from './service-command.ts';
import { shapeResult, type ResultFacts } from './shape-result.ts';
import { checkWindow, defaultWindowWarning, windowOf } from './window.ts';

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

/**
 * The one way to a warehouse: size → service command → a place → parse → check → render → cost → open → capped rows → result.
 */
export function createQueryPipeline(parts: PipelineParts): QueryPipeline {
  const pipeline = new Pipeline(parts);
  return { run: (request) => pipeline.run(request) };
}

/** One request on its way. */
interface Run extends Preparing {
  readonly request: QueryRequest;
  readonly rules: ReadRules | undefined;
  readonly returned: QueryLimits;
  place: Place | undefined;
  cautions: readonly string[];
  /** When it had its place; 0 until then. */
  sentAt: number;
}

class Pipeline {
  readonly #telemetry: Telemetry;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #limits: PipelineLimits;
  readonly #governance: Governance | undefined;
  readonly #costGuard: CostGuard | undefined;
  readonly #places: QueryPlaces;
  readonly #preparation: Preparation;
  readonly #answers: ServiceAnswers;
  readonly #instruments: Instruments | undefined;

  constructor(parts: PipelineParts) {
    const { telemetry, logger, now, limits = defaultPipelineLimits, governance, costGuard } = parts;
    this.#telemetry = telemetry;
    this.#logger = logger;
    this.#now = now;
    this.#limits = limits;
    this.#preparation = new Preparation(telemetry, limits.defaultWindowMs);
    this.#governance = governance;
    this.#costGuard = costGuard;
    this.#instruments = parts.instruments;
    const { places = defaultQueryPlaces } = parts;
    this.#places = places instanceof QueryPlaces ? places : new QueryPlaces(placesIn(telemetry, places));
    this.#answers = new ServiceAnswers(telemetry.dialect, now, (request) => this.run(request, false));
  }

  async run(request: QueryRequest, remember = true): Promise<QueryResult> {
    const started = performance.now();
    const { organizationId } = request;
    const limits = this.#bounded(request.limits);
    const asked = windowOf(request.window);
    const facts = { dialect: this.#telemetry.dialect.name, limits, most: this.#limits, started };
    const progress: Progress = { step: 'size', tables: undefined, window: asked };
    let rules: ReadRules | undefined;
    let run: Run | undefined;
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
      const context = { organizationId, signal: deadline.signal, label: request.label };
      run = {
        request,
        rules,
        returned: limits,
        context,
        deadline,
        progress,
        remember,
        place: undefined,
        cautions: [],
        sentAt: 0,
      };
      const read = await this.#read(run);
      progress.step = 'result';
      const result = shapeResult(read, { ...facts, window: progress.window });
      this.#record(run, { rows: result.rowCount });
      const { window } = progress;
      const { cautions } = run;
      if (window?.source !== 'default' && cautions.length === 0) return result;
      const unasked = window?.source === 'default' ? [defaultWindowWarning(window, this.#limits.defaultWindowMs)] : [];
      return { ...result, warnings: [...cautions, ...unasked, ...result.warnings] };
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
      if (run !== undefined) this.#record(run, { failed: failure.code });
      throw failure;
    } finally {
      run?.place?.leave();
    }
  }

  async #read(run: Run): Promise<ReadRows> {
    const { deadline } = run;
    const taken = this.#take(run);
    const place = taken instanceof Promise ? await taken : taken;
    run.place = place;
    run.sentAt = performance.now();
    const statement = this.#unprepared(run);
    const prepared = this.#preparation.known(statement) ?? (await this.#preparation.prepare(statement, run));
    run.cautions = prepared.cautions;
    const execution = this.#execution(run, prepared);
    const admission = this.#costGuard && (await this.#admit(run, statement.now, prepared.rendered, this.#costGuard));
    const read = await execute(execution, place);
    // A storage that cannot count it in time does not keep the answer back.
    if (admission !== undefined) await deadline.race(admission.settle(read.end.bytesScanned)).catch(() => {});
    return read;
  }

  #take({ request: { organizationId, label }, context }: Run): Place | Promise<Place> {
    const taken = this.#places.take(organizationId, label.principal, context.signal);
    return taken instanceof Promise && this.#instruments !== undefined ? this.#waited(taken, this.#instruments) : taken;
  }

  #unprepared({ request: { organizationId, sql, window }, rules }: Run): Unprepared {
    return { organizationId, sql, window, rules, now: this.#now() };
  }

  #execution(run: Run, { rendered, tables, shown }: Prepared): Execution {
    const { request, returned, context, deadline, progress } = run;
    progress.step = 'open';
    progress.tables = tables;
    progress.window = shown?.window;
    const readTo = request.readAhead === true ? this.#aheadOf(returned) : returned;
    return { telemetry: this.#telemetry, logger: this.#logger, context, rendered, returned, readTo, deadline };
  }

  #record({ request: { sql, organizationId, operation }, sentAt }: Run, outcome: QueryOutcome): void {
    if (sentAt === 0) return;
    const dialect = this.#telemetry.dialect.name;
    this.#instruments?.queried({ dialect, sql, organizationId, operation }, sentAt, outcome);
  }

  async #waited(taking: Promise<Place>, instruments: Instruments): Promise<Place> {
    const since = performance.now();
    const place = await taking;
    instruments.queued(since);
    return place;
  }

  #admit(
    { request, context, deadline, progress }: Run,
    now: Date,
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

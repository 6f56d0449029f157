import { createHash } from 'node:crypto';
import {
  RowTexts,
  tableNames,
  type Cursor,
  type QueryLimits,
  type SqlHelpers,
  type StatementContext,
  type CursorEnd,
  type ResultColumn,
  type RowChunk,
} from '../../src/contract/telemetry/index.ts';
import type { Logger } from '../../src/contract/core/index.ts';
import { unlessAborted } from './api.ts';
import { checkCost, checkDryRun, explain } from './failures.ts';
import { dryRun, RunningJob, type DryRun, type Page, jobLabels, type FieldSchema } from './jobs.ts';
import { Remembered, type TenantAccess, type Warehouse } from './warehouse.ts';
import { cellText, typeName } from './cells.ts';

interface PageSource {
  /** The page behind the token. Rejects with a SightlineError. */
  next(token: string, maxRows: number): Promise<Page>;
  close(): Promise<void>;
}

/** Rows of a finished job, page by page, as far as the limits go. */
class JobCursor implements Cursor {
  readonly columns: readonly ResultColumn[];
  readonly #fields: readonly FieldSchema[];
  readonly #source: PageSource;
  readonly #limits: QueryLimits;
  readonly #rows: RowTexts;
  readonly #bytesScanned: number | undefined;
  #page: Page | undefined;
  #end: CursorEnd | undefined;

  constructor(first: Page, source: PageSource, limits: QueryLimits) {
    this.#fields = first.schema?.fields ?? [];
    this.columns = this.#fields.map((field) => ({ name: field.name, type: typeName(field) }));
    this.#page = first;
    this.#source = source;
    this.#limits = limits;
    this.#rows = new RowTexts(limits);
    this.#bytesScanned = first.totalBytesProcessed;
  }

  get end(): CursorEnd | undefined {
    return this.#end;
  }

  async read(): Promise<RowChunk | undefined> {
    while (this.#page !== undefined) {
      const page = this.#page;
      const wanted = this.#add(page);
      const token = wanted ? page.pageToken : undefined;
      this.#page = token === undefined ? undefined : await this.#source.next(token, this.#wanted());
      if (this.#page === undefined) {
        this.#end = {
          ...this.#rows.end,
          ...(this.#bytesScanned !== undefined && { bytesScanned: this.#bytesScanned }),
        };
      }
      const { rows, json } = this.#rows.take();
      if (rows > 0) return { rows, json: Buffer.from(json) };
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#page = undefined;
    await this.#source.close();
  }

  /** One more than may be returned, so that it shows whether there are more. */
  #wanted(): number {
    return this.#limits.maxRows - this.#rows.count + 1;
  }

  #add({ rows }: Page): boolean {
    return rows.every((row) => {
      if (!this.#rows.next()) return false;
      const cells = this.#fields.map((field, at) => cellText(field, row.f[at]?.v, this.#rows.budget));
      return this.#rows.add(`[${cells.join(',')}]`);
    });
  }
}

/** How long a statement's dry run is believed: tables grow, permissions change. */
const believeMs = 60_000;
const dryRunTimeoutMs = 20_000;

export class Queries {
  readonly #warehouse: Warehouse;
  readonly #helpers: SqlHelpers;
  readonly #logger: Logger;
  readonly #dryRuns = new Remembered<DryRun>(believeMs);
  readonly #stopping = new AbortController();
  readonly #ending = new Set<Promise<void>>();

  constructor(warehouse: Warehouse, helpers: SqlHelpers, logger: Logger) {
    this.#warehouse = warehouse;
    this.#helpers = helpers;
    this.#logger = logger;
  }

  /** Bytes that the statement would read, once BigQuery has agreed that it is what it seems. */
  async estimate(sql: string, context: StatementContext): Promise<number> {
    const signal = AbortSignal.any([context.signal, this.#stopping.signal]);
    try {
      const access = await this.#warehouse.accessOf(context.organizationId, signal);
      return (await this.#checked(sql, access, signal)).bytes;
    } catch (error) {
      throw this.#explained(error, sql, context, undefined);
    }
  }

  async open(sql: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    const deadline = AbortSignal.timeout(limits.timeoutMs);
    const signal = AbortSignal.any([context.signal, this.#stopping.signal, deadline]);
    const started = performance.now();
    const explained = (error: unknown) => this.#explained(error, sql, context, deadline);
    try {
      signal.throwIfAborted();
      const access = await this.#warehouse.accessOf(context.organizationId, signal);
      const { bytes } = await this.#checked(sql, access, signal);
      const { maxBytesBilled, labels } = this.#warehouse.config;
      checkCost(bytes, maxBytesBilled);
      const job = this.#warehouse.job(sql, access.tenant, jobLabels(labels, context.label));
      const running = new RunningJob(access.api, job, limits.timeoutMs - (performance.now() - started), signal);
      const page = async (token: string | undefined, maxRows: number): Promise<Page> => {
        try {
          return await running.page(token, maxRows, signal);
        } catch (error) {
          void this.#cancel(running);
          throw explained(error);
        }
      };
      const first = await page(undefined, limits.maxRows + 1);
      return new JobCursor(first, { next: page, close: () => this.#cancel(running) }, limits);
    } catch (error) {
      throw explained(error);
    }
  }

  /** Cancels what runs, and waits for it. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service stops'));
    await Promise.all(this.#ending);
  }

  async #checked(sql: string, access: TenantAccess, signal: AbortSignal): Promise<DryRun> {
    const allowed = await this.#warehouse.allowedTables(access, signal);
    const key = createHash('sha256').update(`${access.tenant}\0${sql}`).digest('base64');
    const asked = this.#dryRuns.of(key, () =>
      dryRun(
        access.api,
        this.#warehouse.job(sql, access.tenant),
        AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(dryRunTimeoutMs)]),
      ),
    );
    const found = await unlessAborted(asked, signal);
    checkDryRun(found, allowed, this.#helpers);
    return found;
  }

  #cancel(running: RunningJob): Promise<void> {
    const ending = running
      .cancel()
      .catch((error: unknown) => this.#logger.warn({ error }, 'a BigQuery job could not be cancelled'))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    return ending;
  }

  #explained(error: unknown, sql: string, context: StatementContext, deadline: AbortSignal | undefined) {
    const endedBy = deadline?.aborted
      ? 'deadline'
      : context.signal.aborted || this.#stopping.signal.aborted
        ? 'caller'
        : undefined;
    return explain(error, {
      helpers: this.#helpers,
      sql,
      // For hints: the tables that a rendered statement names as its aliases.
      tables: tableNames.filter((table) => new RegExp(`\\b${table}\\b`).test(sql)),
      endedBy,
      maxBytesBilled: this.#warehouse.config.maxBytesBilled,
    });
  }
}

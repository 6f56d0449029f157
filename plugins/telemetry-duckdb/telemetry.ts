import { type Health, type OrganizationId, SightlineError, Stopped } from '../../src/contract/core/index.ts';
import {
  admitText,
  type CheckedStatement,
  type Cursor,
  type CursorEnd,
  type ImportedStretch,
  labelComment,
  type ParsedStatement,
  type QueryLimits,
  type ResultColumn,
  type RowChunk,
  type StatementBinding,
  type StatementContext,
  type TableName,
  tableNames,
  type Telemetry,
  type TelemetryHost,
} from '../../src/contract/telemetry/index.ts';
import { type Asked, EngineLost, type Reply } from './channel.ts';
import { checkStatement, DuckdbStatement, DuckdbTemplate, maxSqlBytes, readStatement } from './statement.ts';
import { dialect, ownTables, relationWriter } from './dialect.ts';
import type { Engines, EngineUse } from './engines.ts';
import { explain } from './failures.ts';
import { fillTemplate } from './gate/relations.ts';
import { queriesAtOnce, type RowsHeader } from './protocol.ts';
import { crowded, DuckdbSink } from './sink.ts';

/** For what the engine does without touching data. */
const grammarTimeoutMs = 5_000;
/** How soon a request that reached for a dead engine is known to be lost. */
const lostAtOnceMs = 250;

export class DuckdbTelemetry implements Telemetry {
  readonly dialect = dialect;
  readonly inDataDirectory = true;
  readonly atOnce = { organization: queriesAtOnce };
  readonly sink: DuckdbSink;
  readonly #engines: Engines;
  readonly #host: TelemetryHost;

  constructor(engines: Engines, host: TelemetryHost) {
    this.#engines = engines;
    this.#host = host;
    this.sink = new DuckdbSink(engines, host);
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#engines.start();
  }

  async stop(): Promise<void> {
    await this.#engines.stop();
  }

  get enginesOpen(): number {
    return this.#engines.open;
  }

  async health(): Promise<Health> {
    if (!this.#engines.started) return { ok: false, detail: 'not started' };
    const detail = `${this.#engines.open} engines open`;
    const { senders } = this.sink;
    if (senders <= this.#engines.most) return { ok: true, detail };
    return { ok: true, degraded: true, detail: `${detail}, ${senders} organizations send: ${crowded}` };
  }

  async parse(sql: string, context: StatementContext): Promise<ParsedStatement> {
    admitText(sql, maxSqlBytes, this.#host.sql);
    const { payload } = await onceMoreIfLost(() => this.#askGrammar(sql, context));
    return readStatement(sql, payload, this.#host.sql);
  }

  check(parsed: ParsedStatement): CheckedStatement {
    if (!(parsed instanceof DuckdbStatement)) throw new TypeError('a statement that this plugin did not parse');
    return checkStatement(parsed, this.#host.sql, this.#host.now().getTime());
  }

  async render({ tree }: CheckedStatement, binding: StatementBinding): Promise<string> {
    if (!(tree instanceof DuckdbTemplate)) throw new TypeError('a statement that this plugin did not check');
    return fillTemplate(tree.template, (table) =>
      this.#host.mapping.relation(ownTables, table, { binding, tenant: undefined }, relationWriter),
    );
  }

  open(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    return onceMoreIfLost(() => this.#query(rendered, limits, context));
  }

  /** Not through an engine, which reads no file but its own; so it must not run yet. */
  async importParquet(
    organizationId: OrganizationId,
    files: Readonly<Partial<Record<TableName, string>>>,
  ): Promise<readonly ImportedStretch[]> {
    const { importParquet } = await import('./parquet-import.ts');
    return importParquet(this.#engines.fileOf(organizationId), files);
  }

  async compact(
    organizationId: OrganizationId,
  ): Promise<{ readonly before: number; readonly after: number } | undefined> {
    const { compactFile } = await import('./compact.ts');
    return compactFile(this.#engines.fileOf(organizationId));
  }

  forget(organizationId: OrganizationId): Promise<void> {
    return this.#engines.remove(organizationId);
  }

  async #query(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor> {
    const { timeoutMs, maxRows, maxBytes, maxCellBytes } = limits;
    const { channel, release } = await this.#acquire(context);
    const parts = new PartQueue();
    let asked: Asked<RowsHeader>;
    try {
      asked = channel.begin(
        { op: 'query', sql: labelComment(context.label) + rendered, maxRows, maxBytes, maxCellBytes },
        { signal: context.signal, timeoutMs, onPart: (part) => parts.push(part) },
      );
    } catch (error) {
      release();
      throw explain(error, this.#host.sql);
    }
    const finished = asked.reply
      .then(
        (last) => parts.finish(last),
        (error: unknown) => parts.fail(explain(error, this.#host.sql, tablesIn(rendered))),
      )
      .finally(release);
    const first = await parts.next();
    return new PartCursor(first, parts, () => {
      asked.stop('cancelled');
      return finished;
    });
  }

  async #acquire(context: StatementContext): Promise<EngineUse> {
    try {
      return await this.#engines.acquire(context.organizationId);
    } catch (error) {
      throw explain(error, this.#host.sql);
    }
  }

  async #askGrammar(sql: string, context: StatementContext): Promise<Reply<unknown>> {
    const { channel, release } = await this.#acquire(context);
    try {
      const options = { signal: context.signal, timeoutMs: grammarTimeoutMs };
      return await channel.request({ op: 'parse', sql }, options);
    } catch (error) {
      if (error instanceof Stopped && error.reason === 'timeout' && !context.signal.aborted) {
        throw this.#host.sql.refuse('sql_refused', 'The statement takes too long to read.', { cause: error });
      }
      throw explain(error, this.#host.sql);
    } finally {
      release();
    }
  }
}

/**
 * A request may reach for an engine that died a moment ago, before anybody noticed. It has done nothing then and is sent
 * again, once; one that was lost later may be what killed the engine.
 */
async function onceMoreIfLost<T>(ask: () => Promise<T>): Promise<T> {
  const sent = performance.now();
  try {
    return await ask();
  } catch (error) {
    const lost = error instanceof SightlineError && error.cause instanceof EngineLost;
    if (!lost || performance.now() - sent > lostAtOnceMs) throw error;
    return ask();
  }
}

/** For hints: the tables that the rendered SQL reads, and perhaps one that a string in it names. */
function tablesIn(rendered: string): readonly TableName[] {
  return tableNames.filter((table) => rendered.includes(`otel.${table}`));
}

class PartCursor implements Cursor {
  readonly columns: readonly ResultColumn[];
  readonly #parts: PartQueue;
  readonly #stop: () => Promise<unknown>;
  #unread: Reply<RowsHeader> | undefined;
  end: CursorEnd | undefined;

  /** @param stop ends what is still under way. */
  constructor(first: Reply<RowsHeader> | undefined, parts: PartQueue, stop: () => Promise<unknown>) {
    this.columns = first?.header.columns ?? [];
    this.#unread = first;
    this.#parts = parts;
    this.#stop = stop;
  }

  async read(): Promise<RowChunk | undefined> {
    for (;;) {
      const part = this.#unread ?? (await this.#parts.next());
      this.#unread = undefined;
      if (part === undefined) return undefined;
      if (part.header.end) this.end = part.header.end;
      if (part.header.rows > 0) return { rows: part.header.rows, json: part.payload };
    }
  }

  async close(): Promise<void> {
    await this.#stop();
  }
}

/** Parts of one result, from the socket to the reader of the cursor. Bounded by the query's own byte limit. */
class PartQueue {
  readonly #parts: Reply<RowsHeader>[] = [];
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  push(part: Reply<RowsHeader>): void {
    this.#parts.push(part);
    this.#wake?.();
  }

  finish(last: Reply<RowsHeader>): void {
    this.#ended = true;
    this.push(last);
  }

  fail(error: Error): void {
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async next(): Promise<Reply<RowsHeader> | undefined> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) return part;
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

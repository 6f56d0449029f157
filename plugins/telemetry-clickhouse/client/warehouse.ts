import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import {
  labelComment,
  notConnected,
  type Cursor,
  type QueryLimits,
  type StatementLabel,
  type TableName,
} from '../../../src/contract/telemetry/index.ts';
import { literal, textOf, type Row } from '../quote.ts';
import { ClickHouseCursor } from './cursor.ts';
import type { Endpoint, Settings, Endpoints } from './endpoint.ts';
import { explain, type Explaining, Deadline } from './failures.ts';
import { labelJson, agree, type AgreedSettings } from './settings.ts';

export interface WarehouseOptions {
  readonly endpoints: Endpoints;
  /** The operator's own, sent with every query. */
  readonly settings: Settings;
  readonly requestTimeoutMs: number;
  readonly explaining: Explaining;
}

export interface Query {
  readonly sql: string;
  readonly queryId: string;
  readonly role: string | undefined;
  readonly label: StatementLabel | undefined;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  /** For hints. */
  readonly tables: readonly TableName[];
}

export interface Write {
  readonly queryId?: string;
  readonly values?: Readable;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

const killTimeoutMs = 2_000;
const freshId = () => `sightline-${randomUUID()}`;

/** One account of a ClickHouse: queries of callers, and statements of our own. */
export class Warehouse {
  readonly #options: WarehouseOptions;
  readonly #kills = new Set<Promise<void>>();
  #agreed: AgreedSettings | undefined;

  constructor(options: WarehouseOptions) {
    this.#options = options;
  }

  /** Rejects where the server is not there, does not know the account, or writes results in a way that is not ours. */
  async start(signal: AbortSignal): Promise<void> {
    this.#agreed = await agree(
      async (sql, settings) =>
        (await this.#jsonRows(sql, settings, signal)).map((row) => textOf(Object.values(row)[0])),
      this.#options.settings,
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#kills);
    await this.#options.endpoints.close();
  }

  /** A statement of ours; rejects with a SightlineError. */
  async rows(sql: string, signal?: AbortSignal): Promise<readonly Row[]> {
    return await this.#explained(this.#jsonRows(sql, {}, signal));
  }

  /** The same under the settings that callers' statements are sent with. */
  async rowsAsSent(sql: string, signal?: AbortSignal): Promise<readonly Row[]> {
    return await this.#explained(this.#jsonRows(sql, this.#agreed?.fixed ?? this.#options.settings, signal));
  }

  /** A statement of any kind under the identity of its sender; rejects as `rows` does. */
  async rowsAs(
    sql: string,
    sender: { readonly queryId?: string; readonly role?: string },
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const asked = this.#inTime(signal, async (until) => {
      // Not every kind takes a FORMAT clause.
      const settings = { default_format: 'JSON' };
      const { body } = await this.#options.endpoints.send({
        sql,
        queryId: freshId(),
        ...sender,
        settings,
        signal: until,
      });
      const answer = await text(body);
      return answer === '' ? [] : dataOf(JSON.parse(answer));
    });
    return await this.#explained(asked);
  }

  /** A statement of ours that writes, sent once: what no answer came to may have been done. */
  async run(sql: string, { signal, ...write }: Write): Promise<void> {
    const done = this.#inTime(signal, async (until) => {
      const { body } = await this.#options.endpoints.sendOnce({ sql, queryId: freshId(), ...write, signal: until });
      await text(body);
    });
    await this.#explained(done);
  }

  async open(query: Query): Promise<Cursor> {
    const { endpoints, explaining } = this.#options;
    const about = { ...explaining, tables: query.tables };
    const deadline = new Deadline(query.signal, query.limits.timeoutMs);
    const { settings, comment } = this.#dressed(query);
    try {
      deadline.signal.throwIfAborted();
      const { body, readBytes, endpoint } = await endpoints.send({
        sql: `${comment}${query.sql}\nFORMAT JSONCompactEachRowWithNamesAndTypes`,
        queryId: query.queryId,
        ...(query.role === undefined ? {} : { role: query.role }),
        settings,
        signal: deadline.signal,
      });
      return await ClickHouseCursor.open({
        body,
        limits: query.limits,
        deadline,
        readBytes,
        explain: (error) => explain(error, about),
        kill: () => this.#kill(endpoint, query.queryId),
      });
    } catch (error) {
      deadline.clear();
      if (deadline.signal.aborted) {
        this.#kill(endpoints, query.queryId);
        throw explain(deadline.signal.reason, about);
      }
      throw explain(error, about);
    }
  }

  /** As `open` would run it: what the engine expects to read. */
  async explainEstimate({ sql, queryId, role, signal, tables }: Omit<Query, 'limits'>): Promise<readonly Row[]> {
    const asked = this.#inTime(signal, async (until) => {
      const { body } = await this.#options.endpoints.send({
        sql: `EXPLAIN ESTIMATE ${sql}\nFORMAT JSON`,
        queryId,
        ...(role === undefined ? {} : { role }),
        signal: until,
      });
      return dataOf(await json(body));
    });
    return await this.#explained(asked, tables);
  }

  #dressed({ label, limits }: Query): { readonly settings: Settings; readonly comment: string } {
    const agreed = this.#agreed;
    if (agreed === undefined) throw notConnected();
    const { fixed, mostSeconds, logComment } = agreed;
    const seconds = Math.min(Math.ceil(limits.timeoutMs / 1_000), mostSeconds ?? 0);
    return {
      settings: {
        ...fixed,
        ...(mostSeconds === undefined ? {} : { max_execution_time: seconds }),
        ...(logComment && label !== undefined ? { log_comment: labelJson(label) } : {}),
      },
      comment: logComment ? '' : labelComment(label),
    };
  }

  async #jsonRows(sql: string, settings: Settings, signal?: AbortSignal): Promise<readonly Row[]> {
    return await this.#inTime(signal, async (until) => {
      const { body } = await this.#options.endpoints.send({
        sql: `${sql}\nFORMAT JSON`,
        queryId: freshId(),
        settings,
        signal: until,
      });
      return dataOf(await json(body));
    });
  }

  /** Rejects with a Stopped where the time is over or the caller leaves. */
  async #inTime<Answer>(
    caller: AbortSignal | undefined,
    work: (until: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = new Deadline(caller ?? new AbortController().signal, this.#options.requestTimeoutMs);
    try {
      return await work(deadline.signal);
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      deadline.clear();
    }
  }

  async #explained<Answer>(asked: Promise<Answer>, tables?: readonly TableName[]): Promise<Answer> {
    try {
      return await asked;
    } catch (error) {
      throw explain(error, { ...this.#options.explaining, ...(tables && { tables }) });
    }
  }

  /** A server that does not take it up has no work to stop, or will see the closed connection. */
  #kill(at: Pick<Endpoint, 'send'>, queryId: string): void {
    const done = at.send(killStatement(queryId)).then(
      ({ body }) => void body.resume(),
      () => undefined,
    );
    this.#kills.add(done);
    void done.finally(() => this.#kills.delete(done));
  }
}

function killStatement(queryId: string) {
  return {
    sql: `KILL QUERY WHERE query_id = ${literal(queryId)} ASYNC`,
    queryId: `sightline-${randomUUID()}`,
    signal: AbortSignal.timeout(killTimeoutMs),
  };
}

function dataOf(answer: unknown): readonly Row[] {
  const rows = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  if (!Array.isArray(rows)) throw new TypeError('an answer without data');
  return rows.filter((row): row is Row => typeof row === 'object' && row !== null);
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ApiFailure, pause, type Api } from './api.ts';
import type { StatementLabel } from '../../src/contract/telemetry/index.ts';

/** Who asked, as labels of a job; the warehouse's owner finds them beside what it cost. */
export function jobLabels(
  configured: Readonly<Record<string, string>>,
  label: StatementLabel | undefined,
): Readonly<Record<string, string>> {
  return {
    ...configured,
    sightline: 'query',
    ...(label && {
      sightline_principal: labelValue(label.principal),
      sightline_tool: labelValue(label.tool),
      sightline_trace: labelValue(label.traceId),
    }),
  };
}

/** All that a label's value may hold. */
function labelValue(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, 63);
}

/** How long BigQuery holds a request for rows that are not there yet. */
const pollMs = 10_000;
/** Of a page; BigQuery sends fewer when they are large. */
const pageRows = 10_000;
const cancelTimeoutMs = 3_000;
/** Between looks for a job that may still come. */
const lateMs = 250;

/** What every job has: no legacy SQL, no cache that others fill, no session, no default dataset. */
export interface QueryJob {
  readonly sql: string;
  readonly location: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly maxBytesBilled: number;
  /** What the views' SECURE_CONTEXT answers, by key. */
  readonly secureContext?: Readonly<Record<string, string>>;
}

const count = z.coerce.number().nonnegative();

const tableReference = z.object({ projectId: z.string(), datasetId: z.string(), tableId: z.string() });

const dryRunAnswer = z.object({
  statistics: z.object({
    totalBytesProcessed: count.optional(),
    query: z.object({
      statementType: z.string(),
      totalBytesProcessed: count.optional(),
      referencedTables: z.array(tableReference).default([]),
      referencedRoutines: z.array(z.unknown()).default([]),
      undeclaredQueryParameters: z.array(z.unknown()).default([]),
    }),
  }),
});

/** What BigQuery says of a statement without running it. */
export interface DryRun {
  readonly statementType: string;
  readonly bytes: number;
  /** `project.dataset.table` of what it would read. */
  readonly tables: readonly string[];
  readonly routines: number;
  readonly parameters: number;
}

export const fieldSchema = z.object({
  name: z.string(),
  type: z.string(),
  mode: z.string().optional(),
  get fields() {
    return z.array(fieldSchema).optional();
  },
});
export type FieldSchema = z.output<typeof fieldSchema>;

const pageAnswer = z.object({
  jobComplete: z.boolean().default(true),
  schema: z.object({ fields: z.array(fieldSchema).default([]) }).optional(),
  rows: z.array(z.object({ f: z.array(z.object({ v: z.unknown() })) })).default([]),
  pageToken: z.string().optional(),
  totalBytesProcessed: count.optional(),
});

export type Page = z.output<typeof pageAnswer>;

export async function dryRun(api: Api, job: QueryJob, signal: AbortSignal): Promise<DryRun> {
  const jobReference = { projectId: api.projectId, jobId: newJobId(), location: job.location };
  const body = { configuration: { dryRun: true, ...configurationOf(job) }, jobReference };
  const answer = await api.send({ method: 'POST', path: '/jobs', body, retry: true }, signal);
  const { statistics } = readAs(dryRunAnswer, answer);
  const { query } = statistics;
  return {
    statementType: query.statementType,
    bytes: query.totalBytesProcessed ?? statistics.totalBytesProcessed ?? 0,
    tables: query.referencedTables.map(({ projectId, datasetId, tableId }) => `${projectId}.${datasetId}.${tableId}`),
    routines: query.referencedRoutines.length,
    parameters: query.undeclaredQueryParameters.length,
  };
}

export class RunningJob {
  readonly #api: Api;
  readonly #id = newJobId();
  readonly #location: string;
  readonly #inserted: Promise<void>;
  #isKnown = false;
  #complete = false;
  #cancelled: Promise<void> | undefined;

  constructor(api: Api, job: QueryJob, timeoutMs: number, signal: AbortSignal) {
    this.#api = api;
    this.#location = job.location;
    this.#inserted = this.#insert(job, timeoutMs, signal);
    // The reader of the first page gets the failure.
    this.#inserted.catch(() => {});
  }

  /** The first page has no token. Waits until the job is done. */
  async page(token: string | undefined, maxRows: number, signal: AbortSignal): Promise<Page> {
    await this.#inserted;
    for (;;) {
      const answer = await this.#api.send(
        {
          method: 'GET',
          path: `/queries/${this.#id}`,
          query: {
            location: this.#location,
            timeoutMs: pollMs,
            maxResults: Math.min(maxRows, pageRows),
            'formatOptions.useInt64Timestamp': true,
            ...(token === undefined ? {} : { pageToken: token }),
          },
          retry: true,
        },
        signal,
      );
      const page = readAs(pageAnswer, answer);
      if (!page.jobComplete) continue;
      this.#complete = true;
      return page;
    }
  }

  /** Stops BigQuery's work if it is not done. Safe twice; waits for a job that is only just being started. */
  cancel(): Promise<void> {
    this.#cancelled ??= this.#complete ? Promise.resolve() : this.#cancel();
    return this.#cancelled;
  }

  async #cancel(): Promise<void> {
    const signal = AbortSignal.timeout(cancelTimeoutMs);
    try {
      await this.#inserted;
    } catch (error) {
      // A refused job does not run; after any other failure it may.
      if (error instanceof ApiFailure && error.status >= 400 && error.status < 500) return;
    }
    const request = {
      method: 'POST',
      path: `/jobs/${this.#id}/cancel`,
      query: { location: this.#location },
      body: {},
      timeoutMs: cancelTimeoutMs,
      retry: true,
    } as const;
    for (;;) {
      try {
        await this.#api.send(request, signal);
        return;
      } catch (error) {
        // What starts the job may still be on its way.
        const mayCome = error instanceof ApiFailure && error.status === 404 && !this.#isKnown;
        if (!mayCome) throw error;
        await pause(lateMs, signal);
      }
    }
  }

  async #insert(job: QueryJob, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const body = {
      jobReference: { projectId: this.#api.projectId, jobId: this.#id, location: this.#location },
      configuration: { ...configurationOf(job), jobTimeoutMs: String(Math.max(1, Math.ceil(timeoutMs))) },
    };
    try {
      await this.#api.send({ method: 'POST', path: '/jobs', body, retry: true }, signal);
    } catch (error) {
      // A first try that arrived although its answer was lost: ids are ours and new.
      if (!(error instanceof ApiFailure) || error.status !== 409) throw error;
    }
    this.#isKnown = true;
  }
}

function newJobId(): string {
  return `sightline_${randomUUID()}`;
}

function configurationOf({ sql, labels, maxBytesBilled, secureContext }: QueryJob): object {
  return {
    labels,
    query: {
      query: unmarked(sql),
      useLegacySql: false,
      useQueryCache: false,
      priority: 'INTERACTIVE',
      maximumBytesBilled: String(maxBytesBilled),
      ...(secureContext === undefined ? {} : { secureContext: { secureParameterEntries: secureContext } }),
    },
  };
}

/** The client replaces this mark with the project's id anywhere in the text; it can only occur within quotes. */
function unmarked(sql: string): string {
  return sql.replaceAll('{{projectId}}', '{\\u007bprojectId}}');
}

function readAs<T>(shape: z.ZodType<T>, answer: unknown): T {
  const { success, data, error } = shape.safeParse(answer);
  if (!success) throw new ApiFailure('BigQuery answered something else', '', 0, error);
  return data;
}

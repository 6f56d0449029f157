import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../listen.ts';

/** A request as BigQuery would get it. */
export interface RecordedRequest {
  readonly method: string;
  /** Below `/bigquery/v2`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly authorization: string | undefined;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly fields?: readonly Field[];
}

/** What a statement answers. */
export interface Script {
  readonly fields?: readonly Field[];
  /** Cells as BigQuery's interface writes them: text, `{f: [{v}]}` for records, `[{v}]` for arrays. */
  readonly rows?: readonly (readonly unknown[])[];
  readonly rowsPerPage?: number;
  readonly error?: ScriptedError;
  /** Of the dry run alone. */
  readonly dryRunError?: ScriptedError;
  readonly statementType?: string;
  readonly bytes?: number;
  /** `project.dataset.table`; by default what is in backticks in the statement. */
  readonly tables?: readonly string[];
  readonly routines?: readonly string[];
  readonly parameters?: readonly string[];
  /** Never done, unless it is cancelled. */
  readonly runsForever?: boolean;
  /** The connection breaks instead of this page, the first being 0. */
  readonly diesAtPage?: number;
}

export interface ScriptedError {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

/** An error, no answer at all, a broken connection, or what was asked a while later. */
export type Mishap = ScriptedError | 'hang' | 'break' | 'late';

export interface ScriptedTable {
  readonly fields: readonly Field[];
  /** Partitioned by arrival. */
  readonly byArrival?: boolean;
}

interface Job {
  readonly script: Script;
  cancelled: boolean;
}

/**
 * BigQuery's REST interface as far as jobs go: insert, dry run, rows by page, cancel, the schema of a table, and the token
 * exchange of workload identity federation. It runs no SQL: it answers what it was told and remembers what it was asked.
 */
export class BigqueryServer {
  readonly requests: RecordedRequest[] = [];
  readonly tables = new Map<string, ScriptedTable>();
  /** Of a dataset's tables, a page. */
  mostListed = 20;
  /** Which script a statement has; the last that fits. */
  readonly #scripts: { readonly fits: (sql: string) => boolean; readonly script: Script }[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #server: Server;
  /** Answers for the next requests whose path contains the text, whatever they are. */
  readonly #failures: { readonly path: string; times: number; readonly error: Mishap }[] = [];
  readonly #hanging = new Set<ServerResponse>();
  readonly #closes: boolean;
  endpoint = '';

  private constructor(closes: boolean) {
    this.#closes = closes;
    this.#server = createServer((request, response) => {
      if (this.#closes) response.setHeader('connection', 'close');
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  /** `closes`: every connection after its answer, for who counts them. */
  static async start({ closes = false } = {}): Promise<BigqueryServer> {
    const server = new BigqueryServer(closes);
    const port = await listen(server.#server);
    server.endpoint = `http://127.0.0.1:${port}`;
    return server;
  }

  async stop(): Promise<void> {
    for (const response of this.#hanging) response.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  script(fits: string | ((sql: string) => boolean), script: Script): void {
    this.#scripts.push({ fits: typeof fits === 'string' ? (sql) => sql.includes(fits) : fits, script });
  }

  failNext(path: string, error: Mishap, times = 1): void {
    this.#failures.push({ path, times, error });
  }

  /** Bodies of what was inserted: real jobs, or dry runs. */
  inserted(dryRun = false): readonly Json[] {
    return this.requests
      .filter(({ method, path, body }) => method === 'POST' && path.endsWith('/jobs') && isDryRun(body) === dryRun)
      .map(({ body }) => body);
  }

  /** Ids of jobs that were told to stop. */
  cancelled(): readonly string[] {
    return this.requests.flatMap(({ path }) => /\/jobs\/([^/]+)\/cancel$/.exec(path)?.[1] ?? []);
  }

  /** Ids of jobs that were running and were stopped. */
  stopped(): readonly string[] {
    return [...this.#jobs].filter(([, { cancelled }]) => cancelled).map(([id]) => id);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '/', 'http://server');
    if (url.pathname === '/token') {
      const token = { access_token: 'fixture', issued_token_type: 'urn:x', token_type: 'Bearer', expires_in: 3600 };
      return send(response, 200, token);
    }
    const path = url.pathname.replace(/^\/bigquery\/v2/, '');
    const body: Json = text === '' ? null : JSON.parse(text);
    const { method = 'GET', headers } = request;
    this.requests.push({ method, path, query: url.searchParams, body, authorization: headers.authorization });
    const failure = this.#failures.find((candidate) => candidate.times > 0 && path.includes(candidate.path));
    if (failure !== undefined) {
      failure.times -= 1;
      if (failure.error === 'break') return void request.socket.destroy();
      if (failure.error === 'hang') return void this.#hanging.add(response);
      if (failure.error !== 'late') return fail(response, failure.error);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const table = /^\/projects\/([^/]+)\/datasets\/([^/]+)\/tables\/([^/]+)$/.exec(path);
    if (table !== null) return this.#table(table.slice(1).map(decodeURIComponent).join('.'), response);
    const dataset = /^\/projects\/([^/]+)\/datasets\/([^/]+)\/tables$/.exec(path);
    if (dataset !== null) return this.#listed(dataset.slice(1).join('.'), url.searchParams, response);
    if (method === 'POST' && path.endsWith('/jobs')) return this.#insert(body, path.split('/')[2] ?? '', response);
    const cancel = /\/jobs\/([^/]+)\/cancel$/.exec(path)?.[1];
    if (cancel !== undefined) {
      const job = this.#jobs.get(cancel);
      if (job === undefined) return fail(response, { status: 404, reason: 'notFound', message: 'Not found: Job' });
      job.cancelled = true;
      return send(response, 200, { kind: 'bigquery#jobCancelResponse' });
    }
    const results = /\/queries\/([^/]+)$/.exec(path)?.[1];
    if (results !== undefined) return this.#results(results, url.searchParams, request, response);
    fail(response, { status: 404, reason: 'notFound', message: `Not found: ${path}` });
  }

  #listed(dataset: string, query: URLSearchParams, response: ServerResponse): void {
    const names = [...this.tables.keys()].filter((path) => path.startsWith(`${dataset}.`));
    if (names.length === 0) return fail(response, { status: 404, reason: 'notFound', message: 'Not found: Dataset' });
    const from = Number(query.get('pageToken') ?? 0);
    const to = from + Math.min(Number(query.get('maxResults') ?? 50), this.mostListed);
    const tables = names.slice(from, to).map((path) => ({ tableReference: { tableId: path.split('.').at(-1) } }));
    send(response, 200, { tables, ...(to < names.length && { nextPageToken: String(to) }) });
  }

  #table(path: string, response: ServerResponse): void {
    const table = this.tables.get(path);
    if (table === undefined)
      return fail(response, { status: 404, reason: 'notFound', message: `Not found: Table ${path}` });
    const partitioning = table.byArrival === true ? { timePartitioning: { type: 'DAY' } } : {};
    send(response, 200, { kind: 'bigquery#table', schema: { fields: table.fields }, ...partitioning });
  }

  #scriptOf(sql: string): Script {
    return this.#scripts.findLast(({ fits }) => fits(sql))?.script ?? {};
  }

  #insert(body: Json, project: string, response: ServerResponse): void {
    const sql = String(at(body, 'configuration', 'query', 'query'));
    const script = this.#scriptOf(sql);
    if (isDryRun(body)) {
      const error = script.dryRunError;
      if (error !== undefined) return fail(response, error);
      const tables = script.tables ?? tablesIn(sql, project);
      const statistics = {
        totalBytesProcessed: String(script.bytes ?? 1_000),
        query: {
          statementType: script.statementType ?? 'SELECT',
          totalBytesProcessed: String(script.bytes ?? 1_000),
          referencedTables: tables.map((table) => {
            const [projectId, datasetId, tableId] = table.split('.');
            return { projectId, datasetId, tableId };
          }),
          ...(script.routines && { referencedRoutines: script.routines.map((routineId) => ({ routineId })) }),
          ...(script.parameters && { undeclaredQueryParameters: script.parameters.map((name) => ({ name })) }),
        },
      };
      return send(response, 200, { kind: 'bigquery#job', status: { state: 'DONE' }, statistics });
    }
    const id = String(at(body, 'jobReference', 'jobId'));
    if (this.#jobs.has(id)) {
      return fail(response, { status: 409, reason: 'duplicate', message: `Already Exists: Job ${id}` });
    }
    this.#jobs.set(id, { script, cancelled: false });
    send(response, 200, { kind: 'bigquery#job', jobReference: { jobId: id }, status: { state: 'RUNNING' } });
  }

  #results(id: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return fail(response, { status: 404, reason: 'notFound', message: `Not found: Job ${id}` });
    const { script } = job;
    if (script.error !== undefined) return fail(response, script.error);
    if (script.runsForever === true) {
      if (job.cancelled)
        return fail(response, { status: 400, reason: 'stopped', message: 'Job execution was cancelled' });
      // BigQuery holds the request for a while; here just long enough not to be asked all the time.
      setTimeout(() => send(response, 200, { jobComplete: false, jobReference: { jobId: id } }), 20).unref();
      return;
    }
    const { rows = [], fields = [], rowsPerPage = rows.length } = script;
    const from = Number(query.get('pageToken') ?? 0);
    const perPage = Math.max(1, Math.min(rowsPerPage, Number(query.get('maxResults') ?? rowsPerPage)));
    if (script.diesAtPage !== undefined && from >= script.diesAtPage * perPage) return void request.socket.destroy();
    const to = Math.min(rows.length, from + perPage);
    send(response, 200, {
      jobComplete: true,
      totalRows: String(rows.length),
      totalBytesProcessed: String(script.bytes ?? 1_000),
      schema: { fields },
      rows: rows.slice(from, to).map((cells) => ({ f: cells.map((v) => ({ v })) })),
      ...(to < rows.length && { pageToken: String(to) }),
    });
  }
}

function isDryRun(body: Json): boolean {
  return at(body, 'configuration', 'dryRun') === true;
}

/** The member at the end of the path, undefined where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

/** `` `project.dataset.table` `` wherever it stands in a statement; without a project it is the job's. */
function tablesIn(sql: string, project: string): readonly string[] {
  const paths = [...sql.matchAll(/`((?:[a-z][\w-]*\.)?\w+\.\w+)`/g)].map(([, path = '']) => path);
  return [...new Set(paths.map((path) => (path.split('.').length === 2 ? `${project}.${path}` : path)))];
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, { status, reason, message }: ScriptedError): void {
  const errors = [{ reason, message, domain: 'global', location: 'q', locationType: 'parameter' }];
  send(response, status, { error: { code: status, message, errors, status: reason } });
}

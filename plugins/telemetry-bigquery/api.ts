import { setTimeout as sleep } from 'node:timers/promises';
import type { BigQuery } from '@google-cloud/bigquery';
import { z } from 'zod';

/** Of one request; queries are polled, so none has to wait longer. */
const requestTimeoutMs = 30_000;
/** Between a request that failed for the moment and its next try. */
const retryDelaysMs = [200, 600, 1_500];

export interface ApiOptions {
  readonly projectId: string;
  readonly apiEndpoint: string | undefined;
  readonly keyFilename: string | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Whose it is, where it is not the one that jobs run in. */
  readonly project?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: object;
  readonly timeoutMs?: number;
  /** Only for what does the same when it is done twice. */
  readonly retry?: boolean;
}

const failureShape = z.object({
  code: z.union([z.number(), z.string()]).optional(),
  message: z.string().optional(),
  errors: z
    .array(z.object({ reason: z.string().optional(), message: z.string().optional() }))
    .optional()
    .catch(undefined),
});

/** What BigQuery, or the way to it, answered instead of a result. Its message is BigQuery's own: for the log alone. */
export class ApiFailure extends Error {
  /** BigQuery's word for it (`invalidQuery`, `quotaExceeded`, …), '' when it said none. */
  readonly reason: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;

  constructor(message: string, reason: string, status: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'ApiFailure';
    this.reason = reason;
    this.status = status;
  }

  get passing(): boolean {
    return (
      this.status === 0 ||
      this.status === 429 ||
      this.status >= 500 ||
      this.reason === 'rateLimitExceeded' ||
      this.reason === 'jobRateLimitExceeded' ||
      this.reason === 'backendError'
    );
  }
}

const idleMs = 3_000;

/** The REST interface under one identity. Credentials are fetched with the first request. */
export class Api {
  readonly projectId: string;
  readonly #client: BigQuery;
  readonly #keyFilename: string | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  private constructor(projectId: string, client: BigQuery, keyFilename: string | undefined) {
    this.projectId = projectId;
    this.#client = client;
    this.#keyFilename = keyFilename;
  }

  /** The client is loaded here and not before: a gateway with another warehouse pays nothing for it. */
  static async open({ projectId, apiEndpoint, keyFilename }: ApiOptions): Promise<Api> {
    const { BigQuery: Client } = await import('@google-cloud/bigquery');
    const client = new Client({
      projectId,
      // Retried here, where it is known whether anybody still waits.
      autoRetry: false,
      ...(apiEndpoint === undefined ? {} : { apiEndpoint }),
    });
    return new Api(projectId, client, keyFilename);
  }

  /** Rejects with an ApiFailure, or with the signal's reason. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await unlessAborted(this.#once(request), signal);
      } catch (error) {
        const delay = retryDelaysMs[attempt];
        if (!(error instanceof ApiFailure) || !error.passing || request.retry !== true || delay === undefined)
          throw error;
        await unlessAborted(pause(delay, signal), signal);
      }
    }
  }

  /** Once no request is under way, or after three seconds: the client has no way to take one back. */
  async idle(): Promise<void> {
    const enough = new AbortController();
    await Promise.race([Promise.allSettled(this.#underWay), pause(idleMs, enough.signal)]);
    enough.abort();
  }

  #once(request: ApiRequest): Promise<unknown> {
    const answered = this.#identified()
      .then(() => this.#ask(request))
      .finally(() => this.#underWay.delete(answered));
    this.#underWay.add(answered);
    return answered;
  }

  /**
   * Given the file's name in its options, the client would warn on standard error of files that strangers wrote. This is how
   * it reads the operator's own, which GOOGLE_APPLICATION_CREDENTIALS names.
   */
  async #identified(): Promise<void> {
    const { authClient } = this.#client;
    if (this.#keyFilename === undefined || authClient.cachedCredential !== null) return;
    try {
      await authClient._getApplicationCredentialsFromFilePath(this.#keyFilename);
    } catch (cause) {
      // The parser's error quotes the text, which may hold a key.
      throw cause instanceof SyntaxError
        ? new ApiFailure('The credential file is no JSON', '', 0)
        : new ApiFailure('The credential file cannot be used', '', 0, cause);
    }
  }

  #ask({ method, project, path, query, body, timeoutMs = requestTimeoutMs }: ApiRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const options = {
        method,
        uri: path,
        ...(project === undefined ? {} : { projectId: project }),
        ...(query === undefined ? {} : { qs: query }),
        ...(body === undefined ? {} : { json: body }),
        // The client's own time-out is one for all requests.
        interceptors_: [
          { request: (decorated: object) => Object.assign({ uri: path }, decorated, { timeout: timeoutMs }) },
        ],
      };
      this.#client.request(options, (error: unknown, answer: unknown) => {
        if (error === null || error === undefined) resolve(answer);
        else reject(failureOf(error));
      });
    });
  }
}

function failureOf(error: unknown): ApiFailure {
  const { success, data } = failureShape.safeParse(error);
  if (!success) return new ApiFailure('BigQuery does not answer', '', 0, error);
  const { code, message = '', errors = [] } = data;
  const status = typeof code === 'number' ? code : 0;
  const [first] = errors;
  return new ApiFailure(first?.message ?? message, first?.reason ?? '', status, error);
}

/** Settles when the signal does; what is under way ends by its own time-out, unseen. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Ends early when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

import { Endpoint, type EndpointOptions, type Reply, type Statement } from './endpoint.ts';
import { EngineError } from './engine-error.ts';

export interface EndpointsOptions extends EndpointOptions {
  readonly urls: readonly string[];
}

/** How long an endpoint that could not be reached is asked last. */
const avoidedMs = 5_000;

/** The replicas of one warehouse for one account. A statement that reached no server is sent to the next. */
export class Endpoints {
  readonly #endpoints: readonly { readonly endpoint: Endpoint; avoidUntil: number }[];

  constructor({ urls, ...options }: EndpointsOptions) {
    this.#endpoints = urls.map((url) => ({ endpoint: new Endpoint(url, options), avoidUntil: 0 }));
  }

  /** For statements that only read. Rejects with the engine's error, or the network's. */
  async send(statement: Statement): Promise<Reply> {
    const now = performance.now();
    const ordered = this.#endpoints.toSorted((a, b) => Number(a.avoidUntil > now) - Number(b.avoidUntil > now));
    // A kept connection may have been closed a moment ago, so that even a single server is asked twice.
    const attempts = ordered.length === 1 ? [...ordered, ...ordered] : ordered;
    let failure: unknown;
    for (const candidate of attempts) {
      try {
        return await candidate.endpoint.send(statement);
      } catch (error) {
        if (statement.signal.aborted || !isUnreachable(error)) throw error;
        if (ordered.length > 1) candidate.avoidUntil = now + avoidedMs;
        failure = error;
      }
    }
    throw failure;
  }

  /** To the first server alone and once: what was written may be there although no answer came. */
  async sendOnce(statement: Statement): Promise<Reply> {
    const [first] = this.#endpoints;
    if (first === undefined) throw new TypeError('no url');
    return await first.endpoint.send(statement);
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map(({ endpoint }) => endpoint.close()));
  }
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Whether no server took the statement up, or it broke off before it answered. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof EngineError || typeof error !== 'object' || error === null) return false;
  if ('code' in error && typeof error.code === 'string') return unreachable.has(error.code);
  return error instanceof AggregateError || ('message' in error && error.message === 'socket hang up');
}

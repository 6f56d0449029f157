import type { HttpResponse } from '../../mcp/http-message.ts';

type Answer = Pick<HttpResponse, 'writeHead' | 'end' | 'on'>;

/** After twice this a request no longer counts: it waits for something else than this process. */
const spanMs = 2_000;

/**
 * Counts the requests under way that began within the last two seconds, or up to four, before anything is spent on them. Under overload
 * it is the number of these that grows; those that wait for long, for a warehouse or an answer in a chat, cost nothing meanwhile.
 */
export class Inflow {
  readonly #atOnce: number;
  readonly #now: () => number;
  #span = 0;
  #spanEnds = 0;
  #begunNow = 0;
  #begunBefore = 0;
  #ended = this.#endOf(0);

  /** @param now milliseconds that never go back. */
  constructor(atOnce: number, now: () => number = () => performance.now()) {
    this.#atOnce = atOnce;
    this.#now = now;
  }

  /** False, and nothing is counted, where so many are under way. */
  admit(response: Answer): boolean {
    const now = this.#now();
    if (now >= this.#spanEnds) this.#next(now);
    if (this.#begunNow + this.#begunBefore >= this.#atOnce) return false;
    this.#begunNow += 1;
    // One listener for all of a span. A response is closed once.
    response.on('close', this.#ended);
    return true;
  }

  /** What ends a request that began in this span. */
  #endOf(span: number): () => void {
    return () => {
      if (span === this.#span) this.#begunNow -= 1;
      else if (span === this.#span - 1) this.#begunBefore -= 1;
    };
  }

  #next(now: number): void {
    const skipped = now >= this.#spanEnds + spanMs;
    this.#begunBefore = skipped ? 0 : this.#begunNow;
    this.#begunNow = 0;
    this.#span += skipped ? 2 : 1;
    this.#spanEnds = now + spanMs;
    this.#ended = this.#endOf(this.#span);
  }
}

const told = 'This gateway has more requests than it can answer at once.';
const hint = 'Wait a second, then send the request again.';

const asRpc = refusal({
  jsonrpc: '2.0',
  error: { code: 503, message: told, data: { code: 'overloaded', hint, retry_after_seconds: 1 } },
});
const asOtlp = refusal({ code: 14, message: told });
const asOurs = refusal({ error: { code: 'overloaded', message: told, hint } });

const togetherMs = 3;
let refused: { readonly path: string; readonly response: Answer }[] = [];

/**
 * 503 in the words of whom the path is of, written beforehand: many are sent when there is no time. A moment later, and together:
 * a client that is woken for each of its refusals takes more of the machine than they are worth, and one that asks again at once
 * waits as long.
 */
export function refuseOverload(path: string, response: Answer): void {
  if (refused.push({ path, response }) === 1) setTimeout(refuseAll, togetherMs);
}

function refuseAll(): void {
  const all = refused;
  refused = [];
  for (const { path, response } of all) {
    const { headers, body } = path === '/mcp' ? asRpc : path.startsWith('/v1/') ? asOtlp : asOurs;
    response.writeHead(503, headers).end(body);
  }
}

function refusal(content: object): {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
} {
  // Not bytes: a text goes out in one write with its headers.
  const body = JSON.stringify(content);
  return {
    headers: Object.freeze({
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'retry-after': 1,
    }),
    body,
  };
}

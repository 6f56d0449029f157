import type { IncomingMessage, ServerResponse, OutgoingHttpHeaders } from 'node:http';

/** After twice this a request no longer counts: it waits for something other than this process. */
const spanMs = 2_000;

interface Place {
  readonly span: number;
  requests: number;
}

/**
 * Admission control: counts the connections with requests under way that began within the last two to four seconds. One
 * connection takes one place, however much it pipelines. Under overload this number grows; requests that wait for long, for a
 * warehouse or an answer in a chat, cost nothing meanwhile.
 */
export class Admission {
  readonly #atOnce: number;
  readonly #now: () => number;
  readonly #places = new WeakMap<object, Place>();
  #span = 0;
  #spanEnds = 0;
  #begunNow = 0;
  #begunBefore = 0;

  /** @param now milliseconds that never go back. */
  constructor(atOnce: number, now: () => number = () => performance.now()) {
    this.#atOnce = atOnce;
    this.#now = now;
  }

  /** Whether `admit` would let in what this connection asks now. */
  hasRoom(connection: object): boolean {
    const now = this.#now();
    if (now >= this.#spanEnds) this.#next(now);
    return this.#begunNow + this.#begunBefore < this.#atOnce || this.#placeOf(connection) !== undefined;
  }

  /** False, and nothing is counted, where as many connections are being served as may be. */
  admit(connection: object, response: Pick<ServerResponse, 'on'>): boolean {
    if (!this.hasRoom(connection)) return false;
    let place = this.#placeOf(connection);
    if (place === undefined) {
      this.#begunNow += 1;
      place = { span: this.#span, requests: 0 };
      this.#places.set(connection, place);
    }
    place.requests += 1;
    const taken = place;
    response.on('close', () => this.#leave(taken));
    return true;
  }

  #placeOf(connection: object): Place | undefined {
    const place = this.#places.get(connection);
    return place === undefined || place.requests === 0 || place.span < this.#span - 1 ? undefined : place;
  }

  #leave(place: Place): void {
    place.requests -= 1;
    if (place.requests > 0) return;
    if (place.span === this.#span) this.#begunNow -= 1;
    else if (place.span === this.#span - 1) this.#begunBefore -= 1;
  }

  #next(now: number): void {
    const skipped = now >= this.#spanEnds + spanMs;
    this.#begunBefore = skipped ? 0 : this.#begunNow;
    this.#begunNow = 0;
    this.#span += skipped ? 2 : 1;
    this.#spanEnds = now + spanMs;
  }
}

/** Whether the client sends its body only after a 100 (RFC 9110 §10.1.1), which a refusal spares. */
export function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect);
}

const message = 'This gateway has more requests than it can answer at once.';
const hint = 'Wait a second, then send the request again.';

/** Prebuilt 503 bodies, one per protocol, because they are sent under overload. */
const asOtlp = refusal({ code: 14, message });
const asOurs = refusal({ error: { code: 'overloaded', message, hint } });

/** 503 `overloaded` as OTLP or as JSON of ours; the body of the request is thrown away. */
export function refuseOverload(request: IncomingMessage, response: ServerResponse): void {
  const { headers, body } = request.url?.startsWith('/v1/') === true ? asOtlp : asOurs;
  answerEarly(request, response, 503, headers, body);
}

function refusal(content: object): {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
} {
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

/** Without a byte, and together. */
const idleMs = 1_000;
const lingerMs = 10_000;
/** Twice the largest body that is taken. */
const lingerBytes = 128 * 1024 * 1024;

/**
 * Answers a request whose body may not have come. Closing under a sender that still writes resets the connection, and the answer
 * is lost on the way; so what still comes is thrown away for up to ten seconds or 128 MiB, and then the connection ends.
 */
export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Buffer,
): void {
  if (request.complete) return void response.writeHead(status, headers).end(body);
  response.shouldKeepAlive = false;
  response.writeHead(status, headers).write(body);
  let dropped = 0;
  const until = performance.now() + lingerMs;
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', drop);
    response.end();
  };
  const drop = (chunk: Buffer): void => {
    dropped += chunk.length;
    if (dropped > lingerBytes || performance.now() > until) end();
    else timer.refresh();
  };
  const timer = setTimeout(end, idleMs);
  request.on('data', drop).once('end', end).once('close', end).once('error', end).resume();
}

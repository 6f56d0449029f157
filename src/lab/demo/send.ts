import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { SightlineError, type JsonObject, isObject, parseJson } from '../../contract/core/index.ts';
import { generate, type OtlpRequest, type OtlpSignal } from './generate.ts';
import type { DemoFigures, DemoOptions } from './timeline.ts';

const compress = promisify(gzip);

export interface SendOptions {
  /** Base URL of the OTLP receiver, without `/v1/…`. */
  readonly endpoint: string;
  /** An ingest token. */
  readonly token: string;
  readonly signal?: AbortSignal;
  /** 0 to 1. */
  readonly onProgress?: (progress: number) => void;
}

export interface Sent {
  readonly spans: number;
  readonly points: number;
  readonly logs: number;
  /** Items the receiver did not take, and said so. */
  readonly rejected: number;
}

/**
 * The shop is the same at whatever hour the demo is started: at night too few requests would meet the fault to tell it, and
 * with other draws of cards and pods fewer would, too.
 */
export const busiestHour = 17;

const concurrency = 4;
/** Of one request with all its repetitions. */
const deadlineMs = 60_000;

/** Generates the shop's telemetry and sends it like any other sender. Rejects when the receiver refuses or stays away. */
export async function sendDemo(
  demo: DemoOptions,
  options: SendOptions,
): Promise<Sent & { readonly figures: DemoFigures }> {
  const requests = generate({ hourAtEnd: busiestHour, ...demo });
  const result: { figures?: DemoFigures } = {};
  const sent = await sendOtlp(
    {
      *[Symbol.iterator]() {
        result.figures = yield* requests;
      },
    },
    options,
  );
  if (result.figures === undefined) throw new SightlineError('internal', 'The demo data ended early.');
  return { ...sent, figures: result.figures };
}

/** Posts ready OTLP/JSON bodies: gzip, a few at a time, repeated where the protocol allows it. */
export async function sendOtlp(
  requests: Iterable<Pick<OtlpRequest, 'signal' | 'body' | 'items'> & { readonly progress?: number }>,
  { endpoint, token, signal, onProgress }: SendOptions,
): Promise<Sent> {
  const items = { traces: 0, metrics: 0, logs: 0 };
  let rejected = 0;
  // One failing sender stops the others, and no more is generated.
  const failed = new AbortController();
  const stop = AbortSignal.any(signal === undefined ? [failed.signal] : [failed.signal, signal]);
  const iterator = requests[Symbol.iterator]();
  const sender = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      const request = next.value;
      rejected += await post(`${endpoint}/v1/${request.signal}`, token, request, stop);
      items[request.signal] += request.items;
      if (request.progress !== undefined) onProgress?.(request.progress);
    }
  };
  try {
    await Promise.all(
      Array.from({ length: concurrency }, () =>
        sender().catch((error: unknown) => {
          failed.abort(error);
          throw error;
        }),
      ),
    );
  } finally {
    iterator.return?.();
  }
  return { spans: items.traces, points: items.metrics, logs: items.logs, rejected };
}

/** Answers how many items were rejected. OTLP lets a sender repeat 429, 502, 503 and 504 only. */
async function post(
  url: string,
  token: string,
  request: { readonly signal: OtlpSignal; readonly body: string },
  stop: AbortSignal,
): Promise<number> {
  const body = await compress(request.body, { level: 1 });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  };
  const deadline = Date.now() + deadlineMs;
  for (let attempt = 0; ; attempt += 1) {
    let cause: unknown;
    let wait = Math.min(200 * 2 ** attempt, 5000) * (0.5 + Math.random() / 2);
    try {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(30_000)]);
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      const text = await response.text();
      if (response.ok) return rejectedItems(text);
      cause = `HTTP ${response.status}`;
      if (![429, 502, 503, 504].includes(response.status)) throw refused(url, response.status, text);
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (Number.isFinite(retryAfter)) wait = retryAfter * 1000;
    } catch (error) {
      if (stop.aborted || error instanceof SightlineError) throw error;
      cause = error;
    }
    if (Date.now() + wait > deadline) {
      throw new SightlineError('unavailable', `The OTLP receiver at ${url} did not take the data.`, {
        hint: 'Is the gateway running, and is the address right? sightline doctor tells.',
        cause,
      });
    }
    await delay(wait, undefined, { signal: stop });
  }
}

function refused(url: string, status: number, text: string): SightlineError {
  const hint =
    status === 401 || status === 403
      ? 'The ingest token is not valid there; see: sightline ingest show'
      : `It said: ${statusMessage(text)}`;
  return new SightlineError('invalid_argument', `The OTLP receiver at ${url} refused the data with HTTP ${status}.`, {
    hint,
  });
}

/** The message of a google.rpc.Status, or the start of whatever was answered; control characters taken out. */
function statusMessage(text: string): string {
  const parsed = parse(text);
  const message = typeof parsed['message'] === 'string' ? parsed['message'] : text;
  return message.replace(/\p{Cc}+/gu, ' ').slice(0, 300);
}

function rejectedItems(text: string): number {
  const partial = parse(text)['partialSuccess'];
  if (typeof partial !== 'object' || partial === null) return 0;
  for (const [key, value] of Object.entries(partial)) if (key.startsWith('rejected')) return Number(value) || 0;
  return 0;
}

function parse(text: string): JsonObject {
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

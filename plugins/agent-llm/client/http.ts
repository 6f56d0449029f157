import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { bodyWithin, type Logger, parseJson, troubleBehind } from '../../../src/contract/core/index.ts';
import { LlmFailure } from './client.ts';

export interface ModelEndpoint {
  readonly url: URL;
  /** Hold the secret: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** A turn of a model with tools is a few kB; the largest that an API allows is far below this. */
const maxBytes = 2 * 1024 * 1024;
const attempts = 5;
const firstWaitMs = 500;
const longestWaitMs = 60_000;

/** Passing: too many requests, a fault of the server, or (529) an overload. */
const passing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/**
 * Posts JSON and answers JSON. What passes is tried again, as late as the API asks, until the signal ends it. Redirects
 * are refused: they would carry telemetry to another place. Nothing of an error's text is kept, as some echo the key.
 */
export async function postJson(endpoint: ModelEndpoint, body: unknown, signal: AbortSignal): Promise<unknown> {
  const { url, logger } = endpoint;
  const text = JSON.stringify(body);
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const answer = await attemptOnce(endpoint, text, signal);
    if ('json' in answer) return answer.json;
    logger.warn({ host: url.host, attempt, problem: answer.problem }, 'the model API did not answer as it should');
    if (!answer.passing || attempt === attempts)
      throw new LlmFailure(`The model API at ${url.host} ${answer.problem}.`, answer.status);
    const wait = answer.waitMs ?? firstWaitMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
    await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

type Answer =
  | { readonly json: unknown }
  | {
      readonly problem: string;
      readonly passing: boolean;
      readonly status?: number;
      readonly waitMs?: number | undefined;
    };

async function attemptOnce(
  { url, headers, timeoutMs }: ModelEndpoint,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: both,
    });
    const content = await bodyWithin(response, maxBytes);
    if (content === undefined) throw new LlmFailure('The answer of the model API was too large.');
    text = content.toString('utf8');
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LlmFailure) throw error;
    return {
      problem: both.aborted
        ? `gave no answer in ${timeoutMs / 1000} s`
        : `could not be reached: ${troubleBehind(error).reason}`,
      passing: true,
    };
  }
  const { status } = response;
  if (response.ok) {
    const json = parseJson(withoutSecrets(text, headers));
    return json === undefined ? { problem: 'answered something that is not JSON', passing: false } : { json };
  }
  if (status >= 300 && status < 400) {
    return { problem: `answered with a redirect (${status}), which is not followed; check baseUrl`, passing: false };
  }
  const kind = errorKind(parseJson(text));
  return {
    problem: `answered ${status}${kind === undefined ? '' : ` (${kind})`}`,
    passing: passing(status),
    status,
    waitMs: waitOf(response.headers.get('retry-after')),
  };
}

/** Shorter words of a header are no secrets: `Bearer`, a version. */
const shortestSecret = 12;

/** Some servers quote what they were sent, and what they say is kept, shown to all members, and given to a model. */
export function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  const words = Object.values(headers).flatMap((value) => value.split(' '));
  const secrets = words.filter(({ length }) => length >= shortestSecret);
  return secrets.reduce((left, secret) => {
    // As it is, and as JSON may write it.
    const forms = [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll('/', '\\/')];
    return forms.reduce((rest, form) => rest.replaceAll(form, '(secret left out)'), left);
  }, text);
}

const errorShape = z.object({ error: z.object({ type: z.string().regex(/^[a-z_]{1,60}$/) }) });

/** `rate_limit_error`, `invalid_request_error` …: both APIs name it so. */
function errorKind(json: unknown): string | undefined {
  return errorShape.safeParse(json).data?.error.type;
}

function waitOf(retryAfter: string | null): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, longestWaitMs) : undefined;
}

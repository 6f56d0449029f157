import { z } from 'zod';
import { bodyWithin, code, parseJson, troubleBehind, type Trouble } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient } from './client.ts';

/** Where an API tells of its models: `{models}/{id}` of one, `{models}` of all. */
export interface ModelList {
  readonly url: URL;
  /** Hold the secret: never in what is said. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A model that says whether it can be asked. */
export interface CheckedClient extends LlmClient {
  /** What is wrong, in a sentence with the config key to change; undefined where nothing is, or it cannot be told. */
  problem(): Promise<string | undefined>;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** Of the whole look, since a readiness probe waits 2 s. */
export const timeoutMs = 1_500;
const freshMs = 300_000;
const freshAfterProblemMs = 30_000;
/** OpenRouter lists hundreds of models. */
const maxBytes = 4 * 1024 * 1024;
const listShape = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** Looks the model up, which costs nothing, at most once in a while; what an investigation meets counts, too. */
export function withHealth(client: LlmClient, config: Config, list: ModelList): CheckedClient {
  const { model, host } = client.describe();
  const keyed =
    config.apiKey === undefined && Object.keys(config.headers).length > 0 ? 'agent.headers' : 'agent.apiKey';
  const refusedKey = `The model API at ${host} refuses the key: set ${keyed}.`;
  async function get(url: URL, signal: AbortSignal): Promise<Answer | Trouble> {
    try {
      const response = await fetch(url, { headers: list.headers, redirect: 'manual', signal });
      const body = await bodyWithin(response, maxBytes);
      return { status: response.status, json: body && parseJson(body.toString('utf8')) };
    } catch (error) {
      return signal.aborted ? { reason: 'it takes too long' } : troubleBehind(error);
    }
  }

  async function look(): Promise<string | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    const one = await get(at(list.url, `/${encodeURIComponent(model)}`), signal);
    if ('reason' in one) {
      return `The model API at ${host} gave no answer: ${one.reason}. ${one.hint ?? 'Is agent.baseUrl right?'}`;
    }
    if (one.status === 401) return refusedKey;
    if (one.status >= 300 && one.status < 400) return `The model API at ${host} redirects: is agent.baseUrl right?`;
    if (one.status === 429 || one.status >= 500) return `The model API at ${host} answers ${one.status}.`;
    // Azure lists models, but requests name deployments.
    if (one.status !== 404 || host.endsWith('.azure.com')) return undefined;
    const all = await get(list.url, signal);
    if ('reason' in all) return undefined;
    if (all.status === 401) return refusedKey;
    const models = listShape.safeParse(all.json).data?.data;
    if (models === undefined || models.some(({ id }) => id === model || id === `${model}:latest`)) return undefined;
    return `The model API at ${host} has no model ${code(model)}: set agent.model.`;
  }

  const found = remembered(look);
  return {
    describe: () => client.describe(),
    async generate(request, signal) {
      try {
        const reply = await client.generate(request, signal);
        found.is(undefined);
        return reply;
      } catch (error) {
        if (error instanceof LlmFailure && error.status === 401) found.is(refusedKey);
        throw error;
      }
    },
    problem: () => found.problem(),
  };
}

/** What a look found, kept for a while: a shorter one where something is wrong. */
export function remembered(look: () => Promise<string | undefined>) {
  let known: { readonly until: number; readonly problem: Promise<string | undefined> } | undefined;

  function keep(problem: Promise<string | undefined>): Promise<string | undefined> {
    const entry = { until: performance.now() + freshMs, problem };
    known = entry;
    void problem.then((found) => {
      if (found !== undefined && known === entry) known = { until: performance.now() + freshAfterProblemMs, problem };
    });
    return problem;
  }

  return {
    problem: () => (known !== undefined && known.until > performance.now() ? known.problem : keep(look())),
    /** What was met elsewhere. */
    is: (problem: string | undefined): void => void keep(Promise.resolve(problem)),
  };
}

function at(url: URL, path: string): URL {
  const there = new URL(url);
  there.pathname += path;
  return there;
}

import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Logger } from '../../../src/contract/core/index.ts';
import { rejection } from '../../../test/contract/runner.ts';
import { listen } from '../../../test/support/listen.ts';
import { LlmFailure } from './client.ts';
import { postJson } from './http.ts';

const key = 'sk-very-secret';
const logged: string[] = [];
const write = (fields: object, message: string): void => void logged.push(JSON.stringify(fields) + message);
const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };

let answers: ((response: ServerResponse) => void)[] = [];
let asked = 0;
const server = createServer((request, response) => {
  request.resume();
  asked += 1;
  const answer = answers.shift();
  if (answer) answer(response);
  else response.end('{"fine":true}');
});
let url: URL;
beforeAll(async () => {
  url = new URL(`http://127.0.0.1:${await listen(server)}/v1/messages`);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  answers = [];
  asked = 0;
  logged.length = 0;
});

const post = (signal = AbortSignal.timeout(20_000), timeoutMs = 15_000): Promise<unknown> =>
  postJson({ url, headers: { 'x-api-key': key }, timeoutMs, logger }, { hello: 1 }, signal);
const failure =
  (status: number, type: string, headers = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: { type, message: `Incorrect API key: ${key}` } }));
const soon = { 'retry-after': '0' };

describe('a request to a model', () => {
  it.each([
    [429, 'rate_limit_error'],
    [529, 'overloaded_error'],
    [503, 'api_error'],
  ])('is made again after %d', async (status, type) => {
    answers = [failure(status, type, soon), failure(status, type, soon)];
    expect(await post()).toEqual({ fine: true });
    expect(asked).toBe(3);
  });

  it('is made five times at most', async () => {
    answers = Array.from({ length: 9 }, () => failure(529, 'overloaded_error', soon));
    const error = await rejection(post());
    expect(error).toBeInstanceOf(LlmFailure);
    expect(String(error)).toContain('answered 529 (overloaded_error)');
    expect(asked).toBe(5);
  });

  it('is made again when the connection breaks', async () => {
    answers = [(response) => response.destroy()];
    expect(await post()).toEqual({ fine: true });
  });

  it('is made again when one attempt takes too long', async () => {
    answers = [() => {}];
    expect(await post(AbortSignal.timeout(20_000), 100)).toEqual({ fine: true });
    expect(logged.join()).toContain('gave no answer in 0.1 s');
  });

  it('is made once where it is refused, and keeps the key out of the error and the log', async () => {
    answers = [failure(401, 'authentication_error')];
    const error = await rejection(post());
    expect(String(error)).toContain('answered 401 (authentication_error)');
    expect(error).toHaveProperty('status', 401);
    expect(asked).toBe(1);
    expect(logged).toHaveLength(1);
    expect([String(error), ...logged].join()).not.toContain(key);
  });

  it('is answered without the key, where the answer quotes it', async () => {
    answers = [(response) => response.end(JSON.stringify({ text: `No credit for Bearer ${key}!` }))];
    expect(await post()).toEqual({ text: 'No credit for Bearer (secret left out)!' });
  });

  it('does not follow a redirect', async () => {
    answers = [(response) => response.writeHead(307, { location: '/elsewhere' }).end()];
    expect(String(await rejection(post()))).toContain('redirect (307)');
    expect(asked).toBe(1);
  });

  it('reads no more than is sane', async () => {
    answers = [(response) => response.end(`"${'x'.repeat(3 * 1024 * 1024)}"`)];
    expect(String(await rejection(post()))).toContain('too large');
  });

  it('is told from an answer that is no JSON', async () => {
    answers = [(response) => response.end('<html>')];
    expect(String(await rejection(post()))).toContain('not JSON');
  });

  it('ends at once when it is cancelled, while it waits for an answer and between two attempts', async () => {
    for (const answer of [() => {}, failure(429, 'rate_limit_error', { 'retry-after': '60' })]) {
      answers = [answer];
      const stop = new AbortController();
      const reason = new Error('stopped');
      const waiting = rejection(post(stop.signal));
      while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
      setTimeout(() => stop.abort(reason), 20);
      expect(await waiting).toBe(reason);
      asked = 0;
    }
  });
});

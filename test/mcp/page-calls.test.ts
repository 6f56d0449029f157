import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool, newId } from '../../src/contract/core/index.ts';
import type { Principal, Scope } from '../../src/contract/issuer/index.ts';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';

/* The way on which a page of ours calls a tool: nothing may be different from a client's call but how the caller is known. */

const person: Principal = {
  kind: 'user',
  subject: newId('usr'),
  organizationId: newId('org'),
  role: 'member',
  scopes: new Set<Scope>(['telemetry:read']),
  clientId: 'pages',
};

describe('a call for a page', () => {
  let server: TestServer;
  let ended: (() => void) | undefined;
  afterEach(() => server.stop());

  async function start(caller: Principal): Promise<void> {
    const tool = defineTool({
      name: 'look',
      title: 'Look',
      description: 'Looks.',
      scope: 'telemetry:read',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      input: z.strictObject({ wait: z.boolean().optional() }),
      output: z.object({}),
      async run({ wait }, { signal }) {
        if (wait) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        ended?.();
        return { structured: '{"seen":true}', text: 'seen' };
      },
    });
    server = await startMcpServer({
      tools: [tool],
      rate: { perMinute: 2, burst: 2 },
      beside(request, response) {
        const sent = request.url === '/wait' ? { wait: true } : request.url === '/wrong' ? { look: 1 } : {};
        const called = server.call(caller, { name: 'look', arguments: sent }, { request, response });
        called.then(
          (text) => response.end(text),
          (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
        );
        return true;
      },
    });
  }

  const open = async (path: string): Promise<string> => (await fetch(`${server.origin}${path}`)).text();
  const outcomes = () => server.audited.map(({ event, target, subject, outcome }) => [event, target, subject, outcome]);

  it('is answered as a client is, and recorded once, under the person', async () => {
    await start(person);
    expect(JSON.parse(await open('/'))).toMatchObject({ result: { structuredContent: { seen: true } } });
    expect(JSON.parse(await open('/wrong'))).toMatchObject({ result: { isError: true } });
    expect(outcomes()).toEqual([
      ['tool.call', 'look', person.subject, 'ok'],
      ['tool.call', 'look', person.subject, 'invalid_argument'],
    ]);
  });

  it('is refused to who has not the scope', async () => {
    await start({ ...person, scopes: new Set<Scope>(['chats:read']) });
    expect(JSON.parse(await open('/'))).toMatchObject({ error: { data: { code: 'insufficient_scope' } } });
    expect(outcomes()).toEqual([['tool.call', 'look', person.subject, 'insufficient_scope']]);
  });

  it('counts at the rate of the person', async () => {
    await start(person);
    const codes = [await open('/'), await open('/'), await open('/')].map((text) => /rate_limited/.test(text));
    expect(codes).toEqual([false, false, true]);
  });

  it('ends with the response that it is for', async () => {
    await start(person);
    const over = new Promise<void>((resolve) => (ended = resolve));
    const leaving = new AbortController();
    const left = fetch(`${server.origin}/wait`, { signal: leaving.signal });
    setTimeout(() => leaving.abort(), 200);
    await expect(left).rejects.toThrow();
    await over;
  });
});

import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { Admission } from '../../src/limits/admission.ts';
import { echoTool } from '../support/fixture-tools.ts';
import { startMcpServer, type TestServer, type TestServerOptions } from '../support/mcp-server.ts';
import { rawRequest, rawSocket } from '../support/raw-http.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(limits: TestServerOptions['limits'] = {}) {
  server = await startMcpServer({ tools: [echoTool], limits });
  const token = await server.mint();
  const port = Number(new URL(server.url).port);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  /** A request by hand, so that its body can be late, long or wrong. */
  const head = (...lines: readonly string[]) =>
    [
      'POST /mcp HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      ...lines,
      '',
      '',
    ].join('\r\n');
  const alive = async (url: string) =>
    expect((await rawRequest(url, { headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status).toBe(200);
  return { ...server, token, port, headers, head, alive };
}

describe('bodies', () => {
  it('that arrive too slowly get 408 and the connection ends', async () => {
    const { port, head, url, alive } = await start({ bodyTimeoutMs: 100 });
    const answer = await rawSocket(port, [head('Content-Length: 1000'), '{', ' ', ' '], 30);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('"code":408');
    await alive(url);
  });

  it('that say they are too large get 413 before they are read', async () => {
    const { port, head } = await start();
    const answer = await rawSocket(port, [head('Content-Length: 1048577')]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"max_bytes":1048576');
  });

  it('that turn out too large get 413, and the sender can still read it', async () => {
    const { url, headers, alive } = await start();
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    for (const bytes of [1024 * 1024 + 1, 3 * 1024 * 1024]) {
      const answer = await rawRequest(url, { headers: chunked, body: Buffer.alloc(bytes, 0x20) });
      expect([answer.status, answer.headers.connection]).toEqual([413, 'close']);
    }
    const whole = await rawRequest(url, { headers, body: Buffer.alloc(5 * 1024 * 1024, 0x20) });
    expect(whole.status).toBe(413);
    await alive(url);
  });

  it('too large leave the answer readable by a sender that reads only when it has sent', async () => {
    const { port, head } = await start();
    const answer = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.pause();
        socket.write(head('Content-Length: 4000000'));
        let left = 40;
        const pieces = setInterval(() => {
          socket.write(Buffer.alloc(100_000, 0x20));
          left -= 1;
          if (left > 0) return;
          clearInterval(pieces);
          socket.resume();
        }, 5);
        socket.once('close', () => clearInterval(pieces));
      });
      socket.on('data', (data) => (received += data.toString())).on('error', reject);
      socket.on('close', () => resolve(received));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('of just the limit are read', async () => {
    const { url, headers } = await start({ maxBodyBytes: 200 });
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(200);
    expect((await rawRequest(url, { headers, body })).status).toBe(200);
    expect((await rawRequest(url, { headers, body: `${body} ` })).status).toBe(413);
  });

  it.each([
    ['arrays', '['.repeat(500_000)],
    ['objects', '{"a":'.repeat(150_000)],
    ['arrays, closed', `${'['.repeat(65)}${']'.repeat(65)}`],
  ])('nested deep in %s are refused by their depth', async (_name, body) => {
    const { url, headers } = await start();
    const answer = await rawRequest(url, { headers, body });
    expect([answer.status, answer.json]).toEqual([
      400,
      { jsonrpc: '2.0', error: { code: -32600, message: 'The body nests deeper than 64 levels.' } },
    ]);
  });

  it('with brackets in strings are not deep', async () => {
    const { url, headers } = await start();
    const text = `\\"[{`.repeat(1_000);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text } },
    });
    expect((await rawRequest(url, { headers, body })).json).toHaveProperty('result.structuredContent.text', text);
  });

  it('that end early leave nothing behind', async () => {
    const { port, head, url, alive, logger } = await start();
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`${head('Content-Length: 100')}{"json`, () => {
          socket.destroy();
          resolve();
        });
      });
    });
    await alive(url);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('with many flat members are bounded by their size alone', async () => {
    const { url, headers } = await start();
    const args = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: args },
    });
    const answer = await rawRequest(url, { headers, body });
    expect(answer.json).toMatchObject({ result: { isError: true } });
    expect(answer.text.length).toBeLessThan(1_000);
  });
});

describe('strangers', () => {
  it('are refused before their body is read', async () => {
    const { port } = await start();
    const request =
      'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n';
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      socket.once('data', (data) => {
        socket.destroy();
        resolve(data.toString());
      });
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('who send without end are cut off', async () => {
    const { port } = await start();
    const request = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await rawSocket(port, [request, '5\r\nhello\r\n', '5\r\nhello\r\n'], 20);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toMatch(/connection: close/i);
  });

  it('with a token of enormous length get an answer like any other', async () => {
    const { url } = await start();
    const answer = await rawRequest(url, { headers: { authorization: `Bearer ${'a'.repeat(13_000)}` }, body: '{}' });
    expect(answer.status).toBe(401);
  });
});

describe('what a caller writes', () => {
  it.each([
    ['the method', { jsonrpc: '2.0', id: 1, method: 'x\r\nSet-Cookie: a=b' }],
    ['a tool name', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x\r\nSet-Cookie: a=b' } }],
    [
      'the id',
      { jsonrpc: '2.0', id: 'x\r\nSet-Cookie: a=b', method: 'initialize', params: { protocolVersion: '1\r\nA: b' } },
    ],
  ])('in %s reaches no header', async (_name, body) => {
    const { url, headers } = await start();
    const answer = await rawRequest(url, { headers, body: JSON.stringify(body) });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).not.toContain('\r\n');
  });

  it('is not quoted back at length', async () => {
    const { url, headers } = await start();
    const name = 'x'.repeat(100_000);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
    expect((await rawRequest(url, { headers, body })).text.length).toBeLessThan(300);
  });

  it('as session id splits no key of a running call', async () => {
    const { url, headers } = await start();
    const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1\\",\\"2"}}';
    const answer = await rawRequest(url, { headers: { ...headers, 'mcp-session-id': '"]["' }, body });
    expect(answer.status).toBe(202);
  });
});

describe('many at once', () => {
  it('get each its own answer', async () => {
    const { url, headers, audited } = await start();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, id) =>
        rawRequest(url, {
          headers,
          body: JSON.stringify({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: { name: 'echo', arguments: { text: `t${id}` } },
          }),
        }),
      ),
    );
    answers.forEach(({ json }, id) =>
      expect(json).toMatchObject({ id, result: { structuredContent: { text: `t${id}` } } }),
    );
    expect(audited).toHaveLength(200);
  });

  it('pipelined on one connection are answered in order', async () => {
    const { port, head } = await start();
    const one = (id: number): string => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
      return `${head(`Content-Length: ${body.length}`, ...(id === 3 ? ['Connection: close'] : []))}${body}`;
    };
    const received = await rawSocket(port, [one(1) + one(2) + one(3)]);
    expect([...received.matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(['1', '2', '3']);
  });
});

describe('a gateway that has all the calls it can take', () => {
  it('refuses others before it looks at who they are, and counts none that is not known', async () => {
    let asked = 0;
    const admission = new Admission(1);
    server = await startMcpServer({
      tools: [echoTool],
      admission,
      authenticate: () => {
        asked += 1;
        throw new SightlineError('invalid_token', 'nobody');
      },
    });
    const ask = (url: string) => rawRequest(url, { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
    for (let time = 0; time < 3; time += 1) expect((await ask(server.url)).status).toBe(401);
    const call = new EventEmitter();
    // @ts-expect-error only `on` is used of it
    expect(admission.admit({}, call)).toBe(true);
    const refused = await ask(server.url);
    expect([refused.status, refused.headers['retry-after'], asked]).toEqual([503, '1', 3]);
    expect(refused.json).toMatchObject({ error: { code: 503, data: { code: 'overloaded' } } });
    call.emit('close');
    expect((await ask(server.url)).status).toBe(401);
  });
});

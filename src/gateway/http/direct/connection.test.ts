import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createHttpServer, serverLimits } from '../server.ts';
import type { ServerLimits } from '../server.ts';
import type { HttpResponse, WholeRequest } from '../../../mcp/http-message.ts';

type Serve = (request: WholeRequest, answer: HttpResponse, socket: Socket) => unknown;

interface Started {
  readonly port: number;
  readonly server: Server;
  /** In which way each request was read, and its body. */
  readonly read: string[];
}

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

/** Collects all garbage. What it held outside of the heap is freed beside, and counted once more is collected. */
async function collect(): Promise<void> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
  await delay(20);
  runInNewContext('gc()');
}

const bodyOf = ({ whole, bodyAt }: WholeRequest): Buffer => whole.subarray(bodyAt);

const echo: Serve = (request, answer) => {
  const body = bodyOf(request);
  return answer.writeHead(200, { 'content-length': body.length, 'x-by': 'direct' }).end(body);
};

const unchanging = Object.freeze({ 'x-by': 'direct' });

async function start(serve: Serve = echo, limits: Partial<ServerLimits> = {}, silentMs = 60_000): Promise<Started> {
  const read: string[] = [];
  const made = createHttpServer(
    silentMs,
    { ...serverLimits, lookMs: 50, ...limits },
    {
      paths: ['/mcp'],
      onCall(request, answer, socket) {
        read.push(`direct ${bodyOf(request).toString()}`);
        serve(request, answer, socket);
      },
    },
  );
  made.on('connection', (socket: Socket) => sockets.push(socket));
  made.on('request', (request, response) => {
    let body = '';
    request.on('error', () => {});
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      read.push(`node:http ${body}`);
      response.setHeader('x-by', 'node:http').end(body);
    });
  });
  server = made;
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  const address = made.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, server: made, read };
}

const call = (body: string, ...fields: readonly string[]): string =>
  ['POST /mcp HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body].join('\r\n');

class Client {
  readonly socket: Socket;
  received = '';

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk) => (this.received += String(chunk))).on('error', () => {});
    sockets.push(this.socket);
  }

  async until(text: string | RegExp): Promise<string> {
    const there = (): boolean => (typeof text === 'string' ? this.received.endsWith(text) : text.test(this.received));
    while (!there()) {
      if (this.socket.closed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => {
        const heard = (): void => {
          this.socket.off('data', heard).off('close', heard);
          resolve();
        };
        this.socket.on('data', heard).on('close', heard);
      });
    }
    const all = this.received;
    this.received = '';
    return all;
  }

  async ask(text: string, end: string): Promise<string> {
    this.socket.write(text);
    return await this.until(end);
  }

  async closed(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.received;
  }
}

describe('a connection of calls', () => {
  it('is served without node:http, one call after another, as HTTP/1.1 has it', async () => {
    const { port, read } = await start();
    const client = new Client(port);
    const answer = await client.ask(call('first'), 'first');
    expect(answer).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 5\r\nx-by: direct\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\nfirst$/,
    );
    expect(await client.ask(call('second'), 'second')).toContain('x-by: direct');
    expect(await client.ask(call('other1', 'X: y'), 'other1')).toContain('x-by: direct');
    expect(read).toEqual(['direct first', 'direct second', 'direct other1']);
  });

  it('is served so by Node’s own client, too', async () => {
    const { port, read } = await start();
    for (const body of ['a', 'b'.repeat(50_000)]) {
      const sent = httpRequest({ port, path: '/mcp', method: 'POST', headers: { 'content-length': body.length } });
      sent.end(body);
      const [response] = await once(sent, 'response');
      let text = '';
      for await (const chunk of response) text += String(chunk);
      expect(text).toBe(body);
    }
    expect(read.map((way) => way.split(' ')[0])).toEqual(['direct', 'direct']);
  });

  it('may send a call in a few pieces', async () => {
    const { port, read } = await start();
    const client = new Client(port);
    client.socket.write(call('12345').slice(0, 30));
    await delay(20);
    client.socket.write(call('12345').slice(30, -5));
    await delay(20);
    expect(await client.ask('12345', '12345')).toContain('x-by: direct');
    expect(read).toEqual(['direct 12345']);
  });

  it('that sends it in many pieces or slowly is node:http’s, which has time-outs for that', async () => {
    const { port, read } = await start(echo, { headersMs: 500, requestMs: 800 });
    const client = new Client(port);
    for (const byte of call('12345').slice(0, -1)) {
      client.socket.write(byte);
      await delay(2);
    }
    expect(await client.ask('5', '12345')).toContain('x-by: node:http');
    expect(await client.ask(call('later'), 'later')).toContain('x-by: node:http');
    expect(read).toEqual(['node:http 12345', 'node:http later']);
    for (const begun of ['POST /mcp HTTP/1.1\r\nHost: a\r\nX-Slow: ', `${call('12345').slice(0, -4)}`]) {
      const slow = new Client(port);
      slow.socket.write(begun);
      expect(await slow.closed()).toMatch(/^HTTP\/1\.1 408 /);
    }
  });

  it.each([
    ['another method', 'GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n', ''],
    ['another path', call('12345').replace('/mcp', '/mcp2'), '12345'],
    ['chunks', 'POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n', '12345'],
    ['an older version', call('12345').replace('1.1', '1.0'), '12345'],
  ])('on which %s comes is node:http’s from there on', async (_what, text, body) => {
    const { port, read } = await start();
    const client = new Client(port);
    await client.ask(call('first'), 'first');
    client.socket.write(text);
    await client.until(/x-by: node:http[^]*\r\n\r\n/);
    expect(read).toEqual(['direct first', `node:http ${body}`]);
  });

  it('that sends calls before it is answered has them answered in their order', async () => {
    const pending: (() => void)[] = [];
    const { port, read } = await start((...args) => pending.push(() => void echo(...args)));
    const client = new Client(port);
    client.socket.write(call('one'));
    while (pending.length === 0) await delay(5);
    client.socket.write(`${call('two')}${call('three').slice(0, 20)}`);
    await delay(30);
    client.socket.write(call('three').slice(20));
    await delay(30);
    expect([client.received, read]).toEqual(['', ['direct one']]);
    pending[0]?.();
    const answers = await client.until('three');
    expect(answers.match(/\r\n\r\n(one|two|three)/g)?.map((text) => text.trim())).toEqual(['one', 'two', 'three']);
    expect(read).toEqual(['direct one', 'node:http two', 'node:http three']);
    const together = new Client(port);
    expect(await together.ask(call('four') + call('five'), 'five')).toMatch(/four[^]*five/);
  });

  it('is closed after an answer to a client that wants that, with all of it', async () => {
    const large = Buffer.alloc(5_000_000, 'x');
    const { port } = await start((_request, answer) =>
      answer.writeHead(200, { 'content-length': large.length }).end(large),
    );
    const client = new Client(port);
    client.socket.write(call('x', 'Connection: close'));
    const answer = await client.closed();
    expect(answer.slice(0, 300)).toContain('\r\nConnection: close\r\n');
    expect(answer.length - answer.indexOf('\r\n\r\n') - 4).toBe(large.length);
  });

  it('is closed after an answer that says so', async () => {
    const { port } = await start((_request, answer) =>
      answer.writeHead(413, { connection: 'close', 'content-length': 2 }).end('no'),
    );
    const client = new Client(port);
    client.socket.write(call('x'));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 413 Payload Too Large\r\n[^]*Connection: close\r\n\r\nno$/);
  });

  it('gets an answer of parts, of chunks, and of none', async () => {
    const { port } = await start((request, answer) => {
      const what = bodyOf(request).toString();
      if (what === 'none') return answer.writeHead(204, {}).end();
      if (what === 'empty') return answer.writeHead(202, {}).end();
      if (what === 'parts') {
        const response = answer.writeHead(200, { 'content-length': 7 });
        response.write('a');
        response.write(Buffer.from('bé😀'.slice(0, 2)));
        response.write('cd');
        return response.end('e');
      }
      const response = answer.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('é1');
      return setTimeout(() => {
        response.write('2');
        response.end('3');
      }, 20);
    });
    const client = new Client(port);
    expect(await client.ask(call('none'), '\r\n\r\n')).not.toMatch(/content-length|transfer-encoding/i);
    expect(await client.ask(call('empty'), '\r\n\r\n')).toContain('content-length: 0\r\n');
    expect(await client.ask(call('parts'), 'abécde')).not.toMatch(/transfer-encoding/i);
    expect(await client.ask(call('events'), '\r\n0\r\n\r\n')).toMatch(
      /Transfer-Encoding: chunked\r\n\r\n3\r\né1\r\n1\r\n2\r\n1\r\n3\r\n0\r\n\r\n$/,
    );
    expect(await client.ask(call('empty'), '\r\n\r\n')).toContain('content-length: 0\r\n');
  });

  it('cannot be given a header with a line of its own', async () => {
    let failure: unknown;
    const { port } = await start((_request, answer) => {
      try {
        answer.writeHead(200, { 'x-evil': 'a\r\nSet-Cookie: b' });
      } catch (error) {
        failure = error;
        answer.destroy();
      }
    });
    const client = new Client(port);
    client.socket.write(call('x'));
    expect(await client.closed()).toBe('');
    expect(failure).toHaveProperty('code', 'ERR_INVALID_CHAR');
  });

  it('tells its answer when the client is gone', async () => {
    const gone = Promise.withResolvers<boolean>();
    const { port } = await start((_request, answer) => answer.once('close', () => gone.resolve(answer.destroyed)));
    const client = new Client(port);
    client.socket.write(call('x'));
    await delay(30);
    client.socket.resetAndDestroy();
    expect(await gone.promise).toBe(true);
  });

  it('tells its answer when all of it was taken, and not before', async () => {
    let answered: HttpResponse | undefined;
    let closed = false;
    const large = Buffer.alloc(20_000_000);
    const { port } = await start((_request, answer) => {
      answered = answer;
      answer.once('close', () => (closed = true));
      answer.writeHead(200, { 'content-length': large.length }).end(large);
    });
    const client = new Client(port);
    client.socket.pause();
    client.socket.write(call('x'));
    await delay(100);
    expect([closed, answered?.closed, Number(answered?.writableLength) > 0]).toEqual([false, false, true]);
    client.socket.resume();
    while (!closed) await delay(5);
    expect([answered?.closed, answered?.writableLength]).toEqual([true, 0]);
  });

  it('gets its own short answers, whole, when others get theirs before it reads them', async () => {
    const answers = new Set<HttpResponse>();
    const { port } = await start((request, answer) => {
      answers.add(answer);
      const [name = ''] = bodyOf(request).toString().split(' ');
      // Of as many bytes, and a head that is the same, so that one would lie upon the other.
      answer.writeHead(200, unchanging).end((name === 'e' ? 'é' : name).repeat(4_000));
    });
    const slow = new Client(port);
    slow.socket.pause();
    const isHeldUp = (): boolean => [...answers].some(({ closed }) => !closed);
    let asked = 0;
    for (; asked < 20_000 && !isHeldUp(); asked += 1) {
      slow.socket.write(call(`s ${asked}`));
      while (answers.size <= asked) await delay(1);
    }
    expect(isHeldUp()).toBe(true);
    const other = new Client(port);
    other.socket.setEncoding('utf8');
    expect(await other.ask(call('o 1'), 'o'.repeat(4_000))).toMatch(/^HTTP\/1\.1 200 OK\r\n[^s]*\r\n\r\no{4000}$/);
    expect(await other.ask(call('e 2'), 'é'.repeat(4_000))).toContain('content-length: 8000\r\n');
    let received = '';
    slow.socket.removeAllListeners('data').on('data', (chunk) => (received += chunk.toString('latin1')));
    slow.socket.resume();
    const headLength = (): number => received.indexOf('\r\n\r\n') + 4;
    while (received.length < asked * (headLength() + 4_000)) await once(slow.socket, 'data');
    expect(received.match(/HTTP\/1\.1 200 OK(?:\r\n[^\r]+)+\r\n\r\ns{4000}(?=HTTP|$)/g)?.length).toBe(asked);
  });

  it('is cut when its client does not read what it asked for', async () => {
    const large = Buffer.alloc(20_000_000);
    const { port } = await start((_request, answer) => {
      answer.setTimeout(100, () => answer.destroy());
      answer.writeHead(200, { 'content-length': large.length }).end(large);
    });
    const client = new Client(port);
    client.socket.pause();
    client.socket.write(call('x'));
    const cut = (): boolean => sockets.some((socket) => socket !== client.socket && socket.destroyed);
    const since = performance.now();
    while (!cut()) {
      if (performance.now() - since > 5_000) throw new Error('the connection was not cut');
      await delay(10);
    }
  });

  it('is closed where nothing comes, after an answer, and in a silent one', async () => {
    const silent: Serve = (request, answer, socket) => {
      if (bodyOf(request).toString() !== 'silent') echo(request, answer, socket);
    };
    const { port } = await start(silent, { headersMs: 150, restMs: 400 }, 700);
    const timed = async (text: string): Promise<number> => {
      const client = new Client(port);
      await once(client.socket, 'connect');
      const since = performance.now();
      if (text !== '') client.socket.write(call(text));
      await client.closed();
      return performance.now() - since;
    };
    const [never, rested, waited] = await Promise.all([timed(''), timed('answered'), timed('silent')]);
    // Longer only by what a busy machine takes; shorter would cut clients off.
    expect(never).toBeGreaterThan(140);
    // A second more than it was told, for a client that goes by that.
    expect(rested).toBeGreaterThan(1_390);
    expect(waited).toBeGreaterThan(690);
  });

  it('keeps to what was so when the call came, and is not silent while its answer goes on', async () => {
    const { port, server: to } = await start(
      (request, answer) => {
        if (bodyOf(request).toString() !== 'events') return setTimeout(() => answer.writeHead(202, {}).end(), 600);
        const response = answer.writeHead(200, {});
        let left = 10;
        const events = setInterval(() => {
          response.write('on');
          if ((left -= 1) > 0) return;
          clearInterval(events);
          response.end('end');
        }, 100);
        return undefined;
      },
      { headersMs: 100 },
      500,
    );
    expect(await new Client(port).ask(call('events'), '0\r\n\r\n')).toMatch(/(on[^]*){10}end/);
    to.setTimeout(2_000);
    const client = new Client(port);
    client.socket.write(call('x'));
    await delay(100);
    to.setTimeout(50);
    await client.until(/ 202 /);
  });

  it.each([
    ['does not read a small answer', 'small'],
    ['does not read a large answer', 'large'],
    ['waits for one', 'none'],
  ])('ends for a client that %s and goes on sending, byte by byte', async (_what, which) => {
    const large = Buffer.alloc(8_000_000);
    const { port } = await start(
      (_request, answer) => {
        if (which === 'none') return;
        answer.setTimeout(300, () => answer.destroy());
        const bytes = which === 'large' ? large : large.subarray(0, 200_000);
        answer.writeHead(200, { 'content-length': bytes.length }).end(bytes);
      },
      { headersMs: 100, restMs: 100 },
      800,
    );
    const client = new Client(port);
    client.socket.pause();
    client.socket.write(call('x'));
    await delay(20);
    const trickle = setInterval(() => client.socket.write('P'), 50);
    const open = (): number => sockets.filter((socket) => socket !== client.socket && !socket.destroyed).length;
    const since = performance.now();
    while (open() > 0 && performance.now() - since < 5_000) await delay(20);
    clearInterval(trickle);
    expect(open()).toBe(0);
  });

  it('is read no further while a call is answered than some pieces, and has all of them served then', async () => {
    const pending: (() => void)[] = [];
    const { port } = await start((...args) => pending.push(() => void echo(...args)));
    const client = new Client(port);
    client.socket.write(call('one'));
    while (pending.length === 0) await delay(5);
    const next = call('two', `X-Long: ${'x'.repeat(150)}`);
    const paused = (): boolean => sockets.some((socket) => socket !== client.socket && socket.isPaused());
    for (const byte of next) {
      client.socket.write(byte);
      await delay(1);
    }
    expect(paused()).toBe(true);
    pending[0]?.();
    expect(await client.until('two')).toMatch(/one[^]*x-by: node:http[^]*two$/);
  });

  it('tells its answer when a client is gone that had sent more', async () => {
    const gone = Promise.withResolvers<void>();
    const { port } = await start((_request, answer) => answer.once('close', () => gone.resolve()));
    const client = new Client(port);
    client.socket.write(call('x'));
    for (const more of ['POST', ' /mcp', ' HTTP']) {
      await delay(20);
      client.socket.write(more);
    }
    await delay(20);
    client.socket.destroy();
    await gone.promise;
  });

  it('serves nothing after a call that wanted it closed', async () => {
    const { port, read } = await start();
    const first = call('x'.repeat(65_536 - call('', 'Connection: close').length - 4), 'Connection: close');
    expect(first).toHaveLength(65_536);
    const client = new Client(port);
    client.socket.write(first + call('second'));
    await client.closed();
    expect(read.filter((way) => way.endsWith('second'))).toEqual([]);
  });

  it('holds of each resting client what it said, and not the memory that others share', async () => {
    const { port } = await start();
    const text = call('1234567890');
    const clients = Array.from({ length: 100 }, () => new Client(port));
    await collect();
    const before = process.memoryUsage().arrayBuffers;
    for (const client of clients) {
      await client.ask(text, '1234567890');
      // What others need meanwhile.
      for (let turn = 0; turn < 20; turn += 1) Buffer.from('x'.repeat(3_500));
    }
    await collect();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 5_000);
  });

  it('gives what a client asked for that sends no more, as far as it was written', async () => {
    const large = Buffer.alloc(3_000_000, 'x');
    const { port } = await start((_request, answer) => {
      const response = answer.writeHead(200, {});
      response.write(large);
      setTimeout(() => response.write('later'), 100);
    });
    const client = new Client(port);
    client.socket.pause();
    client.socket.end(call('x'));
    await delay(200);
    client.socket.resume();
    expect((await client.closed()).length).toBeGreaterThan(large.length);
  });

  it('gets another answer where the first could not be written, and no wrong end of one', async () => {
    const { port } = await start((request, answer) => {
      const what = bodyOf(request).toString();
      if (what === 'refused') {
        expect(() => answer.writeHead(200, { 'x-a': '\n' })).toThrow('Invalid character');
        return answer.writeHead(500, {}).end('so it failed');
      }
      if (what === 'bodiless') return answer.writeHead(204, {}).end('none');
      const response = answer.writeHead(200, { connection: 'keep-alive' });
      response.write('');
      response.write(Buffer.from('é').subarray(0, 1));
      return response.end(Buffer.from('é').subarray(1));
    });
    const client = new Client(port);
    expect(await client.ask(call('refused'), 'so it failed')).toMatch(/^HTTP\/1\.1 500 /);
    expect(await client.ask(call('bodiless'), '\r\n\r\n')).not.toContain('none');
    const parts = await client.ask(call('parts'), '\r\n0\r\n\r\n');
    expect(parts.match(/\r\n\r\n1\r\n.+\r\n1\r\n.+\r\n0\r\n\r\n$/)).not.toBeNull();
    await client.ask(call('refused'), 'so it failed');
  });

  it('survives whatever bytes come', async () => {
    const { port, read } = await start();
    const junk = [
      '\0\0\0\0',
      'POST',
      '\r\n\r\n',
      `POST /mcp HTTP/1.1\r\n${'\xff'.repeat(40_000)}`,
      call('x').slice(0, -10),
    ];
    await Promise.all(
      junk.map(async (text) => {
        const client = new Client(port);
        client.socket.end(Buffer.from(text, 'latin1'));
        await client.closed();
      }),
    );
    expect(read).toEqual([]);
    expect(await new Client(port).ask(call('alive'), 'alive')).toContain('200 OK');
  });
});

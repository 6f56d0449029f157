import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, request, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejection } from '../../../test/contract/runner.ts';
import { selfSigned } from '../../../test/support/certificate.ts';
import { sharedServer } from '../../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { listen } from '../../../test/support/listen.ts';
import { never } from '../support/asking.ts';
import { Endpoint, type EndpointOptions } from './endpoint.ts';
import { EngineError } from './failures.ts';

const account = { username: 'réader', password: 'p:ß', maxConnections: 2, compression: false };

withEngine(() => {
  describe('a ClickHouse behind TLS', () => {
    const server = sharedServer();
    const certificate = selfSigned('localhost');
    const client = selfSigned('reader');
    const seen: IncomingHttpHeaders[] = [];
    let front: Server;
    let url: string;
    beforeAll(async () => {
      const asked = { requestCert: true, rejectUnauthorized: false, ca: client.cert };
      front = createTlsServer({ ...certificate, ...asked }, (incoming, outgoing) => {
        seen.push({
          ...incoming.headers,
          'x-verified': String('authorized' in incoming.socket && incoming.socket.authorized),
        });
        const { method, url: path, headers } = incoming;
        const onwards = request(`${server().url}${path ?? ''}`, { ...(method && { method }), headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        incoming.pipe(onwards);
      });
      url = `https://localhost:${await listen(front)}`;
    });
    afterAll(() => {
      front.closeAllConnections();
      front.close();
    });

    const ask = async (options: Partial<EndpointOptions>) => {
      const endpoint = new Endpoint(url, { ...account, ...options });
      try {
        return await text((await endpoint.send({ sql: 'SELECT 7', signal: never })).body);
      } finally {
        await endpoint.close();
      }
    };

    it('is asked where its certificate is one of the given authority, and not otherwise', async () => {
      expect(await ask({ tls: { ca: certificate.cert } })).toBe('7\n');
      expect(await rejection(ask({ tls: { ca: client.cert } }))).toMatchObject({
        message: expect.stringMatching(/self[- ]signed/),
      });
      expect(await rejection(ask({}))).toMatchObject({ message: expect.stringMatching(/self[- ]signed/) });
    });

    it('is told a user by a password, or by a certificate where there is none', async () => {
      const ca = certificate.cert;
      await ask({ tls: { ca, ...client } });
      await ask({ tls: { ca, ...client }, password: '' });
      const basic = `Basic ${Buffer.from('réader:p:ß').toString('base64')}`;
      expect(seen.at(-2)).toMatchObject({ authorization: basic, 'x-verified': 'true' });
      expect(seen.at(-2)).not.toHaveProperty('x-clickhouse-ssl-certificate-auth');
      expect(seen.at(-1)).toMatchObject({
        'x-clickhouse-user': Buffer.from('réader').toString('latin1'),
        'x-clickhouse-ssl-certificate-auth': 'on',
        'x-verified': 'true',
      });
      expect(seen.at(-1)).not.toHaveProperty('authorization');
    });
  });

  describe('an endpoint', () => {
    const server = sharedServer();

    it('names settings, role, database and rows in the URL, under the path of the server', async () => {
      let line: string | undefined;
      const recorder = createServer((socket: Socket) => {
        socket.once('data', (bytes: Buffer) => {
          line = bytes.toString('latin1').split('\r\n')[0];
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-ClickHouse-Summary: {"read_bytes":"12"}\r\n\r\n');
        });
      });
      const port = await listen(recorder);
      const endpoint = new Endpoint(`http://127.0.0.1:${port}/click/`, {
        ...account,
        database: 'a&b',
        compression: true,
      });
      const settings = { a: true, b: false, c: 1, d: 'x=y z' };
      const { readBytes } = await endpoint.send({ sql: 'S', queryId: 'q é', role: 'r', settings, signal: never });
      await endpoint.close();
      recorder.close();
      expect(readBytes).toBe(12);
      const { pathname, searchParams } = new URL(line?.split(' ')[1] ?? '', 'http://x');
      expect(pathname).toBe('/click/');
      expect(Object.fromEntries(searchParams)).toEqual({
        database: 'a&b',
        enable_http_compression: '1',
        a: '1',
        b: '0',
        c: '1',
        d: 'x=y z',
        query_id: 'q é',
        role: 'r',
      });
    });

    it('names a database called default too, and knows no bytes where the summary has none', async () => {
      const paths: string[] = [];
      const recorder = createHttpServer(({ url }, response) => {
        paths.push(url ?? '');
        response.setHeader('X-ClickHouse-Summary', '{}').end();
      });
      const endpoint = new Endpoint(`http://127.0.0.1:${await listen(recorder)}`, { ...account, database: 'default' });
      expect((await endpoint.send({ sql: 'S', signal: never })).readBytes).toBeUndefined();
      await endpoint.close();
      recorder.close();
      expect(paths).toEqual([expect.stringContaining('database=default')]);
    });

    it('rejects with the engine’s number, and with the answer of what is no engine', async () => {
      const endpoint = new Endpoint(server().url, account);
      const failure = await rejection(endpoint.send({ sql: 'SELECT nothing', signal: never }));
      expect(failure).toBeInstanceOf(EngineError);
      expect(failure).toMatchObject({ code: 47 });
      await endpoint.close();
      const proxy = createServer(
        (socket) => void socket.on('error', () => undefined).end(`HTTP/1.1 502 Bad\r\n\r\n${'x'.repeat(1_000_000)}`),
      );
      const lost = new Endpoint(`http://127.0.0.1:${await listen(proxy)}`, account);
      const error = await rejection(lost.send({ sql: 'SELECT 1', signal: never }));
      expect(error).not.toBeInstanceOf(EngineError);
      expect(error).toMatchObject({ message: expect.stringMatching(/^HTTP 502: x{65000}/) });
      await lost.close();
      proxy.close();
    });

    it('waits for a statement that is silent for longer than a connection may rest, and then lets the connection go', async () => {
      const sockets: Socket[] = [];
      const silent = createHttpServer((_request, response) => void setTimeout(() => response.end('late'), 2_500));
      silent.on('connection', (socket) => sockets.push(socket));
      const endpoint = new Endpoint(`http://127.0.0.1:${await listen(silent)}`, account);
      expect(await text((await endpoint.send({ sql: 'SELECT 1', signal: never })).body)).toBe('late');
      expect(sockets.map(({ closed }) => closed)).toEqual([false]);
      for (let tries = 0; tries < 40 && sockets[0]?.closed === false; tries += 1) await sleep(100);
      expect(sockets.map(({ closed }) => closed)).toEqual([true]);
      await endpoint.close();
      silent.close();
    });

    it('gives up a connection whose server answers before it has read, and one that is closed without an answer', async () => {
      const answers = [
        'HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge',
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      ];
      for (const answer of answers) {
        const hasty = createServer((socket) => {
          socket
            .on('error', () => undefined)
            .once('data', () => {
              socket.pause();
              socket.write(answer);
            });
        });
        const endpoint = new Endpoint(`http://127.0.0.1:${await listen(hasty)}`, { ...account, maxConnections: 1 });
        for (let turn = 0; turn < 2; turn += 1) {
          const values = Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(1 << 20)));
          const sent = endpoint.send({ sql: 'INSERT', values, signal: AbortSignal.timeout(5_000) });
          expect(await rejection(sent)).not.toMatchObject({ name: 'TimeoutError' });
          for (let tries = 0; tries < 100 && !values.destroyed; tries += 1) await sleep(10);
          expect(values.destroyed).toBe(true);
        }
        await endpoint.close();
        hasty.close();
      }
    });

    it('takes no connection that the server has closed while the event loop was busy', async () => {
      const program = `const server = require('node:http').createServer((_request, response) => response.end('ok'));
        server.keepAliveTimeout = 2500;
        server.keepAliveTimeoutBuffer = 0;
        server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
      const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [port]: unknown[] = await once(child.stdout, 'data');
      const endpoint = new Endpoint(`http://127.0.0.1:${Number(String(port))}`, account);
      const insert = async () =>
        await text((await endpoint.send({ sql: 'INSERT', values: Readable.from(['x']), signal: never })).body);
      expect(await insert()).toBe('ok');
      const until = performance.now() + 3_500;
      while (performance.now() < until);
      expect(await insert()).toBe('ok');
      await endpoint.close();
      child.kill();
    });

    it('breaks off a statement that waits for a connection, and an answer that has begun', async () => {
      const sockets: Socket[] = [];
      const slow = createServer((socket) => {
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'));
      });
      const endpoint = new Endpoint(`http://127.0.0.1:${await listen(slow)}`, { ...account, maxConnections: 1 });
      const first = new AbortController();
      const { body } = await endpoint.send({ sql: 'SELECT 1', signal: first.signal });
      const second = new AbortController();
      const waiting = rejection(endpoint.send({ sql: 'SELECT 2', signal: second.signal }));
      second.abort();
      expect(await waiting).toMatchObject({ name: 'AbortError' });
      const reading = rejection(text(body));
      first.abort();
      expect(await reading).toMatchObject({ name: 'AbortError' });
      expect(sockets).toHaveLength(1);
      await endpoint.close();
      slow.close();
    });
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createZstdCompress, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { z } from 'zod';
import { readActivity } from './activity.ts';
import { OnceById } from './changes.ts';
import { receiverLimits } from './body.ts';
import { receiverFixture, silent, until, type Fixture } from '../../../test/support/otlp/gateway.ts';
import { protobuf } from '../../../test/support/otlp/protobuf.ts';

const open: Fixture[] = [];
afterEach(async () => {
  for (const fixture of open.splice(0)) await fixture.close();
});

async function start(options?: Parameters<typeof receiverFixture>[0]): Promise<Fixture> {
  const fixture = await receiverFixture(options);
  open.push(fixture);
  return fixture;
}

const nano = () => String(BigInt(Date.now()) * 1_000_000n);
const ids = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8) };
const traces = (...names: string[]) => ({
  resourceSpans: [
    { scopeSpans: [{ spans: names.map((name) => Object.assign({ name, startTimeUnixNano: nano() }, ids)) }] },
  ],
});
const jsonHeaders = { authorization: 'Bearer it_first', 'content-type': 'application/json' };
const protobufHeaders = { authorization: 'Bearer it_first', 'content-type': 'application/x-protobuf' };

const post = (
  fixture: Fixture,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = jsonHeaders,
  path = '/v1/traces',
) => fetch(fixture.url + path, { method: 'POST', body, headers });

/** A request written by hand; answers all that came back until the connection ended or `enough` is in it. */
function raw(fixture: Fixture, text: string, enough?: string): Promise<string> & { readonly socket: Socket } {
  const socket = connect(fixture.port, '127.0.0.1');
  let answer = '';
  const done = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (enough !== undefined && answer.includes(enough)) {
        socket.destroy();
        resolve(answer);
      }
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', () => resolve(answer));
  });
  socket.write(text);
  return Object.assign(done, { socket });
}

describe('OTLP receiver', () => {
  it('answers in the encoding of the request, and what it acknowledged reaches the warehouse of that organization alone', async () => {
    const fixture = await start();
    const [first, second] = fixture.organizations;
    const json = await post(fixture, JSON.stringify(traces('a')), {
      ...jsonHeaders,
      'content-type': 'application/json; charset=utf-8',
    });
    expect([json.status, json.headers.get('content-type'), await json.text()]).toEqual([200, 'application/json', '{}']);
    const binary = await post(fixture, gzipSync(protobuf('traces', traces('b'))), {
      ...protobufHeaders,
      authorization: 'Bearer it_second',
      'content-encoding': 'gzip',
    });
    expect([binary.status, binary.headers.get('content-type'), (await binary.arrayBuffer()).byteLength]).toEqual([
      200,
      'application/x-protobuf',
      0,
    ]);
    await until(() => fixture.sink.rows.length === 2, 'two rows in the warehouse');
    expect(fixture.sink.names(first?.id)).toEqual(['a']);
    expect(fixture.sink.names(second?.id)).toEqual(['b']);
  });

  it('takes a chunked body without a length, and an empty one', async () => {
    const fixture = await start();
    const text = JSON.stringify(traces('chunked'));
    const chunks = [text.slice(0, 30), text.slice(30)]
      .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join('');
    const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: it_first\r\nContent-Type: application/json\r\n`;
    expect(await raw(fixture, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`, '{}')).toMatch(
      /^HTTP\/1.1 200/,
    );
    expect((await post(fixture, new Uint8Array(), protobufHeaders)).status).toBe(200);
    expect((await post(fixture, new Uint8Array(), { ...protobufHeaders, 'content-encoding': 'gzip' })).status).toBe(
      200,
    );
    await until(() => fixture.sink.names().includes('chunked'), 'the row');
  });

  it.each([
    ['no token', {}],
    ['an unknown token', { authorization: 'Bearer it_other' }],
    ['a token of endless length', { authorization: `Bearer ${'x'.repeat(5000)}` }],
    ['another scheme', { authorization: 'Digest it_first' }],
    ['Basic without a colon', { authorization: `Basic ${Buffer.from('it_first').toString('base64')}` }],
    ['an empty key', { 'x-api-key': '' }],
    ['a token without a scheme', { authorization: 'it_first' }],
  ])('refuses %s before it looks at the body, and says how a token is sent', async (_name, headers) => {
    const fixture = await start();
    const answer = await post(fixture, 'not json', { 'content-type': 'application/json', ...headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="otlp"');
    expect(await answer.json()).toMatchObject({ code: 16, message: expect.stringContaining('token') });
  });

  it.each([
    { authorization: `Bearer ${'x'.repeat(700)}` },
    { 'x-api-key': `it_${'x'.repeat(700)}` },
    { authorization: 'Bearer mcp' },
  ])('says of another token what ingest tokens look like', async (headers) => {
    const fixture = await start();
    const answer = await post(fixture, '{}', { 'content-type': 'application/json', ...headers });
    expect([answer.status, await answer.json()]).toEqual([
      401,
      {
        code: 16,
        message: expect.stringMatching(/^What was sent as the token is no ingest token\. .*it_ and have 46 characters/),
      },
    ]);
  });

  it('takes the token as Bearer, as the password of Basic and as x-api-key, and feels a revocation at once', async () => {
    const fixture = await start();
    const basic = `Basic ${Buffer.from('anyone:it_first').toString('base64')}`;
    for (const headers of [
      { authorization: 'bearer it_first' },
      { authorization: 'Bearer%20it_first' },
      { authorization: basic },
      { 'x-api-key': 'it_first' },
    ]) {
      expect((await post(fixture, '{}', { 'content-type': 'application/json', ...headers })).status).toBe(200);
    }
    fixture.revoked.add('it_first');
    expect((await post(fixture, '{}')).status).toBe(401);
  });

  it('tells everything else apart: path, method, type, encoding', async () => {
    const fixture = await start();
    expect((await post(fixture, '{}', jsonHeaders, '/v1/profiles')).status).toBe(404);
    expect((await post(fixture, '{}', jsonHeaders, '/v1/traces/v1/traces')).status).toBe(404);
    expect((await post(fixture, '{}', jsonHeaders, '/elsewhere')).status).toBe(418);
    for (const path of ['/v1/traces/', '//v1/traces', '/otlp/v1/traces', '/otlp//v1/logs/?x=1']) {
      expect([path, (await post(fixture, '{}', jsonHeaders, path)).status]).toEqual([path, 200]);
    }
    const other = { ...protobufHeaders, 'content-type': 'application/protobuf' };
    expect((await post(fixture, new Uint8Array(), other)).status).toBe(200);
    const get = await fetch(`${fixture.url}/v1/traces`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const text = await post(fixture, '{}', { ...jsonHeaders, 'content-type': 'text/plain' });
    expect([text.status, await text.json()]).toEqual([
      415,
      { code: 3, message: expect.stringContaining('content type') },
    ]);
    expect(
      (await post(fixture, '{}', { ...jsonHeaders, 'content-type': 'application/json; charset=latin1' })).status,
    ).toBe(415);
    const brotli = await post(fixture, '{}', { ...jsonHeaders, 'content-encoding': 'br' });
    expect([brotli.status, brotli.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate, zstd, identity']);
    expect((await post(fixture, '{}', { ...jsonHeaders, 'content-encoding': 'gzip' })).status).toBe(400);
  });

  it('writes its errors as google.rpc.Status in protobuf, too', async () => {
    const fixture = await start();
    const answer = await post(fixture, Buffer.from([0x0b]), protobufHeaders);
    expect(answer.status).toBe(400);
    const message = 'OTLP does not use groups.';
    const expected = Buffer.concat([Buffer.from([0x08, 3, 0x12, message.length]), Buffer.from(message)]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
  });

  it('says what it rejected and what it altered', async () => {
    const fixture = await start();
    const spans = [
      { ...ids, name: 'old', startTimeUnixNano: '1717200000000' },
      { ...ids, name: 'good', startTimeUnixNano: nano(), parentSpanId: 'ab' },
    ];
    const document = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    const errorMessage =
      'Records rejected: 1 (time before the year 2000; is it in nanoseconds?). Ids emptied: 1 (not of 16 or 8 bytes).';
    const json = await post(fixture, JSON.stringify(document));
    expect([json.status, await json.json()]).toEqual([200, { partialSuccess: { rejectedSpans: '1', errorMessage } }]);
    const binary = Buffer.from(
      await (await post(fixture, Buffer.from(protobuf('traces', document)), protobufHeaders)).arrayBuffer(),
    );
    const inner = Buffer.concat([Buffer.from([0x08, 1, 0x12, errorMessage.length]), Buffer.from(errorMessage)]);
    expect(binary.equals(Buffer.concat([Buffer.from([0x0a, inner.length]), inner]))).toBe(true);
    await until(() => fixture.sink.rows.length === 2, 'the good ones');
    expect(fixture.sink.names()).toEqual(['good', 'good']);
  });

  it('tells the log what it refused, once for each cause of an organization, and when telemetry last came in', async () => {
    const said: object[] = [];
    const logger = { ...silent, child: () => logger, warn: (fields: object) => said.push(fields) };
    const fixture = await start({ logger });
    const [{ id } = { id: '' }] = fixture.organizations;
    const headers = { ...jsonHeaders, 'user-agent': 'sdk/1\u00ad' };
    for (let index = 0; index < 20; index += 1) {
      await post(fixture, '{}', { ...headers, authorization: `Bearer it_wrong${index}` });
      await post(fixture, '[]', headers);
    }
    const spans = [
      { ...ids, startTimeUnixNano: '1717200000000' },
      { startTimeUnixNano: nano() },
      { ...ids, startTimeUnixNano: nano() },
    ];
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'cart' } }] };
    await post(fixture, JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }), headers);
    const causes = [
      { cause: 'HTTP 401', reason: expect.stringContaining('not valid'), userAgent: 'sdk/1', count: 1 },
      {
        cause: 'HTTP 400: The JSON document is not an object.',
        organization: id,
        reason: 'The JSON document is not an object.',
        count: 1,
      },
      { cause: expect.stringContaining('rejected: time before'), organization: id, count: 1 },
      { cause: expect.stringContaining('rejected: a span without'), organization: id, count: 1 },
    ];
    expect(said).toMatchObject(causes);
    await fixture.receiver.stop();
    expect(said.slice(4)).toMatchObject([
      { cause: 'HTTP 401', count: 19 },
      { cause: 'HTTP 400: The JSON document is not an object.', count: 19 },
    ]);
    const { arrivals, refusals } = await readActivity(fixture.dataDirectory, new Date());
    expect(arrivals).toEqual({ [id]: { at: expect.any(Number), service: 'cart' } });
    expect(refusals.map(({ cause, count }) => `${cause.slice(0, 8)} ${count}`).toSorted()).toEqual([
      'HTTP 400 20',
      'HTTP 401 20',
      'rejected 1',
      'rejected 1',
    ]);
    expect((await readActivity(fixture.dataDirectory, new Date(Date.now() + 3_700_000))).refusals).toEqual([]);
  });

  it('counts each cause of one status for itself, and has few of them, whatever is sent', async () => {
    const fixture = await start();
    const change = (body: object) => post(fixture, JSON.stringify(body), jsonHeaders, '/v1/changes');
    await change({ what: 'deploy', service: 'a', time: '1999-01-01T00:00:00Z' });
    for (let index = 0; index < 5; index += 1) {
      await change({ what: 'deploy', service: 'a', [`key${index}`]: 1 });
      await change({ what: 'deploy', service: 'a', time: 1_772_355_240 + index });
      const spans = Array(index).fill({});
      await post(fixture, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [...spans, 5] }] }] }));
    }
    await post(fixture, 'x', { ...jsonHeaders, 'content-encoding': 'gzip' });
    await fixture.receiver.stop();
    const { refusals } = await readActivity(fixture.dataDirectory, new Date());
    expect(Object.fromEntries(refusals.map(({ cause, count }) => [cause, count]))).toEqual({
      'HTTP 400: body unrecognized_keys': 5,
      'HTTP 400: field': 5,
      'HTTP 400: gzip': 1,
      'HTTP 400: time before the year 2000': 1,
      'HTTP 400: time custom': 5,
    });
  });

  it('is degraded, and no less ready, while the warehouse takes no loads of an organization', async () => {
    const fixture = await start();
    const health = () => fixture.receiver.health(new AbortController().signal);
    fixture.sink.before = () => {
      throw new Error('damaged');
    };
    await post(fixture, JSON.stringify(traces('a')));
    for (let tries = 0; tries < 500 && !(await health()).degraded; tries += 1) await sleep(10);
    expect(await health()).toMatchObject({ ok: true, degraded: true, detail: expect.stringContaining('bytes wait') });
  });

  it('stops at the size limit: declared, sent, or hidden in gzip', async () => {
    const limits = { body: { bytes: 100_000, totalMs: 10_000, idleMs: 5_000 } };
    const fixture = await start({ limits });
    expect((await post(fixture, Buffer.alloc(100_001), protobufHeaders)).status).toBe(413);
    const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: it_first\r\nContent-Type: application/json\r\n`;
    const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    expect(await raw(fixture, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`, '"code":3')).toMatch(
      /^HTTP\/1.1 413/,
    );
    const headers = { ...protobufHeaders, 'content-encoding': 'gzip' };
    expect((await post(fixture, gzipSync(Buffer.alloc(50_000_000)), headers)).status).toBe(413);
    const members = Buffer.concat([gzipSync(Buffer.alloc(90_000)), gzipSync(Buffer.alloc(90_000))]);
    expect((await post(fixture, members, headers)).status).toBe(413);
    const two = Buffer.concat(
      [protobuf('traces', traces('one')), protobuf('traces', traces('two'))].map((part) => gzipSync(part)),
    );
    expect((await post(fixture, two, headers)).status).toBe(200);
    const cut = gzipSync(protobuf('traces', traces('cut')));
    expect((await post(fixture, cut.subarray(0, -4), headers)).status).toBe(400);
    await until(() => fixture.sink.rows.length === 2, 'both members');
  });

  it.each([
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['zlib', deflateSync],
    ['zstd', zstdCompressSync],
  ])('takes %s, within the same limits as gzip', async (coding, compress) => {
    const limits = {
      body: { bytes: 2_000_000, totalMs: 10_000, idleMs: 5_000 },
      organization: { bytes: 20_000_000, requests: 1 },
    };
    const fixture = await start({ limits });
    const headers = { ...protobufHeaders, 'content-encoding': coding };
    const send = async (body: Uint8Array<ArrayBuffer>) => (await post(fixture, body, headers)).status;
    expect(await send(compress(protobuf('traces', traces('a'))))).toBe(200);
    const many = traces(...Array<string>(20_000).fill('the same name'));
    expect(await send(compress(protobuf('traces', many)))).toBe(200);
    expect(await send(compress(Buffer.alloc(20_000_000)))).toBe(413);
    const cut = compress(protobuf('traces', traces('cut')));
    expect(await send(cut.subarray(0, -4))).toBe(400);
    expect(await send(Buffer.from('not compressed'))).toBe(400);
    await until(() => fixture.sink.rows.length === 20_001, 'all rows');
  });

  it('refuses a zstd frame that asks for more memory than its content needs', async () => {
    const fixture = await start();
    const headers = { ...protobufHeaders, 'content-encoding': 'zstd' };
    const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
    const stream = createZstdCompress({ params });
    stream.write(protobuf('traces', traces('a')));
    stream.end();
    expect((await post(fixture, Buffer.concat(await stream.toArray()), headers)).status).toBe(400);
  });

  it('lets a sender that writes all of a body that is too large read why', async () => {
    const fixture = await start();
    const bytes = 70 * 1024 * 1024;
    const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: it_first\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
    const answered = raw(fixture, head);
    await new Promise((resolve) => answered.socket.write(Buffer.alloc(bytes, ' '), resolve));
    expect(await answered).toMatch(/^HTTP\/1.1 413/);
  });

  it('gives up on a sender that stops in the middle, and forgets one that leaves', async () => {
    const fixture = await start({ limits: { body: { bytes: 100_000, totalMs: 10_000, idleMs: 80 } } });
    const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: it_first\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n`;
    expect(await raw(fixture, `${head}{`, '"code":4')).toMatch(/^HTTP\/1.1 408/);
    const leaving = raw(fixture, `${head}{`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    leaving.socket.destroy();
    await leaving;
    expect((await post(fixture, '{}')).status).toBe(200);
  });

  it('lets a sender that asked first send its body only when it is let in', async () => {
    const fixture = await start();
    const head = (token: string) =>
      `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
    expect(await raw(fixture, head('wrong'), '"code":16')).toMatch(/^HTTP\/1.1 401/);
    const asked = raw(fixture, head('it_first'), '{}');
    asked.socket.on('data', (chunk: Buffer) => {
      if (chunk.toString().startsWith('HTTP/1.1 100')) asked.socket.write('{}');
    });
    expect(await asked).toMatch(/^HTTP\/1.1 100 Continue[^]*HTTP\/1.1 200/);
  });

  it('pushes back when too much is in memory or waits on the disk, by organization', async () => {
    const limits = { organization: { bytes: 1_000_000, requests: 1 }, behindOrganization: 1 };
    const fixture = await start({ limits });
    const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: it_first\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n`;
    const slow = raw(fixture, `${head}{`);
    let busy = await post(fixture, '{}');
    for (let tries = 0; busy.status === 200 && tries < 100; tries += 1) busy = await post(fixture, '{}');
    expect([busy.status, busy.headers.get('retry-after'), await busy.json()]).toEqual([
      429,
      '1',
      { code: 8, message: 'This organization sends too many requests at once.' },
    ]);
    expect((await post(fixture, '{}', { ...jsonHeaders, authorization: 'Bearer it_second' })).status).toBe(200);
    slow.socket.destroy();
    await slow;
    fixture.sink.before = () => {
      throw new Error('the warehouse is down');
    };
    let first = await post(fixture, JSON.stringify(traces('kept')));
    for (let tries = 0; first.status === 429 && tries < 100; tries += 1)
      first = await post(fixture, JSON.stringify(traces('kept')));
    expect(first.status).toBe(200);
    const full = await post(fixture, JSON.stringify(traces('refused')));
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '10']);
    await until(() => fixture.sink.loads > 0, 'a load tried');
    expect(await fixture.receiver.health(new AbortController().signal)).toMatchObject({
      ok: true,
      detail: expect.stringContaining('does not take loads of'),
    });
    fixture.sink.before = () => {};
    await until(() => fixture.sink.names().includes('kept'), 'the load tried again');
    expect(fixture.sink.names()).toEqual(['kept']);
    expect((await post(fixture, JSON.stringify(traces('after')))).status).toBe(200);
  });

  it('holds no more than its share of memory', async () => {
    const limits = { organization: { bytes: 300_000, requests: 10 } };
    const fixture = await start({ limits });
    const headers = { ...protobufHeaders, 'content-encoding': 'gzip' };
    expect((await post(fixture, gzipSync(Buffer.alloc(400_000)), headers)).status).toBe(503);
    expect((await post(fixture, '{}')).status).toBe(200);
  });

  it('decodes a large request on a thread of its own, with the same result', async () => {
    const fixture = await start();
    const names = Array.from({ length: 20_000 }, (_, index) => `span ${index}`);
    expect((await post(fixture, Buffer.from(protobuf('traces', traces(...names))), protobufHeaders)).status).toBe(200);
    expect((await post(fixture, JSON.stringify(traces(...names)))).status).toBe(200);
    const bad = await post(fixture, `${JSON.stringify(traces(...names)).slice(0, -4)}`);
    expect([bad.status, await bad.json()]).toEqual([400, { code: 3, message: 'The body is not JSON.' }]);
    await until(() => fixture.sink.rows.length === 40_000, 'all rows');
    expect(new Set(fixture.sink.names()).size).toBe(20_000);
  });

  it('loads after a restart what was acknowledged before it, once', async () => {
    const fixture = await start();
    fixture.sink.before = () => {
      throw new Error('the warehouse is down');
    };
    for (const name of ['a', 'b', 'c']) expect((await post(fixture, JSON.stringify(traces(name)))).status).toBe(200);
    await fixture.receiver.stop();
    expect((await post(fixture, JSON.stringify(traces('d')))).status).toBe(503);
    fixture.sink.before = () => {};
    await fixture.receiver.stop();
    const [first] = fixture.organizations;
    expect(await readdir(join(fixture.dataDirectory, 'ingest'))).toEqual([first?.id]);
    const again = await start({ sink: fixture.sink, dataDirectory: fixture.dataDirectory });
    await until(() => fixture.sink.rows.length === 3, 'the rows of the earlier run');
    expect(fixture.sink.names()).toEqual(['a', 'b', 'c']);
    await again.receiver.stop();
  });

  it('leaves no log behind when all of it was loaded', async () => {
    const fixture = await start();
    const [first] = fixture.organizations;
    const logs = join(fixture.dataDirectory, 'ingest', first?.id ?? '');
    expect((await post(fixture, JSON.stringify(traces('a')))).status).toBe(200);
    await until(() => fixture.sink.rows.length === 1, 'the row');
    expect(await readdir(logs)).toHaveLength(1);
    await fixture.receiver.stop();
    expect(await readdir(logs)).toEqual([]);
    await fixture.receiver.start(new AbortController().signal);
    expect((await post(fixture, JSON.stringify(traces('b')))).status).toBe(200);
    await until(() => fixture.sink.rows.length === 2, 'the row after the restart');
    expect(fixture.sink.names()).toEqual(['a', 'b']);
  });

  it('stores what came before it was stopped, and says so, or says that it did not', async () => {
    let onStore = (): void => undefined;
    const now = () => {
      onStore();
      return new Date();
    };
    const fixture = await start({ now });
    const { receiver, sink } = fixture;
    expect((await post(fixture, JSON.stringify(traces('loaded')))).status).toBe(200);
    await until(() => sink.rows.length === 1, 'the row');
    // The body is read and the log not yet written.
    let stopped: Promise<void> | undefined;
    onStore = () => {
      stopped ??= Promise.resolve().then(() => receiver.stop());
    };
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => ({
        name,
        status: (await post(fixture, JSON.stringify(traces(name)))).status,
      })),
    );
    onStore = () => undefined;
    await stopped;
    const stored = answers.filter(({ status }) => status === 200).map(({ name }) => name);
    expect(stored.length).toBeGreaterThan(0);
    await receiver.start(new AbortController().signal);
    await until(() => stored.every((name) => sink.names().includes(name)), 'what was acknowledged');
    expect(new Set(sink.names())).toEqual(new Set([...stored, 'loaded']));
    expect(sink.names()).toHaveLength(stored.length + 1);
  });

  it('lets a request on the decoder thread come to its end before it stops', async () => {
    let onStore = (): void => undefined;
    const now = () => {
      onStore();
      return new Date();
    };
    const fixture = await start({ now });
    const { receiver, sink } = fixture;
    const body = protobuf('logs', { resourceLogs: [{ scopeLogs: [{ logRecords: Array<object>(10_000).fill({}) }] }] });
    const send = () => post(fixture, Buffer.from(body), protobufHeaders, '/v1/logs');
    // The thread is there.
    expect((await send()).status).toBe(200);
    await until(() => sink.rows.length === 10_000, 'the first');
    let stopped: Promise<void> | undefined;
    onStore = () => {
      stopped ??= Promise.resolve().then(() => receiver.stop());
    };
    expect((await send()).status).toBe(200);
    onStore = () => undefined;
    await stopped;
    await receiver.start(new AbortController().signal);
    await until(() => sink.rows.length === 20_000, 'all rows');
  });

  it('refuses more records than a request may have, whatever they are', async () => {
    const fixture = await start();
    const many = { resourceLogs: [{ scopeLogs: [{ logRecords: Array<object>(131_073).fill({}) }] }] };
    const message = 'The request has more than 131072 records. Send fewer in one.';
    const headers = { ...jsonHeaders, 'content-encoding': 'gzip' };
    const answer = await post(fixture, gzipSync(JSON.stringify(many)), headers, '/v1/logs');
    expect([answer.status, await answer.json()]).toEqual([413, { code: 3, message }]);
    const binary = gzipSync(protobuf('logs', many));
    expect((await post(fixture, binary, { ...protobufHeaders, 'content-encoding': 'gzip' }, '/v1/logs')).status).toBe(
      413,
    );
    expect(fixture.sink.rows).toEqual([]);
  });

  it('takes nothing where telemetry reaches the warehouse by another way', async () => {
    const fixture = await start({ sink: undefined });
    const answer = await post(fixture, '{}');
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { code: 5, message: expect.stringContaining('directly') },
    ]);
    expect(await fixture.receiver.health(new AbortController().signal)).toMatchObject({ ok: true });
  });

  it('deletes what is older than the retention, for every organization, from the start', async () => {
    const fixture = await start({ retentionDays: () => 7, now: () => new Date('2026-06-08T00:00:00Z') });
    await until(() => fixture.sink.retained.length === 2, 'both organizations');
    expect(fixture.sink.retained.map(({ organizationId }) => organizationId)).toEqual(
      fixture.organizations.map(({ id }) => id),
    );
    expect(fixture.sink.retained[0]?.olderThan).toEqual(new Date('2026-06-01T00:00:00Z'));
  });

  it('can be stopped twice, takes nothing afterwards, and has 64 MiB for a body by default', async () => {
    const fixture = await start();
    await fixture.receiver.stop();
    await fixture.receiver.stop();
    expect((await post(fixture, '{}')).status).toBe(503);
    expect(receiverLimits.body.bytes).toBe(64 * 1024 * 1024);
  });
});

describe('a change under an id', () => {
  const change = { what: 'deploy', service: 'payment', id: '4711', status: 'started' };
  const report = async (fixture: Fixture, body: object, token = 'it_first') => {
    const headers = { ...jsonHeaders, authorization: `Bearer ${token}` };
    const answer = await post(fixture, JSON.stringify(body), headers, '/v1/changes');
    return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) };
  };

  it('is stored once, in each organization and each status', async () => {
    const fixture = await start();
    const answers = await Promise.all([1, 2, 3].map(() => report(fixture, change)));
    expect(answers.filter(({ body }) => body['repeated'] === true)).toHaveLength(2);
    for (const each of answers) expect(each).toMatchObject({ status: 200, body: { stored: true } });
    expect((await report(fixture, { ...change, status: 'succeeded' })).body).toEqual({ stored: true });
    expect((await report(fixture, change, 'it_second')).body).toEqual({ stored: true });
    await report(fixture, { what: 'deploy', service: 'last' });
    const stored = () => fixture.sink.names().filter((body) => body === 'Deploy of payment').length;
    await until(() => fixture.sink.names().includes('Deploy of last') && stored() >= 3, 'all of them');
    expect(stored()).toBe(3);
  });

  it('is not taken for stored where that failed', async () => {
    const fixture = await start();
    const refused = { ...change, time: Date.now() + 9 * 86_400_000 };
    const answers = await Promise.all([report(fixture, refused), report(fixture, refused)]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect((await report(fixture, change)).body).toEqual({ stored: true });
  });

  it('is forgotten with the oldest of many', async () => {
    const once = new OnceById(2);
    const stored: string[] = [];
    const store = (id: string) => once.store(id, async () => void stored.push(id));
    for (const id of ['a', 'b', 'b', 'c', 'a']) await store(id);
    expect(stored).toEqual(['a', 'b', 'c', 'a']);
  });
});

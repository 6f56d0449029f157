import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { duplexPair } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readHead } from './head.ts';

const starts = ['POST /mcp HTTP/1.1\r\n', 'POST /base/mcp HTTP/1.1\r\n'];
const read = (bytes: Buffer) => readHead(bytes, starts, 16 * 1024);

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The requests that Node's own parser reads in these bytes; `refused` in place of what it does not take. */
async function byNodeHttp(bytes: Buffer): Promise<readonly (Seen | 'refused')[]> {
  const [client, socket] = duplexPair();
  const seen: (Seen | 'refused')[] = [];
  let reading = 0;
  const server = createServer({ keepAliveTimeout: 0, requireHostHeader: true }, (request, response) => {
    const chunks: Buffer[] = [];
    reading += 1;
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks) });
      reading -= 1;
      response.end();
    });
  });
  server.on('clientError', () => seen.push('refused'));
  server.on('checkContinue', () => seen.push('refused'));
  server.emit('connection', socket);
  client.resume();
  client.write(bytes);
  for (let turn = 0; turn < 4 || (reading > 0 && turn < 20); turn += 1) await new Promise(setImmediate);
  client.destroy();
  socket.destroy();
  if (!socket.closed) await once(socket, 'close');
  return seen;
}

const token = fc.constantFrom(
  'Accept',
  'accept',
  'Content-Type',
  'Authorization',
  'X-Thing',
  '__proto__',
  'Proxy-Connection',
  'Set-Cookie',
  'constructor',
  'Cookie',
  'MCP-Protocol-Version',
  'Connection',
  'Content-Length',
  'Transfer-Encoding',
  'Host',
);
const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', '\t', ':', ',', ';', '"', '='), maxLength: 12 }),
  },
  fc.constantFrom(
    'chunked',
    'keep-alive',
    'close',
    '0',
    '5',
    '05',
    '+5',
    '5, 5',
    'é',
    '\u0000',
    '\u007f',
    '\r',
    '\n',
    'a\r\n b',
  ),
);
const line = fc.tuple(
  token,
  fc.constantFrom(':', ': ', ' :', ':\t'),
  value,
  fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r'),
);
const request = fc.record({
  start: fc.constantFrom(
    ...starts,
    'POST /mcp HTTP/1.0\r\n',
    'POST  /mcp HTTP/1.1\r\n',
    'GET /mcp HTTP/1.1\r\n',
    'POST /mcp HTTP/1.1\n',
  ),
  usual: fc.constantFrom('Host: a\r\nContent-Length: 5\r\n', 'content-length: 5\r\nhost: a\r\n', 'Host: a\r\n', ''),
  lines: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('Accept: */*\r\n', 'X-A: b  \r\n', 'X-Empty:\r\n') },
      line.map((parts) => parts.join('')),
    ),
    { maxLength: 3 },
  ),
  body: fc.constantFrom('{"a":', '12345', '5\r\n\r\n', 'POST ', '{"a":1}', ''),
});
const bytesOf = ({
  start,
  usual,
  lines,
  body,
}: {
  start: string;
  usual: string;
  lines: string[];
  body: string;
}): Buffer => Buffer.from(`${start}${usual}${lines.join('')}\r\n${body}`, 'latin1');

describe('a head that is read here', () => {
  it('is read by node:http alike: the same request, the same headers, the same end', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(request, async (parts) => {
        const bytes = bytesOf(parts);
        const head = read(bytes);
        if (head === undefined || head === 'more' || head.end > bytes.length) return;
        taken += 1;
        const [first, ...others] = await byNodeHttp(bytes.subarray(0, head.end));
        expect(others).toEqual([]);
        expect(first).toEqual({
          method: 'POST',
          url: parts.start.split(' ')[1],
          headers: { ...head.headers },
          body: bytes.subarray(head.bodyAt, head.end),
        });
      }),
      { numRuns: 6_000 },
    );
    // Else it would have shown nothing.
    expect(taken).toBeGreaterThan(300);
  });

  it('is every plain call', () => {
    const bytes = Buffer.from(
      'POST /base/mcp HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\n{}POST',
    );
    expect(read(bytes)).toMatchObject({ keepAlive: true, end: bytes.length - 4, headers: { host: 'a' } });
  });

  it('may still come as long as what is there is the beginning of one', () => {
    const whole = 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';
    for (let end = 1; end < whole.length; end += 1) expect(read(Buffer.from(whole.slice(0, end)))).toBe('more');
    expect(read(Buffer.from('POST /mcq'))).toBeUndefined();
    expect(read(Buffer.from('GET'))).toBeUndefined();
  });

  it.each([
    ['both lengths', 'Host: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n'],
    ['a length twice', 'Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n'],
    ['a length in another notation', 'Host: a\r\nContent-Length: 0x2\r\n'],
    ['a length with a sign', 'Host: a\r\nContent-Length: +2\r\n'],
    ['a length with leading zeros', 'Host: a\r\nContent-Length: 02\r\n'],
    ['no length', 'Host: a\r\n'],
    ['no host', 'Content-Length: 2\r\n'],
    ['two hosts', 'Host: a\r\nHost: b\r\nContent-Length: 2\r\n'],
    ['a folded line', 'Host: a\r\nX: b\r\n c\r\nContent-Length: 2\r\n'],
    ['white space before a colon', 'Host: a\r\nContent-Length : 2\r\n'],
    ['a bare line feed', 'Host: a\nContent-Length: 2\r\n'],
    ['a bare carriage return', 'Host: a\rX: b\r\nContent-Length: 2\r\n'],
    ['a zero byte', 'Host: a\r\nX: \0\r\nContent-Length: 2\r\n'],
    ['bytes beyond ASCII', 'Host: a\r\nX: \u00e9\r\nContent-Length: 2\r\n'],
    ['an empty name', 'Host: a\r\n: b\r\nContent-Length: 2\r\n'],
    ['what waits for a 100', 'Host: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n'],
    ['what old proxies were told', 'Host: a\r\nProxy-Connection: close\r\nContent-Length: 2\r\n'],
    ['an upgrade', 'Host: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n'],
    ['a body that is too long for one read', 'Host: a\r\nContent-Length: 70000\r\n'],
    [
      'too many headers',
      `Host: a\r\nContent-Length: 2\r\n${Array.from({ length: 70 }, (_, index) => `X-${index}: a\r\n`).join('')}`,
    ],
  ])('is none with %s', (_what, fields) => {
    expect(read(Buffer.from(`${starts[0] ?? ''}${fields}\r\n{}`, 'latin1'))).toBeUndefined();
  });

  it('is none that is too long, whether it ends or not', () => {
    const long = `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX: ${'x'.repeat(16 * 1024)}`;
    expect(read(Buffer.from(long))).toBeUndefined();
    expect(read(Buffer.from(`${long}\r\n\r\n{}`))).toBeUndefined();
  });
});

import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { acceptsGzip } from './accept.ts';
import { Exchange } from './exchange.ts';
import type { HeadroomBuffer } from './headroom-buffer.ts';
import type { HttpResponse } from './http-message.ts';
import { PreparedResult } from './prepared.ts';

const tools = Array.from({ length: 40 }, (_, index) => ({
  name: `tool_${index}`,
  description: 'Reads what there is. é😀',
}));

describe('a prepared result', () => {
  it('is, unpacked, the message with any id, and nothing behind it', () => {
    const result = new PreparedResult({ tools });
    const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'binary', maxLength: 256 }));
    fc.assert(
      fc.property(id, fc.boolean(), (asked, givenBack) => {
        const packed = result.compressed(asked);
        const message: unknown = JSON.parse(gunzipSync(packed.body).toString());
        if (givenBack) result.giveBack(packed);
        expect(message).toEqual({ jsonrpc: '2.0', id: asked, result: { tools } });
      }),
    );
  });

  it('is written over once it is given back, and not before', () => {
    const result = new PreparedResult({ tools });
    const [kept, other] = [result.compressed(1), result.compressed(2)];
    expect(gunzipSync(kept.body).toString()).toMatch(/"id":1}$/);
    expect(gunzipSync(other.body).toString()).toMatch(/"id":2}$/);
    result.giveBack(kept);
    expect(result.compressed(3)).toBe(kept);
  });

  it.each([
    ['', false],
    [', its head in the same memory', true],
  ])('stays as it is while the operating system has not taken it%s', (_how, behindHead) => {
    const result = new PreparedResult({ tools });
    const sent: Buffer[] = [];
    const response: HttpResponse = {
      destroyed: false,
      headersSent: false,
      statusCode: 200,
      closed: false,
      writableLength: 1,
      write() {},
      setTimeout() {},
      destroy() {},
      on() {},
      once() {},
      off() {},
      writeHead: () => response,
      end(chunk?: string | Buffer) {
        if (Buffer.isBuffer(chunk)) sent.push(chunk);
      },
      ...(behindHead && { endBehindHead: (body: HeadroomBuffer) => sent.push(body.body) }),
    };
    for (const id of [1, 2]) {
      const request = {
        method: 'POST',
        headers: { 'accept-encoding': 'gzip' },
        whole: Buffer.from(''),
        bodyAt: 0,
        memo: {},
      };
      const exchange = new Exchange(request, response, { maxBodyBytes: 1, keepAliveMs: 1_000 });
      exchange.id = id;
      exchange.prepared(result);
    }
    const ids = sent.map((bytes) => /"id":(\d)}$/.exec(gunzipSync(bytes).toString())?.[1]);
    expect(ids).toEqual(['1', '2']);
  });

  it('takes a fraction of its bytes', () => {
    const result = new PreparedResult({ tools });
    expect(result.compressed(1).length).toBeLessThan(result.json.length / 4);
  });
});

describe('a client', () => {
  it.each([
    ['gzip', true],
    ['gzip, deflate', true],
    ['br, gzip, deflate', true],
    ['deflate, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['deflate, gzip; q=0.0', false],
    ['deflate, gzip; q=0.001', true],
    ['identity', false],
    ['x-gzip', false],
    ['*', false],
    ['', false],
    [undefined, false],
  ])('that sends Accept-Encoding: %s takes gzip: %s', (header, takes) => {
    expect(acceptsGzip(header)).toBe(takes);
  });
});

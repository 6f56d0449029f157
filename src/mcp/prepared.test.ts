import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { acceptsGzip } from './era.ts';
import { PreparedResult } from './catalog.ts';

const tools = Array.from({ length: 40 }, (_, index) => ({
  name: `tool_${index}`,
  description: 'Reads what there is. é😀',
}));

describe('a prepared result', () => {
  it.each([0, 1, 63])('is, unpacked, the message with the id %d', (id) => {
    const packed = new PreparedResult({ tools }).compressed(id);
    expect(JSON.parse(gunzipSync(packed ?? '').toString())).toEqual({ jsonrpc: '2.0', id, result: { tools } });
  });

  it('is compressed once for each id', () => {
    const result = new PreparedResult({ tools });
    expect(result.compressed(1)).toBe(result.compressed(1));
  });

  it.each([64, -1, 1.5, '1', 'a'])('is not kept for the id %j', (id) => {
    expect(new PreparedResult({ tools }).compressed(id)).toBeUndefined();
  });

  it('takes a fraction of its bytes', () => {
    const result = new PreparedResult({ tools });
    expect(result.compressed(1)?.length).toBeLessThan(result.json.length / 4);
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

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { traceBody } from '../../../bench/support/otlp-body.ts';
import { newId } from '../../contract/core/index.ts';
import { DecodePool } from './decode-pool.ts';
import { decodeRequest, type Encoding } from './decode.ts';
import type { Signal } from './fields.ts';
import { requestRows, work } from './limits.ts';
import { protobuf, varint } from '../../../test/support/otlp/protobuf.ts';

const [busy, other] = [newId('org'), newId('org')];
let pool: DecodePool;

beforeEach(() => {
  pool = new DecodePool();
});
afterEach(() => pool.stop());

const mebibyte = 1024 * 1024;
const message = (tags: string, inner: Uint8Array): Buffer =>
  [...Buffer.from(tags, 'hex')].reduceRight(
    (inside, tag) => Buffer.concat([Buffer.of(tag), varint(BigInt(inside.length)), inside]),
    Buffer.from(inner),
  );
const fill = (hex: string, size = mebibyte) => Buffer.alloc(size - (size % (hex.length / 2)), Buffer.from(hex, 'hex'));
const keys = Array.from({ length: 512 }, (_, index) => ({ key: `key${index}`, value: { stringValue: 'v' } }));
const large = { attributes: [{ key: 'a', value: { stringValue: '\u0001'.repeat(40_000) } }] };
const nested = (inner: string) => Buffer.from(`{"resourceLogs":[{"scopeLogs":[${inner}]}]}`);

/** Each would hold the event loop for 50 to 900 ms. */
const hostile: readonly (readonly [what: string, signal: Signal, encoding: Encoding, body: Uint8Array])[] = [
  ['empty resources', 'logs', 'protobuf', fill('0a00')],
  ['empty scopes', 'logs', 'protobuf', message('0a', fill('1200'))],
  ['empty log records', 'logs', 'protobuf', message('0a12', fill('1200'))],
  ['empty spans', 'traces', 'protobuf', message('0a12', fill('1200'))],
  ['empty metrics', 'metrics', 'protobuf', message('0a12', fill('1200'))],
  ['empty points', 'metrics', 'protobuf', message('0a12122a', fill('0a00'))],
  ['empty exemplars', 'metrics', 'protobuf', message('0a12122a0a', fill('2a00'))],
  ['empty metadata', 'metrics', 'protobuf', message('0a12', fill('120462005a00'))],
  ['empty attributes', 'logs', 'protobuf', message('0a1212', fill('3200'))],
  ['empty attributes of a resource', 'logs', 'protobuf', message('0a0a', fill('0a00'))],
  ['fields without a meaning', 'logs', 'protobuf', fill('2800')],
  ['severities', 'logs', 'protobuf', message('0a12', fill('12031a0161'))],
  [
    'a schema URL for each scope',
    'logs',
    'protobuf',
    message('0a', Buffer.concat([fill('12041a026161', 60_000), message('1a', Buffer.alloc(60_000, 'x'))])),
  ],
  [
    'a large resource of many records',
    'logs',
    'protobuf',
    protobuf('logs', { resourceLogs: [{ resource: large, scopeLogs: [{ logRecords: Array(8000).fill({}) }] }] }),
  ],
  [
    'many keys',
    'logs',
    'protobuf',
    protobuf('logs', { resourceLogs: [{ scopeLogs: [{ logRecords: Array(128).fill({ attributes: keys }) }] }] }),
  ],
  ['empty scopes', 'logs', 'json', nested(Array(80_000).fill('{}').join())],
  [
    'numbers to be kept exactly',
    'logs',
    'json',
    Buffer.from(`{"a":1234567890123456789,"b":[${Array(120_000).fill('1').join()}]}`),
  ],
];

describe('what decoding costs', () => {
  it.each(hostile)('is bounded on the event loop, with %s of %s in %s', (_what, signal, encoding, body) => {
    const decoded = decodeRequest(signal, encoding, body, Date.now(), 0, work.inline);
    expect(decoded).toMatchObject({ ok: false, refused: 'tooMuchWork' });
  });

  it('leaves a usual request of 512 spans on the event loop', () => {
    const body = gunzipSync(traceBody(1, Date.now()));
    expect(decodeRequest('traces', 'protobuf', body, Date.now(), 0, work.inline)).toMatchObject({ accepted: 512 });
  });

  it('is bounded for a request, too, and so are its records', () => {
    expect(decodeRequest('logs', 'protobuf', message('0a', fill('1200', 16 * mebibyte)), Date.now())).toEqual({
      ok: false,
      refused: 'tooMuchWork',
      message: 'The request has too many fields. Send fewer records in a request.',
      kind: 'The request has too many fields. Send fewer records in a request.',
    });
    const records = (count: number) => message('0a12', fill('1200', 2 * count));
    const most = decodeRequest('logs', 'protobuf', records(requestRows), Date.now());
    expect(most).toMatchObject({ ok: true, accepted: requestRows });
    expect(decodeRequest('logs', 'protobuf', records(requestRows + 1), Date.now())).toEqual({
      ok: false,
      refused: 'tooLarge',
      message: 'The request has more than 131072 records. Send fewer in one.',
      kind: 'The request has more than 131072 records. Send fewer in one.',
    });
  });
});

describe('the decoder thread', () => {
  it('answers what the event loop would, and takes one request of each organization in turn', async () => {
    const now = Date.now();
    const body = message('0a12', fill('1200', 40_000));
    const done: string[] = [];
    const decode = async (organization: typeof busy, name: string) => {
      const decoded = await pool.decode(organization, 'logs', 'protobuf', body, now, 0);
      done.push(name);
      return decoded;
    };
    const all = [...Array.from({ length: 6 }, () => decode(busy, 'busy')), decode(other, 'other')];
    const [first] = await Promise.all(all);
    expect(done.indexOf('other')).toBeLessThan(3);
    expect(first).toEqual(decodeRequest('logs', 'protobuf', body, now, 0));
  });

  it('refuses what it did not come to when it is stopped', async () => {
    const body = message('0a12', fill('1200', 40_000));
    const waiting = [1, 2, 3].map(() => pool.decode(busy, 'logs', 'protobuf', body, Date.now(), 0));
    await pool.stop();
    const ended = await Promise.allSettled(waiting);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

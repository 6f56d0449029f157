import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { signals } from './fields.ts';
import { decodeRequest } from './decode.ts';
import { recordLimits } from './limits.ts';
import { protobuf, varint } from '../../../test/support/otlp/protobuf.ts';
import { decode, rowsOf, type Row } from '../../../test/support/otlp/rows.ts';
import { documents, now } from '../../../test/support/otlp/telemetry.ts';

const nano = (offset = 0) => String(BigInt(now) * 1_000_000n + BigInt(offset));
const json = (document: object) => Buffer.from(JSON.stringify(document));
const string = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const ids = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8) };
const withIds = (fields: object) => Object.assign({}, ids, fields);
const span = (fields: object) => ({
  resourceSpans: [{ scopeSpans: [{ spans: [{ ...ids, startTimeUnixNano: nano(), ...fields }] }] }],
});
const log = (fields: object) => ({ resourceLogs: [{ scopeLogs: [{ logRecords: [fields] }] }] });
const metric = (fields: object) => ({ resourceMetrics: [{ scopeMetrics: [{ metrics: [fields] }] }] });
const only = (rows: readonly Row[]): Row => {
  expect(rows).toHaveLength(1);
  return rows[0] ?? {};
};
const parsed = (value: unknown): unknown => JSON.parse(String(value));

describe('decoding OTLP', () => {
  it.each(signals)('gives the same rows for %s by protobuf and by JSON, whatever is sent', (signal) => {
    fc.assert(
      fc.property(documents[signal], (document) => {
        const binary = decode(signal, 'protobuf', protobuf(signal, document), now);
        const text = decode(signal, 'json', json(document), now);
        expect(rowsOf(binary.batches)).toEqual(rowsOf(text.batches));
        expect({ ...binary, batches: [] }).toEqual({ ...text, batches: [] });
        for (const row of rowsOf(binary.batches)) {
          for (const name of [
            'attributes',
            'resource_attributes',
            'events',
            'links',
            'bucket_counts',
            'quantile_values',
            'scope_attributes',
            'otlp_fields',
            'exemplars',
          ]) {
            if (name in row) parsed(row[name]);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it.each(signals)('never fails on damaged %s but with an error of its own', (signal) => {
    fc.assert(
      fc.property(
        documents[signal],
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (document, hits, cut) => {
          const bytes = protobuf(signal, document);
          for (const [at, value] of hits) if (bytes.length > 0) bytes[at % bytes.length] = value;
          const decoded = decodeRequest(signal, 'protobuf', bytes.subarray(0, bytes.length - (cut % 3)), now);
          if (decoded.ok) expect(rowsOf(decoded.batches)).toHaveLength(decoded.accepted);
          else expect(decoded.message).not.toBe('');
        },
      ),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeRequest(signal, 'protobuf', bytes, now)).toHaveProperty('ok');
        expect(decodeRequest(signal, 'json', bytes, now)).toHaveProperty('ok');
      }),
      { numRuns: 300 },
    );
  });

  it('fills every column of a span', () => {
    const document = {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: '0AF7651916CD43DD8448EB211C80319C',
                  spanId: 'b7ad6b7169203331',
                  parentSpanId: '0000000000000000',
                  traceState: 'a=b',
                  name: 'GET /',
                  kind: 2,
                  startTimeUnixNano: nano(1_234_567),
                  endTimeUnixNano: nano(5_000_000_000),
                  attributes: [
                    string('http.route', '/'),
                    { key: 'n', value: { intValue: -5 } },
                    { key: 'ok', value: { boolValue: true } },
                    { key: 'd', value: { doubleValue: 0.5 } },
                    {
                      key: 'list',
                      value: { arrayValue: { values: [{ stringValue: 'a"b' }, { intValue: '9007199254740993' }] } },
                    },
                    {
                      key: 'map',
                      value: {
                        kvlistValue: {
                          values: [
                            { key: 'k', value: { doubleValue: 'NaN' } },
                            { key: 'e', value: {} },
                          ],
                        },
                      },
                    },
                    { key: 'bytes', value: { bytesValue: 'AQID' } },
                    { key: 'empty', value: {} },
                  ],
                  events: [{ timeUnixNano: nano(1000), name: 'exception', attributes: [string('t', 'x')] }],
                  links: [
                    {
                      traceId: 'ff'.repeat(16),
                      spanId: 'ee'.repeat(8),
                      traceState: 'q',
                      attributes: [string('l', 'y')],
                    },
                  ],
                  status: { code: 2, message: 'no' },
                  flags: 257,
                },
              ],
              scope: { name: 'lib', version: '1.0' },
            },
          ],
          resource: {
            attributes: [
              string('service.name', 'cart'),
              string('service.version', '3'),
              string('deployment.environment', 'old'),
              string('deployment.environment.name', 'prod'),
            ],
          },
        },
      ],
    };
    const row = only(rowsOf(decode('traces', 'protobuf', protobuf('traces', document), now).batches));
    const micros = BigInt(now) * 1000n;
    expect({
      ...row,
      attributes: parsed(row['attributes']),
      events: parsed(row['events']),
      links: parsed(row['links']),
    }).toEqual({
      time: micros + 1234n,
      start_time: micros + 1234n,
      end_time: micros + 5_000_000n,
      duration_nano: 4_998_765_433n,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
      parent_span_id: '',
      trace_state: 'a=b',
      flags: 257n,
      name: 'GET /',
      kind: 'SERVER',
      status_code: 'ERROR',
      status_message: 'no',
      service_name: 'cart',
      service_version: '3',
      deployment_environment: 'prod',
      attributes: {
        'http.route': '/',
        n: '-5',
        ok: 'true',
        d: '0.5',
        list: '["a\\"b",9007199254740993]',
        map: '{"k":"NaN","e":null}',
        bytes: 'AQID',
        empty: '',
      },
      resource_attributes:
        '{"service.name":"cart","service.version":"3","deployment.environment":"old","deployment.environment.name":"prod"}',
      scope_name: 'lib',
      scope_version: '1.0',
      scope_attributes: '{}',
      schema_url: '',
      otlp_fields: '{}',
      events: [{ time: '2026-06-01T00:00:00.000001Z', name: 'exception', attributes: { t: 'x' } }],
      links: [{ trace_id: 'ff'.repeat(16), span_id: 'ee'.repeat(8), trace_state: 'q', attributes: { l: 'y' } }],
    });
  });

  it('gives a log record the time it was observed, or now, and its body as text', () => {
    const observed = only(
      rowsOf(
        decode('logs', 'json', json(log({ observedTimeUnixNano: nano(7000), body: { intValue: 5 } })), now).batches,
      ),
    );
    expect(observed).toMatchObject({ time: BigInt(now) * 1000n + 7n, body: '5' });
    const body = { kvlistValue: { values: [string('a', 'ü')] } };
    const bare = only(
      rowsOf(decode('logs', 'json', json(log({ body, severityNumber: 'SEVERITY_NUMBER_ERROR' })), now).batches),
    );
    expect(bare).toMatchObject({ time: BigInt(now) * 1000n, body: '{"a":"ü"}', severity_number: 17n });
  });

  it('gives metrics NULL for what a point does not have, and numbers exactly', () => {
    const dataPoints = [
      { timeUnixNano: nano(), asInt: '42' },
      { timeUnixNano: nano(), flags: 1, asDouble: 3 },
    ];
    const document = metric({
      name: 'requests',
      unit: '1',
      sum: { dataPoints, aggregationTemporality: 2, isMonotonic: true },
    });
    const rows = rowsOf(decode('metrics', 'json', json(document), now).batches);
    expect(rows[0]).toMatchObject({
      name: 'requests',
      type: 'sum',
      aggregation_temporality: 'cumulative',
      is_monotonic: true,
      value: 42,
      start_time: null,
      count: null,
      sum: null,
      scale: null,
      bucket_counts: '[]',
    });
    expect(rows[1]).toMatchObject({ value: null, flags: 1n });
    const exponential = {
      count: '9223372036854775807',
      scale: -3,
      zeroCount: 2,
      positive: { offset: -7, bucketCounts: ['1', 2] },
      negative: { offset: 3, bucketCounts: [] },
    };
    const bytes = protobuf(
      'metrics',
      metric({ name: 'e', exponentialHistogram: { dataPoints: [exponential], aggregationTemporality: 1 } }),
    );
    expect(only(rowsOf(decode('metrics', 'protobuf', bytes, now).batches))).toMatchObject({
      type: 'exponential_histogram',
      aggregation_temporality: 'delta',
      count: 2n ** 63n - 1n,
      scale: -3n,
      zero_count: 2n,
      positive_offset: -7n,
      positive_bucket_counts: '[1,2]',
      negative_offset: 3n,
      negative_bucket_counts: '[]',
      sum: null,
    });
  });

  it('reads lists that are not packed', () => {
    const point = [0x31, 1, 0, 0, 0, 0, 0, 0, 0, 0x31, 2, 0, 0, 0, 0, 0, 0, 0];
    const wrap = (field: number, inner: number[]) => [field * 8 + 2, ...varint(BigInt(inner.length)), ...inner];
    const bytes = wrap(1, wrap(2, wrap(2, wrap(9, wrap(1, point)))));
    expect(only(rowsOf(decode('metrics', 'protobuf', Uint8Array.from(bytes), now).batches))).toMatchObject({
      bucket_counts: '[1,2]',
    });
  });

  it('keeps the last of equal keys, drops what is over the limits and says so', () => {
    const many = Array.from({ length: recordLimits.attributes + 3 }, (_, index) => string(`k${index}`, 'v'));
    const long = 'é'.repeat(recordLimits.valueBytes);
    const document = span({
      name: long,
      attributes: [string('a', '1'), string('a', '2'), ...many],
      parentSpanId: 'ab',
    });
    const decoded = decode('traces', 'json', json(document), now);
    const row = only(rowsOf(decoded.batches));
    const attributes = parsed(row['attributes']);
    expect(attributes).toMatchObject({ a: '2', k0: 'v' });
    expect(Object.keys(Object(attributes))).toHaveLength(recordLimits.attributes);
    expect(row['name']).toBe('é'.repeat(recordLimits.valueBytes / 2));
    expect(decoded.losses).toMatchObject({ attributes: 4, values: 1, events: 0, invalidIds: 1 });
  });

  it('cuts a structured value that is too long, without building all of it first', () => {
    const values = Array.from({ length: 300_000 }, () => ({ stringValue: 'abcdefgh' }));
    const decoded = decode('logs', 'json', json(log({ body: { arrayValue: { values } } })), now);
    expect(String(only(rowsOf(decoded.batches))['body'])).toHaveLength(recordLimits.bodyBytes);
    expect(decoded.losses).toMatchObject({ values: 0, bodies: 1 });
  });

  it('rejects records with times that cannot be, one by one', () => {
    const spans = [nano(), nano(8 * 24 * 3600 * 1e9), '1717200000000', nano(5)].map((startTimeUnixNano) =>
      withIds({ startTimeUnixNano, attributes: [string('at', startTimeUnixNano)], events: [{ name: 'e' }] }),
    );
    const decoded = decode('traces', 'json', json({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), now);
    expect(decoded).toMatchObject({ accepted: 2, rejected: 2 });
    expect(decoded.reasons.map(([reason]) => reason)).toEqual([
      'time more than a week in the future; is it in nanoseconds?',
      'time before the year 2000; is it in nanoseconds?',
    ]);
    expect(rowsOf(decoded.batches).map((row) => parsed(row['attributes']))).toEqual([{ at: nano() }, { at: nano(5) }]);
  });

  it('keeps what is days in the future or older than the retention, and warns of it', () => {
    const days = [-31, -29, 0, 0.9, 3, 6.9];
    const spans = days.map((count) => withIds({ startTimeUnixNano: nano(Math.round(count * 24) * 3600 * 1e9) }));
    const body = json({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const decoded = decodeRequest('traces', 'json', body, now, now - 30 * 24 * 3600_000);
    expect(decoded).toMatchObject({ accepted: 6, rejected: 0, losses: { ahead: 2, aged: 1 } });
  });

  it('sets an end that cannot be to the start, so that it is never among the slowest', () => {
    const day = 24 * 3600 * 1e9;
    const spans = [nano(-1000), '18446744073709551615', nano(2 * day), '0', nano(day / 2)].map((endTimeUnixNano) =>
      withIds({ startTimeUnixNano: nano(), endTimeUnixNano }),
    );
    const decoded = decode('traces', 'json', json({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), now);
    expect(rowsOf(decoded.batches).map((row) => row['duration_nano'])).toEqual([0n, 0n, 0n, 0n, BigInt(day / 2)]);
    expect(rowsOf(decoded.batches).filter((row) => row['end_time'] !== row['time'])).toHaveLength(1);
    expect(decoded.losses.ends).toBe(3);
    const ahead = { startTimeUnixNano: nano(3 * day), endTimeUnixNano: nano(3 * day + 5000) };
    expect(only(rowsOf(decode('traces', 'json', json(span(ahead)), now).batches))['duration_nano']).toBe(5000n);
  });

  it('rejects spans without ids, and takes those of hex digits', () => {
    const [traceId, spanId] = ['0AF7651916CD43DD8448EB211C80319C', 'b7ad6b7169203331'];
    for (const lacking of [{ traceId: '' }, { spanId: '0'.repeat(16) }, { traceId: 'abcd' }]) {
      const decoded = decode('traces', 'json', json(span(lacking)), now);
      expect(decoded).toMatchObject({ accepted: 0, rejected: 1, reasons: [[expect.stringContaining('trace id'), 1]] });
    }
    const asText = (text: string) => Buffer.from(text).toString('hex');
    const erlang = protobuf('traces', span({ traceId: asText(traceId), spanId: asText(spanId) }));
    const row = only(rowsOf(decode('traces', 'protobuf', erlang, now).batches));
    expect(row).toMatchObject({ trace_id: traceId.toLowerCase(), span_id: spanId });
  });

  it('rejects what was sent to the path of another signal', () => {
    const sent = {
      traces: protobuf('traces', span({ endTimeUnixNano: nano(5), kind: 2 })),
      logs: protobuf('logs', log({ timeUnixNano: nano(), severityNumber: 9, traceId: 'a1'.repeat(16) })),
      metrics: protobuf('metrics', metric({ name: 'm', unit: '1', sum: { dataPoints: [{ asInt: '1' }] } })),
    };
    for (const [of, bytes] of Object.entries(sent)) {
      for (const at of signals) {
        const decoded = decodeRequest(at, 'protobuf', bytes, now);
        if (!decoded.ok) expect(decoded.message).not.toBe('');
        else
          expect([of, at, decoded.accepted, decoded.rejected]).toEqual([of, at, of === at ? 1 : 0, of === at ? 0 : 1]);
      }
    }
  });

  it('names the keys of a request without a record', () => {
    for (const [document, unknown] of [
      [{ resource_spans: [{}] }, ['"resource_spans"']],
      [{ resourceLogs: [] }, ['"resourceLogs"']],
      [{ resourceSpans: [{ instrumentationLibrarySpans: [{}] }] }, ['"instrumentationLibrarySpans"']],
      [{ ...span({}), other: 1 }, []],
      [{ resourceSpans: [] }, []],
    ] as const) {
      expect(decode('traces', 'json', json(document), now).unknown).toEqual(unknown);
    }
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}${'x'.repeat(500)}`, 1]));
    expect(decode('traces', 'json', json(many), now).unknown.join('').length).toBeLessThan(400);
  });

  it('takes the severity from its text where the number is left out', () => {
    const texts = ['ERROR', ' warning ', 'Notice', 'CRIT', 'emerg', 'info3', 'E', 'unheard of', '', 'x'.repeat(99)];
    const numbers = texts.map(
      (severityText) =>
        only(rowsOf(decode('logs', 'json', json(log({ severityText })), now).batches))['severity_number'],
    );
    expect(numbers).toEqual([17n, 13n, 10n, 18n, 21n, 11n, 17n, 0n, 0n, 0n]);
    const told = decode('logs', 'json', json(log({ severityText: 'error', severityNumber: 5 })), now);
    expect(only(rowsOf(told.batches))['severity_number']).toBe(5n);
  });

  it('keeps the last of repeated keys, wherever they stand, without a warning', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c"', 'd'), fc.string({ maxLength: 5 }))), (pairs) => {
        const attributes = pairs.map(([key, value]) => string(key, value));
        const decoded = decode('traces', 'json', json(span({ attributes })), now);
        expect(parsed(only(rowsOf(decoded.batches))['attributes'])).toEqual(Object.fromEntries(pairs));
        expect(decoded.losses.attributes).toBe(0);
      }),
    );
    const service = [string('service.name', 'old'), string('service.name', 'new')];
    const document = { resourceSpans: [{ ...span({}).resourceSpans[0], resource: { attributes: service } }] };
    expect(only(rowsOf(decode('traces', 'json', json(document), now).batches))['service_name']).toBe('new');
  });

  it('does not move megabytes for keys that are repeated for no other reason', () => {
    const attributes = [string('a', '1'), string('long', 'x'.repeat(60_000))];
    for (let index = 0; index < 1000; index += 1)
      attributes.push(string('a', `${index}`), string('long', 'y'.repeat(50)));
    attributes.push(string('last', 'of all'));
    const decoded = decode('traces', 'json', json(span({ attributes })), now);
    const attributesStored = parsed(only(rowsOf(decoded.batches))['attributes']);
    expect(Object.keys(Object(attributesStored)).toSorted()).toEqual(['a', 'last', 'long']);
    expect(decoded.losses.attributes).toBeGreaterThan(0);
  });

  it('rejects a record that is too large and a count that no warehouse holds', () => {
    const big = Array.from({ length: 40 }, (_, index) => string(`k${index}`, 'x'.repeat(60_000)));
    expect(decode('traces', 'json', json(span({ attributes: big })), now)).toMatchObject({ accepted: 0, rejected: 1 });
    const histogram = { dataPoints: [{ count: '18446744073709551615' }, { count: '1', bucketCounts: ['1'] }] };
    const decoded = decode('metrics', 'json', json(metric({ histogram })), now);
    expect(decoded).toMatchObject({ accepted: 1, rejected: 1 });
    expect(only(rowsOf(decoded.batches))).toMatchObject({ bucket_counts: '[1]' });
  });

  it('replaces what is not UTF-8, and still tells equal keys', () => {
    const bytes = protobuf('traces', span({ name: 'AA', attributes: [string('BB', 'CC'), string('BB', '2')] }));
    for (const [index, byte] of bytes.entries())
      if (byte >= 0x41 && byte <= 0x43 && bytes[index + 1] === byte) bytes.fill(0xff, index, index + 2);
    const row = only(rowsOf(decode('traces', 'protobuf', bytes, now).batches));
    expect(row).toMatchObject({ name: '\ufffd\ufffd', attributes: '{"\ufffd\ufffd":"2"}' });
  });

  it('closes a batch when it is large and goes on with the same resource', () => {
    const spans = Array.from({ length: 20_000 }, (_, index) =>
      withIds({ startTimeUnixNano: nano(index), name: `n${index}` }),
    );
    const resource = { attributes: [string('service.name', 'cart')] };
    const document = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 's' }, spans }] }] };
    const decoded = decode('traces', 'json', json(document), now);
    expect(decoded.batches.map(({ rows }) => rows)).toEqual([8192, 8192, 3616]);
    const rows = rowsOf(decoded.batches);
    expect(new Set(rows.map((row) => row['name'])).size).toBe(20_000);
    expect(rows.every((row) => row['service_name'] === 'cart' && row['scope_name'] === 's')).toBe(true);
  });

  it('lets no small request become a giant in the warehouse, where a resource is stored with each record', () => {
    const request = (values: number, records: number) => {
      const attributes = Array.from({ length: values }, (_, index) => string(`k${index}`, 'x'.repeat(60_000)));
      const spans = Array.from({ length: records }, () => withIds({ startTimeUnixNano: nano() }));
      return json({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] });
    };
    expect(decode('traces', 'json', request(20, 1000), now)).toMatchObject({ accepted: 0, rejected: 1000 });
    expect(decodeRequest('traces', 'json', request(4, 3000), now)).toMatchObject({ ok: false, refused: 'tooLarge' });
    expect(decode('traces', 'json', json(span({ name: 'next' })), now).accepted).toBe(1);
  });

  it.each([
    ['a group', [0x0b]],
    ['field number 0', [0x02, 0x00]],
    ['wire type 7', [0x0f]],
    ['a length over the end', [0x0a, 0x05, 0x00]],
    ['a length of 2^63', [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['a varint without an end', [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
    ['JSON under the name of protobuf', [...Buffer.from('{"resourceSpans":[]}')]],
  ])('refuses %s', (_name, bytes) => {
    expect(decodeRequest('traces', 'protobuf', Uint8Array.from(bytes), now)).toMatchObject({
      ok: false,
      refused: 'malformed',
    });
  });

  it('skips fields it does not know, of every wire type', () => {
    const unknown = [
      0xf8, 0x3f, 0x01, 0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x3f, 0x01, 0x00, 0xfd, 0x3f, 1, 2, 3, 4,
    ];
    const bytes = Uint8Array.from([...unknown, ...protobuf('traces', span({ name: 'x' })), ...unknown]);
    expect(decode('traces', 'protobuf', bytes, now).accepted).toBe(1);
  });

  it('refuses values nested too deep in both encodings, and survives absurd depth', () => {
    let value: object = { intValue: 1 };
    for (let depth = 0; depth < 40; depth += 1) value = { arrayValue: { values: [value] } };
    const document = log({ body: value });
    expect(decodeRequest('logs', 'protobuf', protobuf('logs', document), now)).toMatchObject({ ok: false });
    expect(decodeRequest('logs', 'json', json(document), now)).toMatchObject({ ok: false });
    const absurd = `${'{"resourceLogs":['.repeat(1)}${'['.repeat(200_000)}`;
    expect(decodeRequest('logs', 'json', Buffer.from(absurd), now)).toMatchObject({
      ok: false,
      message: 'The body is not JSON.',
    });
    const deep = `{"unknown":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(decodeRequest('logs', 'json', Buffer.from(deep), now)).toMatchObject({ ok: true, accepted: 0 });
  });
});

describe('OTLP/JSON', () => {
  const message = (document: unknown) => {
    const decoded = decodeRequest('traces', 'json', Buffer.from(JSON.stringify(document)), now);
    return decoded.ok ? 'ok' : decoded.message;
  };

  it.each([
    ['[]', 'The JSON document is not an object.'],
    ['{"resourceSpans":{}}', 'The field resourceSpans must be an array.'],
    [
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":5}]}]}]}',
      'The field resourceSpans[0].scopeSpans[0].spans[0].name must be a string.',
    ],
    ['{"resourceSpans":[null]}', 'The field resourceSpans[0] must be an object.'],
  ])('says where %s is wrong', (document, expected) => {
    expect(message(JSON.parse(document))).toBe(expected);
  });

  it.each([
    [{ traceId: 'xyz!' }, 'traceId must be hexadecimal digits'],
    [{ startTimeUnixNano: 1.5 }, 'startTimeUnixNano must be an integer'],
    [{ startTimeUnixNano: '-1' }, 'startTimeUnixNano is out of range'],
    [{ kind: 'SERVER' }, 'kind must be an integer'],
    [{ flags: 4294967296 }, 'flags is out of range'],
    [
      { attributes: [{ key: 'a', value: { boolValue: 'true' } }] },
      'attributes[0].value.boolValue must be true or false',
    ],
    [{ attributes: [{ key: 'a', value: { bytesValue: '*' } }] }, 'attributes[0].value.bytesValue must be base64'],
    [{ attributes: [{ key: 'a', value: { doubleValue: 'x' } }] }, 'attributes[0].value.doubleValue must be a number'],
  ])('refuses %j', (fields, expected) => {
    expect(message(span(fields))).toBe(`The field resourceSpans[0].scopeSpans[0].spans[0].${expected}.`);
  });

  it('keeps every digit of a 64-bit integer that is written as a number', () => {
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${ids.traceId}","spanId":"${ids.spanId}","startTimeUnixNano":${nano(123_456_999)},"endTimeUnixNano":"${nano(123_457_000)}",
      "attributes":[{"key":"n","value":{"intValue":9223372036854775807}},{"key":"d","value":{"doubleValue":1e300}}]}]}]}]}`;
    const row = only(rowsOf(decode('traces', 'json', Buffer.from(body), now).batches));
    expect(row).toMatchObject({ duration_nano: 1n, attributes: '{"n":"9223372036854775807","d":"1e+300"}' });
  });

  it('takes enum names, null for absent, unknown fields, and a byte order mark', () => {
    const document = span({
      kind: 'SPAN_KIND_CLIENT',
      name: null,
      unknown: [1],
      status: { code: 'STATUS_CODE_OK' },
      __proto__: 1,
    });
    const row = only(rowsOf(decode('traces', 'json', Buffer.from(`\ufeff${JSON.stringify(document)}`), now).batches));
    expect(row).toMatchObject({ kind: 'CLIENT', status_code: 'OK', name: '' });
  });
});

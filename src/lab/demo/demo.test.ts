import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import {
  demoIncident,
  demoQuestion,
  generate,
  groundTruth,
  isScenario,
  scenarios,
  sendDemo,
  sendOtlp,
  type DemoFigures,
  type DemoOptions,
  type OtlpRequest,
  type ScenarioName,
} from './index.ts';
import { busiestHour } from './send.ts';
import { planTimeline } from './timeline.ts';

const end = new Date('2026-11-20T12:00:00Z');
const names = Object.keys(scenarios).filter(isScenario);

const attribute = z.object({
  key: z.string(),
  value: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
const span = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes: z.array(attribute),
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});
const resource = z.object({ attributes: z.array(attribute) });
const traces = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});
const logs = z.object({
  resourceLogs: z.array(
    z.object({
      resource,
      scopeLogs: z.array(
        z.object({
          logRecords: z.array(
            z.object({ timeUnixNano: z.string(), traceId: z.string().optional(), severityNumber: z.number() }),
          ),
        }),
      ),
    }),
  ),
});
type Span = z.infer<typeof span> & { service: string };

function run(options: DemoOptions): { requests: OtlpRequest[]; figures: DemoFigures } {
  const requests: OtlpRequest[] = [];
  const generator = generate(options);
  for (;;) {
    const next = generator.next();
    if (next.done === true) return { requests, figures: next.value };
    requests.push(next.value);
  }
}

/** Cheap, for the many spans of the fault tests; one test checks the shape of every span. */
function isTraces(value: unknown): value is z.infer<typeof traces> {
  return typeof value === 'object' && value !== null && 'resourceSpans' in value && Array.isArray(value.resourceSpans);
}

function spansOf(requests: readonly OtlpRequest[]): Span[] {
  const list: Span[] = [];
  for (const { signal, body } of requests) {
    const value: unknown = signal === 'traces' ? JSON.parse(body) : undefined;
    if (!isTraces(value)) continue;
    for (const { resource: from, scopeSpans } of value.resourceSpans) {
      const service = String(from.attributes.find(({ key }) => key === 'service.name')?.value['stringValue']);
      for (const scope of scopeSpans) for (const each of scope.spans) list.push({ ...each, service });
    }
  }
  return list;
}

const digest = (options: DemoOptions): string => {
  const hash = createHash('sha256');
  for (const { signal, body } of generate(options)) hash.update(`${signal}\n${body}\n`);
  return hash.digest('hex');
};

describe('generate', () => {
  it('gives the same bytes for the same seed and end, and others for another seed', () => {
    for (const scenario of names) {
      const options = { scenario, seed: 7, minutes: 5, end, rate: 5 };
      expect(digest(options)).toBe(digest(options));
      expect(digest(options)).not.toBe(digest({ ...options, seed: 8 }));
    }
  });

  it('stays modest by default: an hour is at most 25,000 spans, no request over 512 items', () => {
    const { requests } = run({ scenario: 'payment-errors', seed: 1, minutes: 60, end });
    const spans = requests.filter(({ signal }) => signal === 'traces').reduce((sum, { items }) => sum + items, 0);
    expect(spans).toBeGreaterThan(15_000);
    expect(spans).toBeLessThan(25_000);
    expect(Math.max(...requests.map(({ items }) => items))).toBeLessThanOrEqual(512);
    expect(requests.map(({ progress }) => progress)).toEqual(
      requests.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
    expect(requests.at(-1)?.progress).toBe(1);
  });

  it('writes whole traces that end by `end`, with every span inside the one that called it', () => {
    const minutes = 20;
    const { requests } = run({ scenario: 'quiet', seed: 3, minutes, end });
    for (const { signal, body } of requests) if (signal === 'traces') traces.parse(JSON.parse(body));
    const spans = spansOf(requests);
    const byId = new Map(spans.map((each) => [each.spanId, each]));
    expect(byId.size).toBe(spans.length);
    const first = `${end.getTime() - minutes * 60_000}000000`;
    let children = 0;
    for (const each of spans) {
      expect(each.startTimeUnixNano >= first).toBe(true);
      expect(each.endTimeUnixNano <= `${end.getTime()}000000`).toBe(true);
      expect(each.endTimeUnixNano > each.startTimeUnixNano).toBe(true);
      const parent = each.parentSpanId === undefined ? undefined : byId.get(each.parentSpanId);
      if (parent === undefined) continue;
      children += 1;
      expect(parent.traceId).toBe(each.traceId);
      expect(each.startTimeUnixNano >= parent.startTimeUnixNano).toBe(true);
      if (each.kind !== 5) expect(each.endTimeUnixNano <= parent.endTimeUnixNano).toBe(true);
    }
    expect(children).toBeGreaterThan(spans.length * 0.8);
    expect(new Set(spans.map(({ service }) => service)).size).toBe(12);
  });

  it('ties logs to traces that exist', () => {
    const { requests } = run({ scenario: 'gateway-outage', seed: 3, minutes: 15, end });
    const known = new Set(spansOf(requests).map(({ traceId }) => traceId));
    const records = requests
      .filter(({ signal }) => signal === 'logs')
      .flatMap(({ body }) => logs.parse(JSON.parse(body)).resourceLogs)
      .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
    const tied = records.filter(({ traceId }) => traceId !== undefined);
    expect(tied.length).toBeGreaterThan(records.length / 2);
    expect(tied.filter(({ traceId }) => known.has(traceId ?? '')).length).toBeGreaterThan(tied.length * 0.98);
    expect(records.some(({ severityNumber }) => severityNumber >= 17)).toBe(true);
  });

  it.each([
    ['seed', { seed: -1 }],
    ['seed', { seed: 1.5 }],
    ['minutes', { minutes: 4 }],
    ['minutes', { minutes: 10_081 }],
    ['minutes', { minutes: Number.NaN }],
    ['rate', { rate: 0 }],
    ['end', { end: new Date('not a time') }],
  ])('refuses a wrong %s: %j', (name, wrong) => {
    const options = { scenario: 'quiet' as const, seed: 1, minutes: 5, end, ...wrong };
    expect(() => generate(options).next()).toThrow(SightlineError);
    expect(() => generate(options).next()).toThrow(name);
  });
});

const memory = new Map<ScenarioName, Span[]>();

/** Error share and median of what matches, before and after the onset. */
function shift(scenario: ScenarioName, match: (each: Span) => boolean): Record<'errors' | 'ms', [number, number]> {
  const options = { scenario, seed: 5, minutes: 30, end };
  const onset = groundTruth(options).onset.getTime();
  const all = memory.get(scenario) ?? spansOf(run(options).requests);
  memory.set(scenario, all);
  const sides: [Span[], Span[]] = [[], []];
  for (const each of all) if (match(each)) sides[Number(each.startTimeUnixNano) / 1e6 < onset ? 0 : 1].push(each);
  const errors = (list: Span[]): number => list.filter(({ status }) => status.code === 2).length / list.length;
  const ms = (list: Span[]): number => {
    const sorted = list
      .map((each) => (Number(each.endTimeUnixNano) - Number(each.startTimeUnixNano)) / 1e6)
      .sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return { errors: [errors(sides[0]), errors(sides[1])], ms: [ms(sides[0]), ms(sides[1])] };
}

const has = (each: Span, key: string, value: string): boolean =>
  each.attributes.some((attributes) => attributes.key === key && attributes.value['stringValue'] === value);

describe('every fault shows where its cause is', () => {
  it('payment-errors: amex charges fail, visa hardly', () => {
    const charge = (card: string) => (each: Span) =>
      each.kind === 2 && each.name === 'PaymentService/Charge' && has(each, 'app.payment.card_type', card);
    expect(shift('payment-errors', charge('amex')).errors[0]).toBeLessThan(0.03);
    expect(shift('payment-errors', charge('amex')).errors[1]).toBeGreaterThan(0.8);
    expect(shift('payment-errors', charge('visa')).errors[1]).toBeLessThan(0.2);
  });

  it.each<[ScenarioName, string, (each: Span) => boolean, number]>([
    ['slow-query', 'statements on stock', (each) => each.name === 'SELECT stock', 20],
    ['memory-leak', 'e-mail', (each) => each.service === 'email' && each.kind === 2, 1.3],
    [
      'network-delay',
      'calls of shipping',
      (each) => each.service === 'checkout' && each.name === 'POST /get-quote',
      10,
    ],
    ['cpu-saturation', 'ads', (each) => each.service === 'ad' && each.kind === 2, 20],
    ['kafka-lag', 'processing of orders', (each) => each.kind === 5, 100],
    ['cache-failure', 'recommendations', (each) => each.service === 'recommendation' && each.kind === 2, 5],
    ['cache-stampede', 'recommendations', (each) => each.service === 'recommendation' && each.kind === 2, 5],
    ['retry-storm', 'conversions', (each) => each.service === 'currency' && each.kind === 2, 50],
    ['gateway-outage', 'calls of the card gateway', (each) => has(each, 'server.address', 'api.cardgate.example'), 5],
  ])('%s: %s take longer', (scenario, _what, match, factor) => {
    const { ms } = shift(scenario, match);
    expect(ms[1] / ms[0]).toBeGreaterThan(factor);
  });

  it('network-delay leaves shipping itself as fast as it was', () => {
    const { ms } = shift('network-delay', (each) => each.service === 'shipping' && each.kind === 2);
    expect(ms[1] / ms[0]).toBeLessThan(1.3);
  });

  it.each<[ScenarioName, (each: Span) => boolean]>([
    ['bad-host', (each) => each.service === 'product-catalog' && each.kind === 2],
    ['feature-flag', (each) => each.service === 'checkout' && each.kind === 2],
    ['gateway-outage', (each) => each.service === 'payment' && each.kind === 2],
    ['region-only', (each) => each.service === 'shipping' && each.name === 'POST /get-quote' && each.kind === 2],
    ['bad-pod', (each) => each.service === 'shipping' && each.name === 'POST /ship-order' && each.kind === 2],
    ['disk-full', (each) => each.service === 'accounting' && each.kind === 5],
    ['dns-failure', (each) => each.service === 'checkout' && each.kind === 3 && each.name === 'PaymentService/Charge'],
  ])('%s: the errors are in the guilty service', (scenario, match) => {
    const { errors } = shift(scenario, match);
    expect(errors[0]).toBeLessThan(0.05);
    expect(errors[1]).toBeGreaterThan(0.1);
  });

  it('has twenty faults and twenty kinds of quiet, none of which is guilty of what goes on beside it', () => {
    const truths = names.map((scenario) => groundTruth({ scenario, seed: 5, minutes: 60, end }));
    expect(truths.filter(({ service }) => service !== undefined).length).toBeGreaterThanOrEqual(20);
    expect(truths.filter(({ category }) => category === 'none').length).toBeGreaterThanOrEqual(20);
    for (const [index, scenario] of names.entries()) {
      for (const seed of [1, 2, 3, 4, 5]) {
        const { distractions } = planTimeline({ scenario, seed, minutes: 60, end });
        const { blip, harmlessRelease, steadyErrors, batch, wander, flood } = distractions;
        const beside = [blip, harmlessRelease, steadyErrors, batch, wander, flood].map(({ service }) => service);
        expect(beside).not.toContain(truths[index]?.service);
      }
    }
  });

  it.each<[ScenarioName]>([['quiet'], ['harmless-deploy'], ['traffic-peak']])('%s: nothing changes', (scenario) => {
    const { errors, ms } = shift(scenario, (each) => each.kind === 2);
    expect(errors[1]).toBeLessThan(errors[0] + 0.01);
    expect(ms[1] / ms[0]).toBeLessThan(1.2);
    expect(groundTruth({ scenario, seed: 5, minutes: 60, end })).toMatchObject({ category: 'none' });
  });
});

describe('demoIncident', () => {
  it('says what is known, waits on a person and does not give the cause away', () => {
    for (const scenario of names) {
      const options = { scenario, seed: 2, minutes: 12, end, rate: 5 };
      const { figures } = run(options);
      const incident = demoIncident(options, figures);
      const { description } = groundTruth(options);
      const sections = [...(incident.document ?? '').matchAll(/^## (.+)$/gm)].map(([, title]) => title);
      // The rest is the agent's to write.
      expect(sections).toEqual(['Summary', 'Impact', 'Timeline']);
      expect(incident.waitingOn?.party).toBe('human');
      expect(incident.alerts).toHaveLength(1);
      expect(incident.document).not.toContain(description);
      expect(incident.document).toContain(`| ${figures.after.requests} |`.slice(1));
      expect(incident.document).not.toMatch(/undefined|NaN/);
      expect(demoQuestion(options).endsWith('?')).toBe(true);
    }
  });
});

describe('sending', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function receiver(
    answer: (
      request: IncomingMessage,
      body: Buffer,
      count: number,
    ) => { status: number; headers?: Record<string, string>; body?: string },
  ): Promise<string> {
    let count = 0;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        count += 1;
        const { status, headers = {}, body = '{}' } = answer(request, Buffer.concat(chunks), count);
        response.writeHead(status, headers).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(
      () =>
        new Promise((resolve) => {
          server.closeAllConnections();
          server.close(() => resolve());
        }),
    );
    return `http://127.0.0.1:${portOf(server.address())}`;
  }

  const demo: DemoOptions = { scenario: 'quiet', seed: 1, minutes: 5, end };

  it('sends everything once, gzipped, with the token, and repeats what the receiver could not take', async () => {
    const got: string[] = [];
    const endpoint = await receiver((request, body, count) => {
      expect(request.headers.authorization).toBe('Bearer it_secret');
      expect(request.headers['content-encoding']).toBe('gzip');
      if (count === 2 || count === 3) return { status: 503, headers: { 'retry-after': '0' } };
      got.push(`${request.url} ${gunzipSync(body).toString()}`);
      return { status: 200 };
    });
    const seen: number[] = [];
    const sent = await sendDemo(demo, { endpoint, token: 'it_secret', onProgress: (progress) => seen.push(progress) });
    const asSent = run({ ...demo, hourAtEnd: busiestHour });
    const expected = asSent.requests;
    expect(got.toSorted()).toEqual(expected.map(({ signal, body }) => `/v1/${signal} ${body}`).toSorted());
    expect(sent.spans).toBe(spansOf(expected).length);
    expect(sent.rejected).toBe(0);
    expect(seen).toHaveLength(expected.length);
    expect(sent.figures).toEqual(asSent.figures);
  });

  it('is the same shop at whatever hour, with enough failures to tell the fault by', () => {
    const counts = (time: string) => {
      const shop = { scenario: 'payment-errors', seed: 1, minutes: 60, hourAtEnd: busiestHour } as const;
      const { before, after } = run({ ...shop, end: new Date(time) }).figures;
      return [before, after].map(({ requests, errors }) => ({ requests, errors }));
    };
    const [before, after] = counts('2026-11-27T04:30:17.123Z');
    expect(counts('2026-11-27T10:18:00Z')).toEqual([before, after]);
    expect(Number(after?.errors) / Number(after?.requests)).toBeGreaterThan(0.15);
  });

  it('counts what was rejected', async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedLogRecords: '3', errorMessage: 'too old' } });
    const endpoint = await receiver(() => ({ status: 200, body }));
    expect(await sendOtlp([{ signal: 'logs', body: '{}', items: 5 }], { endpoint, token: 't' })).toMatchObject({
      rejected: 3,
    });
  });

  it.each([
    [401, 'ingest token'],
    [400, 'broken envelope'],
  ])('does not repeat HTTP %d and says why', async (status, words) => {
    let calls = 0;
    const endpoint = await receiver(() => {
      calls += 1;
      return { status, body: JSON.stringify({ code: 3, message: 'broken envelope' }) };
    });
    const failure = await sendOtlp([{ signal: 'traces', body: '{}', items: 1 }], { endpoint, token: 't' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SightlineError);
    expect(failure).toMatchObject({ hint: expect.stringContaining(words) });
    expect(calls).toBe(1);
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    const endpoint = await receiver((_request, _body, count) => {
      if (count === 3) stop.abort(new Error('enough'));
      return { status: 200 };
    });
    await expect(sendDemo(demo, { endpoint, token: 't', signal: stop.signal })).rejects.toThrow();
  });
});

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

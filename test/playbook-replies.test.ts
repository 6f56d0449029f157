import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness, newOrganization, type Row } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import type { Agent } from '../src/contract/agent/index.ts';
import { SightlineError } from '../src/contract/core/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { Conversation } from './support/chat.ts';
import { makeTraffic } from './support/traffic.ts';

/** What people ask of a hotel's bookings, whose rates come from another company. */
const noon = new Date('2026-03-01T12:00:00Z');
const ago = (minutes: number): Date => new Date(noon.getTime() - minutes * 60_000);

let harness: Harness;
let agent: Agent;
/** Its statements with one of these in them are not answered. */
let hindered: Agent;
let refused: readonly string[] = [];

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => noon });
  const { dialect } = harness.telemetry;
  const ask = agentQuery(pipeline);
  const query: typeof ask = async (organization, sql, options) => {
    if (refused.some((part) => sql.includes(part))) throw new SightlineError('query_timeout', 'It took too long.');
    return await ask(organization, sql, options);
  };
  agent = plugin.create({}, { ...testHost(harness.directory), dialect, query: ask });
  hindered = plugin.create({}, { ...testHost(harness.directory), dialect, query });
});

afterAll(() => harness.stop());

async function chatOn(
  { spans, logs }: Readonly<Record<'spans' | 'logs', readonly Row[]>>,
  by = agent,
): Promise<Conversation> {
  const organization = newOrganization();
  await harness.load(organization, 'spans', spans);
  if (logs.length > 0) await harness.load(organization, 'logs', logs);
  return new Conversation(by, organization, noon);
}

let spanCount = 0;

/** The root of a trace of its own, unless told. */
function span(at: Date, service: string, name: string, ms: number, more: Row = {}): Row {
  spanCount += 1;
  const id = spanCount.toString(16);
  return {
    time: at,
    start_time: at,
    end_time: new Date(at.getTime() + ms),
    duration_nano: ms * 1e6,
    trace_id: id.padStart(32, 'd'),
    span_id: id.padStart(16, 'd'),
    parent_span_id: '',
    name,
    kind: 'INTERNAL',
    status_code: 'UNSET',
    status_message: '',
    service_name: service,
    attributes: {},
    ...more,
  };
}

interface Hotel {
  /** Of the requests in such a minute, and what the other company answers these. */
  readonly fails?: (minute: number, index: number) => boolean;
  readonly status?: number;
  readonly says?: string;
  /** How often booking asks for rates in one request. */
  readonly asks?: (minute: number) => number;
  /** It gives up on all but the last of them, and rates answers all the same. */
  readonly givesUp?: boolean;
}

/** web asks booking, booking asks rates, and rates asks another company: two hours of a request each five seconds. */
function hotel(of: Hotel): Readonly<Record<'spans' | 'logs', readonly Row[]>> {
  const { fails = () => false, status = 200, says = '', asks = () => 1, givesUp = false } = of;
  const [spans, logs]: [Row[], Row[]] = [[], []];
  for (let index = 0; index < 1_440; index += 1) {
    const minute = 120 - index / 12;
    const at = ago(minute);
    const failed = fails(minute, index);
    const region = index % 3 === 0 ? 'eu-central-1' : 'us-east-1';
    const traceId = index.toString(16).padStart(32, 'b');
    let count = 0;
    const add = (parent: string, what: string, ms: number, isError: boolean, more: Row = {}): string => {
      const [service = '', kind, name = ''] = what.split(/ (?=SERVER|CLIENT)|(?<=SERVER|CLIENT) /);
      count += 1;
      const spanId = (index * 100 + count).toString(16).padStart(16, '0');
      const failure = isError ? { status_code: 'ERROR', status_message: `answered ${status}` } : {};
      spans.push(
        span(at, service, name, ms, {
          trace_id: traceId,
          span_id: spanId,
          parent_span_id: parent,
          kind,
          attributes: { 'cloud.region': region, ...more },
          ...failure,
        }),
      );
      return spanId;
    };
    const times = asks(minute);
    // More calls at once are slower, each of them.
    const each = 20 + (index % 7) + (times > 1 ? 15 : 0);
    const answered = { 'http.response.status_code': String(failed ? status : 200) };
    const root = add('', 'web SERVER POST /book', times * (each + 12) + 30, failed);
    const ask = add(root, 'web CLIENT POST booking', times * (each + 12) + 25, failed);
    const place = add(ask, 'booking SERVER PlaceBooking', times * (each + 12) + 20, failed);
    for (let call = 0; call < times; call += 1) {
      const get = add(place, 'booking CLIENT GET rates', each + 12, failed || (givesUp && call < times - 1), answered);
      // What a client did wrong is no error of the server that says so (OpenTelemetry, HTTP spans).
      const serve = add(get, 'rates SERVER GET /rates', each + 10, failed && status >= 500, answered);
      const partner = { ...answered, 'server.address': 'api.partner.example' };
      add(serve, 'rates CLIENT GET partner', 8, failed, partner);
    }
    if (failed && says !== '') {
      logs.push({
        time: at,
        observed_time: at,
        severity_number: 17,
        severity_text: 'ERROR',
        body: says,
        service_name: 'rates',
        trace_id: traceId,
      });
    }
  }
  return { spans, logs };
}

const late = (minute: number, index: number): boolean => minute <= 25 && index % 2 === 0;

describe('a partner that answers 429, which leaves the server span in between unset', () => {
  let chat: Conversation;
  let answer: string;
  let service: string | undefined;
  beforeAll(async () => {
    chat = await chatOn(hotel({ fails: late, status: 429 }));
    ({ answer, service } = await chat.say('Why do bookings fail?'));
  });

  it('is found beneath the service that asks it, not at the caller of that', () => {
    expect(service).toBe('rates');
    expect(answer).toContain('api.partner.example');
  });

  it.each([
    ['how many 429s', /^150 answers were `429` .*\[E\d+\]/],
    ['how many 5xx responses?', /^No answer was `5xx` /],
    ['how many bookings failed?', /^\d+ at `booking` `PlaceBooking` .*: \d+ went through, 150 failed/],
    [
      'which bookings are affected?',
      /^I cannot tell which: no attribute of these spans is called like `bookings`.*\n\n\d+ at `booking`/,
    ],
    ['is apac affected?', /^No span of these has the value `apac`, so this is of all of them\. /],
    ['is us-east-1 affected?', /^With `cloud\.region=us-east-1`, \d+ of \d+ requests/],
    [
      'is booking ok in eu-central-1?',
      /^No: `booking` is worse than before\. With `cloud\.region=eu-central-1`: 50 of 240 failed/,
    ],
    ['is booking ok in apac?', /^No span of `booking` has the value `apac`/],
    ['how many unicorns?', /^I cannot count `unicorns`: no operation is called like that .*\[E\d+\] Name an operation/],
    ['did the rollback help?', /^No, it is still going on: \d+ of \d+ /],
    ['did it help?', /^No, it is still going on: /],
    ['did it get worse?', /^It is still going on: .* it was \d+ of \d+ /],
    ['wht changed', /^No service has a new version/],
    ['is the disk full?', /^No: which service uses far more of a resource than before\? None does, by its gauges\./],
  ])('%s', async (ask, says) => {
    expect((await chat.fork().say(ask)).answer).toMatch(says);
  });
});

describe('what was found before', () => {
  it.each(['compare with 11:40 to 11:45', 'and since 11:50?'])(
    'is not taken back by %s, where both sides have it',
    async (ask) => {
      const chat = await chatOn(hotel({ fails: late, status: 503 }));
      expect((await chat.say('Why do bookings fail?')).service).toBe('rates');
      const { answer, service } = await chat.say(ask);
      expect(service).toBeUndefined();
      expect(answer).toMatch(/began before that, so it is in both of the times compared: .*`rates`/);
      expect(answer).toContain('**Beside that, nothing stands out**');
      expect((await chat.say('is it fixed?')).answer).toMatch(/^No, it is still going on/);
    },
  );
});

describe('a name that is not found', () => {
  let chat: Conversation;
  beforeAll(async () => {
    const says = 'getaddrinfo ENOTFOUND api.partner.example';
    chat = await chatOn(hotel({ fails: late, status: 502, says }));
    await chat.say('Why do bookings fail?');
  });

  it.each([
    ['is it dns?', /^(?:Yes|Perhaps), .*ENOTFOUND/s],
    ['is it memory?', /^No: which service uses far more of a resource than before\? None does/],
  ])('%s', async (ask, says) => {
    expect((await chat.fork().say(ask)).answer).toMatch(says);
  });
});

it('who asks eight times where once was enough is blamed, and not who is asked', async () => {
  const chat = await chatOn(hotel({ asks: (minute) => (minute <= 25 ? 8 : 1) }));
  const { answer, service } = await chat.say('Why are bookings slow?');
  expect(service).toBe('booking');
  expect(answer).toMatch(/^\*\*`booking` calls `rates` far more often in each request\*\*/);
  expect(answer).toMatch(/`booking` asks `rates` \d\.\d times in each of its requests, 1\.0 before/);
});

it('who asks again because it gave up on a slow answer is not blamed for that', async () => {
  const chat = await chatOn(hotel({ asks: (minute) => (minute <= 25 ? 8 : 1), givesUp: true }));
  const { answer, service } = await chat.say('Why are bookings slow?');
  expect(service).toBe('rates');
  expect(answer).not.toContain('far more often in each request');
});

it('that nothing is wrong holds until the telemetry ends, and says so first', async () => {
  const { answer } = await (
    await chatOn(makeTraffic(ago(150), ago(30), { kind: 'none', from: noon, to: noon }))
  ).say('Is anything wrong?');
  expect(answer).toMatch(/^\*\*Nothing is wrong until 2026-03-01 11:29 UTC, where the telemetry ends: no operation/);
});

describe('a database, and a job that runs each night', () => {
  const select = 'SELECT id FROM rooms WHERE free_from <= $1';
  const update = 'UPDATE rooms SET free_from = $1 WHERE id = $2';
  const spans = [
    ...hotel({}).spans.map((row): Row => Object.assign({}, row, { service_version: '1.4.0' })),
    ...Array.from({ length: 120 }, (_, minute) => {
      const isSlow = minute < 25;
      const at = new Date(ago(minute).getTime() - 1_000);
      const database = { kind: 'CLIENT', parent_span_id: 'abcdefabcdefabcd' };
      const failed = isSlow ? { status_code: 'ERROR', status_message: 'deadlock' } : {};
      return [
        span(at, 'booking', 'SELECT rooms', isSlow ? 900 : 9, {
          ...database,
          attributes: { 'db.system.name': 'postgresql', 'db.query.text': select },
        }),
        span(at, 'booking', 'UPDATE', 4, {
          ...database,
          ...failed,
          attributes: { 'db.system': 'postgresql', 'db.statement': update },
        }),
      ];
    }).flat(),
    ...[10, 34, 58].map((hours) => span(ago(hours * 60), 'night-export', 'export bookings', 61_000)),
    span(ago(3 * 24 * 60), 'archive', 'yearly archive', 5_000, { status_code: 'ERROR' }),
    ...[2, 4, 6, 8, 10].map((minute) =>
      span(ago(minute), 'night-export', 'VACUUM', 400, { kind: 'CLIENT', attributes: { 'db.system': 'postgresql' } }),
    ),
    ...[1, 2, 3].map((minute) => span(ago(minute), 'rates', 'tick', 1, { service_version: '1.5.0' })),
  ];
  let chat: Conversation;
  beforeAll(async () => {
    chat = await chatOn({ spans, logs: [] });
  });

  it.each([
    [
      'which query is slow?',
      /^The database statements that take longest .*by p95: \[E\d+, E\d+\]\n- `booking` `SELECT id/,
    ],
    [
      'show me the slow queries of booking',
      /^The database statements of `booking` .*\n- .*900 ms at p95; before: .*9\.0 ms/,
    ],
    [
      'which queries fail?',
      /^The database statements that fail most .*\n- `booking` `UPDATE rooms SET .*: \d+ of \d+ failed/,
    ],
    ['slow queries of rates?', /^No span of `rates` .* is a call of a database that says so/],
    [
      'when did the night export last run?',
      /^`night-export` `export bookings` last began at 2026-03-01 02:00 UTC, took 61\.0 s and did not fail\. \[E\d+\] Of 1 run /,
    ],
    [
      'did the yearly archive job run?',
      /^`archive` `yearly archive` last began at 2026-02-26 12:00 UTC, took 5000 ms and failed\./,
    ],
    ['when was the last backup?', /^No span .* is called like `backup`\. \[E\d+\]$/],
    ['when was the last run?', /^Name the job/],
    ['is 1.5.0 everywhere?', /No\. Spans .*: `rates` \d+ from `1\.4\.0`, 3 from `1\.5\.0`\. \[E\d+\]/],
    ['is 1.5.0 live?', /Yes, but not everywhere\. Spans .*: `rates` /],
    ['is 1.4.0 everywhere?', /No\. Spans .*`web` \d+ from `1\.4\.0`/],
    ['when was the last 备份?', /^Name the job/],
    ['how many bookings failed?', /^\d+ at `booking` `PlaceBooking` .*, 0 failed/],
  ])('%s', async (ask, says) => {
    expect((await chat.fork().say(ask)).answer).toMatch(says);
  });
});

describe('what could not be counted', () => {
  let chat: Conversation;
  beforeAll(async () => {
    refused = [];
    chat = await chatOn(hotel({ fails: late, status: 503 }), hindered);
    expect((await chat.say('Why do bookings fail?')).service).toBe('rates');
  });
  afterAll(() => {
    refused = [];
  });

  it.each([
    ['most errors?', 'ORDER BY failed DESC'],
    ['slowest service?', 'p95_nano DESC'],
    ['how many requests in the last hour?', 'AS calls'],
    ['is booking ok?', 'AS calls'],
    ['who calls rates?', 'otel.spans p'],
    ['is it fixed?', 'AS calls'],
    ['what changed?', 'AS spans_before'],
  ])('%s says so, and does not say that there is none', async (ask, part) => {
    refused = [part];
    const { answer } = await chat.fork().say(ask);
    expect(answer).toMatch(/^I cannot tell\.\n\n- .* This could not be checked: It took too long\. \[E\d+\]/);
    expect(answer).toMatch(/A shorter time may do: ask the same `in the last 10 minutes`\.$/);
  });

  it('says so of a part of a service too, and does not say that it has no such span', async () => {
    refused = ['AS calls'];
    const { answer } = await (await chatOn(hotel({}), hindered)).say('is booking ok in eu-central-1?');
    expect(answer).toMatch(/^I cannot tell\./);
    expect(answer).not.toContain('No span of');
  });

  it('is counted for a shorter time, as the answer says', async () => {
    refused = [];
    const { answer } = await chat.fork().say('most errors in the last 10 minutes?');
    expect(answer).toMatch(/^Most errors are of .* from 2026-03-01 11:5\d UTC/);
  });

  it('shows no lines and no traces, and says that they could not be read', async () => {
    refused = ['otel.logs'];
    expect((await chat.fork().say('show me the logs')).answer).toContain('**The logs could not be read**');
    refused = ['duration_nano DESC, trace_id'];
    const other = await chatOn(hotel({}), hindered);
    expect((await other.say('show me the traces')).answer).toContain('**The traces could not be read**');
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness, newOrganization, type Row } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { SightlineError } from '../src/contract/core/index.ts';
import type { Agent } from '../src/contract/agent/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Conversation } from './support/chat.ts';
import { makeTraffic, type Traffic } from './support/traffic.ts';

/** What is asked of services without spans, of telemetry that is late, and of a warehouse in trouble. */
const noon = new Date('2026-03-01T12:00:00Z');
const ago = (minutes: number): Date => new Date(noon.getTime() - minutes * 60_000);
const quiet = makeTraffic(ago(120), noon, { kind: 'none', from: noon, to: noon });

let harness: Harness;
let agent: Agent;
/** Queries that the warehouse does not answer. */
let unread: (sql: string) => boolean = () => false;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => noon });
  const query = agentQuery(pipeline);
  agent = plugin.create(
    {},
    {
      ...testHost(harness.directory),
      dialect: harness.telemetry.dialect,
      query: (organization, sql, options) =>
        unread(sql)
          ? Promise.reject(new SightlineError('query_timeout', 'The query took too long.'))
          : query(organization, sql, options),
    },
  );
});

afterAll(() => harness.stop());

async function chatOn({ spans, logs }: Traffic, metrics: readonly Row[] = []): Promise<Conversation> {
  const organization = newOrganization();
  await harness.load(organization, 'spans', spans);
  await harness.load(organization, 'logs', logs);
  if (metrics.length > 0) await harness.load(organization, 'metrics', metrics);
  return new Conversation(agent, organization, noon);
}

/** Every half minute of two hours, until so many minutes ago. */
function lines(service: string, severity: (minute: number) => number, until = 0): readonly Row[] {
  return Array.from({ length: 240 - 2 * until }, (_, index) => ({
    time: ago(120 - index / 2),
    observed_time: noon,
    severity_number: severity(120 - index / 2),
    severity_text: '',
    body: `record ${index} kept`,
    service_name: service,
    trace_id: '',
  }));
}

function gauge(service: string, name: string, value: (minute: number) => number, more: Row = {}): readonly Row[] {
  return Array.from({ length: 240 }, (_, index) => ({
    time: ago(120 - index / 2),
    name,
    type: 'gauge',
    value: value(120 - index / 2),
    service_name: service,
    attributes: {},
    ...more,
  }));
}

describe('a service that sends no spans', () => {
  let first: Conversation;
  let chat: Conversation;
  beforeAll(async () => {
    const logs = [
      ...quiet.logs,
      ...lines('audit', () => 9),
      ...lines('mailer', (minute) => (minute <= 25 ? 17 : 9)),
      ...lines('importer', () => 9, 20),
      ...lines('legacy', () => 0),
    ];
    first = await chatOn(
      { spans: quiet.spans, logs },
      gauge('edge', 'queue.length', () => 3),
    );
    chat = first.fork();
    await chat.say('Is anything wrong?');
  });

  it.each([
    ['is audit ok?', /^Yes: `audit` logs no more warnings and errors than before\. It sends no spans; 0 of 120 lines/],
    ['how is audit doing?', /^`audit` logs no more warnings and errors than before/],
    ['has audit recovered?', /^`audit` logs no more warnings and errors than before/],
    [
      'is mailer ok?',
      /^No: `mailer` logs more warnings and errors than before\. .* 50 of 120 .*; before: 0 of 120\. \[E/,
    ],
    ['is mailer failing?', /^Yes: `mailer` logs more/],
    ['is it mailer?', /^Perhaps: `mailer` is worse than before, and no cause was found\. .* 50 of 120 lines/],
    ['is importer ok?', /^`importer` has sent nothing since 2026-03-01 11:39 UTC\. Until then it was no worse/],
    ['is legacy ok?', /0 of 120 lines are .* None of them says how severe it is\./],
    ['is edge ok?', /^`edge` has sent no spans and no logs .*, so how it fares is not known; `only edge` looks/],
    ['is checkout ok?', /^Yes: `checkout` is well/],
  ])('%s', async (ask, says) => {
    expect((await chat.fork().say(ask)).answer).toMatch(says);
  });

  it.each([
    ['is audit ok?', /^Yes: `audit` logs no more warnings and errors than before.*\n\n\*\*/],
    ['is mailer ok?', /^No: `mailer` logs more warnings and errors than before/],
  ])('%s, as the first question', async (ask, says) => {
    const { answer } = await first.fork().say(ask);
    expect(answer).toMatch(says);
    expect(answer).not.toMatch(/(?:wrong|changed) in `audit`/);
  });
});

describe('telemetry that is half an hour late', () => {
  let chat: Conversation;
  beforeAll(async () => {
    chat = await chatOn(makeTraffic(ago(150), ago(30), { kind: 'payment-errors', from: ago(55), to: ago(30) }));
    const { answer, service } = await chat.say('Why do checkouts fail?');
    expect(service).toBe('payment');
    expect(answer).toContain('The spans of all services end at 2026-03-01 11:29 UTC, so what came later is not known.');
  });

  it.each([
    ['is catalog ok?', /The spans of all services end at 2026-03-01 11:29 UTC, so what came later is not known/],
    ['slowest service?', /The spans of all services end at 2026-03-01 11:29 UTC/],
    ['how many orders in the last 10 minutes?', /no telemetry .*: that of all services ends at 2026-03-01 11:29 UTC/],
    ['what about the last 10 minutes?', /no telemetry .*: that of all services ends at 2026-03-01 11:29 UTC\*\*/],
  ])('%s is not answered as by an outage', async (ask, says) => {
    const { answer } = await chat.fork().say(ask);
    expect(answer).toMatch(says);
    expect(answer).not.toMatch(/has come in since|sent nothing since/);
  });
});

describe('where the telemetry could not be read', () => {
  const asks = ['since when?', 'who is affected?', 'is it fixed?', 'what should I do?', 'summary'];
  const begin = async (failing: typeof unread): Promise<Conversation> => {
    const chat = await chatOn(quiet);
    unread = failing;
    try {
      await chat.say('Is anything wrong?');
    } finally {
      unread = () => false;
    }
    return chat;
  };

  it('nothing is concluded from that, and a new look is offered', async () => {
    const chat = await begin(() => true);
    for (const ask of asks) {
      const { answer } = await chat.fork().say(ask);
      expect(answer).toBe('The telemetry could not be read. So nothing is known; `look again` tries anew.');
    }
    expect((await chat.fork().say('why?')).answer).not.toContain('Perhaps');
    expect((await chat.say('look again')).answer).toContain('Nothing is wrong');
  });

  it('the same where only a part of it could be read', async () => {
    const chat = await begin((sql) => !/max\(time\) AS last_seen/.test(sql));
    for (const ask of asks) {
      const { answer } = await chat.fork().say(ask);
      expect(answer).toMatch(/^Not all of the telemetry could be read, so whether anything is wrong is not known;/);
    }
  });
});

describe('a gauge', () => {
  it('that grows from nothing is named, and so is when it began to grow', async () => {
    const chat = await chatOn(quiet, [
      ...gauge('ledger', 'queue.length', (minute) => Math.max(0, 25 - minute) * 200),
      ...gauge('catalog', 'queue.length', (minute) => (minute === 10 ? 400 : 0)),
    ]);
    const asked = await chat.fork().say('Is anything wrong?');
    expect(asked.service).toBe('');
    expect(asked.answer).toMatch(/^- `queue\.length` of `ledger` is 4900 \(0 before\)\./m);
    expect(asked.answer).not.toContain('of `catalog` is');
    const { service, answer } = await chat.say('What broke at 11:30?');
    expect(service).toBe('ledger');
    expect(answer).toMatch(/`queue\.length` of `ledger` is 4900 \(0 before\), since about 2026-03-01 11:35 UTC/);
  });

  it('is written in the unit that people read', async () => {
    const grown = (minute: number): number => 3e8 + (minute % 5) * 1e6 + Math.max(0, 25 - minute) * 7e7;
    const chat = await chatOn(quiet, [
      ...gauge('ledger', 'process.memory.usage', grown, { unit: 'By' }),
      ...gauge('catalog', 'process.memory.usage', () => 3e8, { unit: 'By' }),
    ]);
    const { answer } = await chat.say('What broke at 11:30?');
    expect(answer).toMatch(/`process\.memory\.usage` of `ledger` is 1\.88 GiB \(288 MiB before\)/);
  });
});

describe('calls between services', () => {
  let chat: Conversation;
  beforeAll(async () => {
    chat = await chatOn(quiet);
  });

  it.each([
    ['who calls payment?', /^`payment` is called by `checkout` \(720 calls, 0 failed\), from .*\[E2\]$/],
    ['which services depend on catalog?', /^`catalog` is called by `frontend` \(720 calls, 16 failed\)/],
    ['who calls frontend?', /^No call of another service to `frontend` is in the traces/],
    ['what does frontend call?', /^`frontend` calls `catalog` \(720 calls, 16 failed\), `checkout` \(720 calls/],
    ['how many requests did ledger get?', /^No service called `ledger` has sent spans/],
    ['how many requests did catalog get?', /^720 requests to `catalog` came in/],
    ['how many orders a minute?', /^720 at `checkout` `PlaceOrder` .*, 12 a minute/],
    ['what does payment depend on?', /^`payment` calls `payments-db\.internal` \(720 calls, 0 failed\), from/],
  ])('%s is answered in a line', async (ask, says) => {
    const { answer } = await chat.fork().say(ask);
    expect(answer).toMatch(says);
    expect(answer.length).toBeLessThan(300);
  });
});

describe('where payment fails', () => {
  let chat: Conversation;
  beforeAll(async () => {
    chat = await chatOn(makeTraffic(ago(120), noon, { kind: 'payment-errors', from: ago(25), to: noon }));
    expect((await chat.say('Why do checkouts fail?')).service).toBe('payment');
  });

  it.each([
    ['is postgres ok?', /^Yes: calls to `postgres` fail no more and are no slower than before/],
    ['is the database slow?', /^No: calls to databases/],
    ['how is postgres doing?', /^Calls to `postgres` fail no more/],
    ['is it a traffic spike?', /^No: traffic is not much more than before/],
    ['is the network ok?', /^Yes: neither|^Yes: no /],
    ['is it postgres?', /^No: calls to `postgres` fail no more/],
    ['are the catalogs still fine?', /^Yes: `catalog` is well/],
    ['who calls it?', /^`payment` is called by `checkout`/],
    [
      'what is upstream of payment?',
      /^`payment` is called by `checkout` .*\n\n`payment` calls `payments-db\.internal`/,
    ],
    ['does it hit everyone?', /met a failure|How many users is not known/],
    ['is the payment release related?', /^Probably yes: `payment` `2\.4\.0`/],
  ])('%s', async (ask, says) => {
    expect((await chat.fork().say(ask)).answer).toMatch(says);
  });

  it('a day without telemetry is not what the next question is about', async () => {
    const later = chat.fork();
    expect((await later.say('was it like this yesterday?')).answer).toContain('no telemetry from 2026-02-28');
    expect((await later.fork().say('is catalog ok?')).answer).toMatch(/^Yes: `catalog` is well/);
    expect((await later.say('is anything slow?')).answer).toMatch(/^Looking at all services, 11:00-12:00 UTC/);
  });
});

describe('the logs of one service', () => {
  it.each(['what did catalog log?', 'show me the logs of catalog'])('%s shows no line of others', async (ask) => {
    const faulty = makeTraffic(ago(120), noon, { kind: 'payment-errors', from: ago(25), to: noon });
    const audit = lines('audit', (minute) => (minute < 20 ? 17 : 9));
    const chat = await chatOn({ spans: faulty.spans, logs: [...faulty.logs, ...audit] });
    const opened = await chat.say('Why do checkouts fail?');
    expect(opened.service).toBe('payment');
    const others = await chat.fork().say(ask.replace('catalog', 'audit'));
    expect(others.answer.match(/^- `audit`: `record \d+ kept`, 39 times/gm)).toHaveLength(1);
    expect(others.answer).not.toContain('`payment`:');
    const { answer } = await chat.say(ask);
    expect(answer).toContain('No warning or error in the logs of `catalog` is new or more frequent');
    expect(answer).not.toContain('`payment`');
  });
});

describe('a trace whose failure has an exception and no other words', () => {
  it('is told by that', async () => {
    const { spans, logs } = makeTraffic(ago(120), noon, { kind: 'payment-errors', from: ago(25), to: noon });
    const failed = spans.findLast(
      ({ service_name: service, status_code: code }) => service === 'payment' && code === 'ERROR',
    );
    const event = {
      time: noon,
      name: 'exception',
      attributes: { 'exception.type': 'CardException', 'exception.message': 'refused' },
    };
    const told = Object.assign({}, failed, { status_message: '', events: [event] });
    const chat = await chatOn({ spans: spans.map((span) => (span === failed ? told : span)), logs });
    const { answer } = await chat.say(`what happened in trace ${String(failed?.['trace_id'])}?`);
    expect(answer).toMatch(/`payment` `Charge` failed after .*, saying `CardException: refused`/);
  });
});

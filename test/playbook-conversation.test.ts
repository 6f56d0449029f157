import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness, newOrganization } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import type { OrganizationId } from '../src/contract/core/index.ts';
import type { Agent } from '../src/contract/agent/index.ts';
import { loadShop } from '../src/lab/eval/shop.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Conversation } from './support/chat.ts';
import { makeTraffic, type Traffic } from './support/traffic.ts';

/** What people ask on in a chat: each reply is an investigation with what the earlier ones found. */
const noon = new Date('2026-03-01T12:00:00Z');
const minutes = (count: number): number => count * 60_000;

let harness: Harness;
let agent: Agent;
let organization: OrganizationId;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => noon });
  agent = plugin.create(
    {},
    { ...testHost(harness.directory), dialect: harness.telemetry.dialect, query: agentQuery(pipeline) },
  );
  organization = newOrganization();
  const fault = { kind: 'payment-errors', from: new Date(noon.getTime() - minutes(25)), to: noon } as const;
  const { spans, logs } = makeTraffic(new Date(noon.getTime() - minutes(120)), noon, fault);
  await harness.load(organization, 'spans', spans);
  await harness.load(organization, 'logs', logs);
});

afterAll(() => harness.stop());

describe('in a chat where something was found', () => {
  let chat: Conversation;
  beforeAll(async () => {
    chat = new Conversation(agent, organization, noon);
    expect((await chat.say('Why does checkout fail?')).service).toBe('payment');
  });

  it.each([
    ['show me the traces', /From what was found about `payment`, 11:00-12:00 UTC:/, /`payment` `Charge` failed/],
    ['the logs?', /From what was found about `payment`/, /- `payment`: `.*\[E\d+\]/],
    ['show me the SQL', /```sql\nSELECT/, /\*\*E\d+\*\* Which/],
    ['why?', /failures begin in `payment`/, / {2}- E\d+, .*\? .*/],
    ['why payment?', /confidence: high/, /Looked for, and not found|Not checked/],
    ['what is E1?', /\*\*E1\*\* Which services have sent spans/, /```sql/],
    ['E99', /There is no E99 among what was found/, /./],
    ['thanks!', /You are welcome/, /is it fixed/],
    ['what is the weather?', /I cannot answer that/, /only checkout/],
  ])('%s is answered without a new look', async (text, ...expected) => {
    const { answer, steps } = await chat.say(text);
    expect(steps).toEqual([]);
    for (const said of expected) expect(answer).toMatch(said);
  });

  it.each([
    ['is it fixed?', /^No, it is still going on: \d+ of \d+ /],
    ['is it still going on?', /^Yes, it is still going on: \d+ of \d+ /],
    ['is checkout still ok?', /^No, it is still going on: \d+ of \d+ /],
    ['is catalog still ok?', /^Yes: `catalog` is well, no worse than before/],
    ['has catalog recovered?', /^`catalog` is well, no worse than before/],
    ['do checkouts still fail?', /^Yes, it is still going on: \d+ of \d+ /],
    ['when did it end?', /^It is still going on: \d+ of \d+ /],
    [
      'is it getting worse?',
      /^It is still going on: (\d+ of \d+) .* 11:49 UTC to 2026-03-01 11:59 UTC\. \[E\d+\] From 2026-03-01 11:39 UTC to 2026-03-01 11:49 UTC it was \d+ of \d+ /,
    ],
  ])('%s says whether it goes on', async (text, says) => {
    const { answer } = await chat.fork().say(text);
    expect(answer).toMatch(says);
  });

  it('shows one trace that failed where that is asked for', async () => {
    const { answer, steps } = await chat.say('show me one failing trace');
    expect(steps).toEqual([]);
    expect(answer.match(/^- .*/gm)).toEqual([expect.stringMatching(/`payment` `Charge` failed/)]);
  });

  it('looks for the slowest trace, which the cause says nothing about', async () => {
    const { answer, steps } = await chat.say('show me the slowest trace');
    expect(steps.some(({ sql }) => /ORDER BY duration_nano DESC/.test(sql))).toBe(true);
    expect(answer).toMatch(/worst trace/);
  });

  it('only catalog narrows, and says so; all services widens again', async () => {
    const narrow = await chat.say('only catalog');
    expect(narrow.answer).toMatch(/^Looking at only `catalog`, 11:00-12:00 UTC\.\n\n/);
    expect(narrow.service).toBe('');
    const wide = await chat.say('and all services?');
    expect(wide.answer).toMatch(/^Looking at all services, 11:00-12:00 UTC\./);
    expect(wide.service).toBe('payment');
  });

  it('only what never sent anything is said to have sent nothing', async () => {
    expect((await chat.say('only chekcout')).answer).toContain('No service called `chekcout` has sent anything');
    await chat.say('all services');
  });

  it('the hour before moves the time, and the next question stays there', async () => {
    const before = await chat.say('the hour before');
    expect(before.answer).toMatch(/^Looking at all services, 10:00-11:00 UTC\./);
    expect(before.service).toBe('');
    const again = await chat.say('why is payment failing?');
    expect(again.answer).toMatch(/^Looking at `payment`, 10:00-11:00 UTC\./);
    const back = await chat.say('and since 11:30?');
    expect(back.answer).toMatch(/^Looking at `payment`, 11:30-12:00 UTC\./);
    expect(back.service).toBe('payment');
  });

  it('a service is looked at for one question, and on while only the time moves', async () => {
    const other = chat.fork();
    await other.say('only catalog');
    expect((await other.say('since 11:30')).answer).toMatch(/^Looking at only `catalog`/);
    expect((await other.say('why do orders fail?')).answer).toMatch(/^Looking at all services/);
  });

  it('names its evidence once, and shows it on asking', async () => {
    const other = chat.fork();
    const { steps, answer } = await other.say('slowest service?');
    const [id = ''] = /E\d+/.exec(answer) ?? [];
    expect(steps.map((step) => step.evidence_id)).toContain(id);
    expect((await other.say(`show ${id}`)).answer).toContain('Which operations are the slowest?');
  });

  it('what about yesterday says that there is nothing, and what there is', async () => {
    const { answer } = await chat.say('what about yesterday?');
    expect(answer).toContain('There is no telemetry from 2026-02-28 11:30 UTC to 2026-02-28 12:00 UTC');
    expect(answer).toContain('There is telemetry from 2026-03-01 10:00 UTC');
  });

  it('compare with … says what is usual', async () => {
    const { answer, service } = await chat.say('Look at 2026-03-01T11:35Z. Compare with 10:30 to 11:00');
    expect(answer).toMatch(/^Looking at all services, 11:2\d-12:0\d UTC, compared with 10:30-11:00 UTC\./);
    expect(service).toBe('payment');
  });
});

describe('examples that nothing found before has', () => {
  it('are looked for', async () => {
    const chat = new Conversation(agent, organization, noon);
    const { answer, steps } = await chat.say('show me the logs of payment');
    expect(steps.length).toBeGreaterThan(0);
    expect(answer).toContain('stand out in the logs');
  });
});

describe('a question about what is not so', () => {
  it('is answered beside what was found', async () => {
    const { answer, service } = await new Conversation(agent, organization, noon).say('why are pages slow?');
    expect(service).toBe('payment');
    expect(answer).toMatch(/Looked for, and not found:\n- More slowness than before \[E\d+\]\.\n\n/);
  });
});

describe('where it began before the hour that was compared', () => {
  let chat: Conversation;
  beforeAll(async () => {
    // The release comes just before 10:53.
    const shop = await loadShop(harness.telemetry, { scenario: 'payment-errors', seed: 1, minutes: 200, end: noon });
    chat = new Conversation(agent, shop, noon);
    const { service, answer } = await chat.say('Why do checkouts fail?');
    expect(service).toBe('payment');
    expect(answer).toMatch(/Looked at .* 11:0\d UTC to/);
  }, 60_000);

  it.each([
    ['roll back payment', /What you would go back from: `payment` `2\.4\.0`.*`2\.3\.7` before/, /unlikely to help/],
    ['is the payment release to blame?', /^Probably yes: `payment` `2\.4\.0`/, /\bNo\b/],
    ['what changed?', /^New versions: `payment` `2\.4\.0`/, /No service has a new version/],
    ['which version?', /^`payment` `2\.4\.0`, first seen at 2026-03-01 10:52/, /No new version/],
    ['what should I do?', /^- Roll back `payment` from `2\.4\.0` to `2\.3\.7`/, /Read the failing/],
    ['did the deploy of cart cause this?', /^No: `cart` `1\.9\.5`.* is new/, /^Looking at/],
    ['did cart break checkout?', /^No: `cart` is no worse than before/, /^Looking at/],
    ['when was payment deployed?', /^New versions: `payment` `2\.4\.0`, first seen at 2026-03-01 10:52/, /^Looking at/],
    ['was anything deployed?', /`payment` `2\.4\.0` was deployed/, /I cannot answer/],
    ['is payment ok?', /^No: `payment` is worse than before/, /no worse/],
    ['is payment down?', /^No: `payment` answers, but is worse than before/, /^Yes/],
    [
      'how many users are affected?',
      /^\d+ of \d+ users .* from 2026-03-01 10:52 UTC to/,
      /from 2026-03-01 11:00 UTC to 2026-03-01 12:00 UTC: \d+ of/,
    ],
  ])('%s counts from the beginning on', async (text, says, never) => {
    const { answer } = await chat.fork().say(text);
    expect(answer).toMatch(says);
    expect(answer).not.toMatch(never);
  });
});

describe('where what fails never reaches the service that is asked about', () => {
  let chat: Conversation;
  beforeAll(async () => {
    const shop = await loadShop(harness.telemetry, { scenario: 'feature-flag', seed: 2, minutes: 60, end: noon });
    chat = new Conversation(agent, shop, noon);
  }, 60_000);

  it.each([
    ['is payment also broken?', /^No: `payment` is well, no worse than before/],
    ['why not payment?', /^No: `payment` is no worse than before/],
    ['is it payment or checkout?', /^Yes, by what was found/],
    [
      'are free customers affected?',
      /^With `app\.user\.tier=free`, 0 of \d+ requests to `checkout` .* Of the others 18 of \d+ failed/,
    ],
    ['are enterprise customers affected?', /^With `app\.user\.tier=enterprise`, 17 of \d+ requests to `checkout`/],
    ['is my aunt affected?', /^\d+ of \d+ users/],
    ['is checkout failing because of payment?', /^No: `payment` is no worse than before/],
    [
      'could it be the card gateway?',
      /^No: calls to `card gateway` fail no more and are no slower than before. `payment` to `api\.cardgate\.example`/,
    ],
    [
      'is it a retry storm?',
      /^I cannot tell, since no call to `retry storm` is in the traces from [^,]* UTC\. .*\n\nWhat was found: \d+ % of/,
    ],
    [
      'which services are not affected?',
      /^No operation of (?!.*`(?:checkout|frontend)`).*`payment`.* fails more or is slower/,
    ],
    ['how many pages fail?', /^`checkout` `CheckoutService\/PlaceOrder`: 18 of 77 failed/],
    ['in one sentence', /^\d+ % of the added failures begin in `checkout`[^\n]*\(\w+ confidence\)$/],
    ['should we roll back?', /^- No new version of `checkout` was seen .*, so rolling it back is unlikely to help/],
    ['what percentage of orders fail?', /^18 of 77 users .*: 18 of 77 requests/],
    ['did the traffic increase?', /^No: traffic is not much more than before/],
  ])('%s is answered by what was found', async (text, says) => {
    const other = chat.fork();
    await other.say('Why can enterprise customers not order?');
    expect((await other.say(text)).answer).toMatch(says);
  });

  it('its usual failures hide nothing', async () => {
    const { answer } = await chat.fork().say('Does payment fail for some orders?');
    expect(answer).toMatch(/^\*\*`checkout` is failing\*\*/);
    expect(answer).toContain('`payment` itself fails no more and is no slower than before.');
  });
});

describe('where somebody wondered whether anything is wrong', () => {
  let chat: Conversation;
  beforeAll(async () => {
    const shop = await loadShop(harness.telemetry, { scenario: 'short-blip', seed: 3, minutes: 60, end: noon });
    chat = new Conversation(agent, shop, noon);
    expect((await chat.say('An alert went away. Is anything still wrong?')).service).toBe('');
  }, 60_000);

  it.each(['look at 11:20 to 12:00', 'did cart fail between 11:20 and 12:00?', 'any errors in cart since 11:30?'])(
    '%s makes no fault of a line that is worded anew',
    async (text) => {
      expect((await chat.fork().say(text)).service).toBe('');
    },
  );
});

describe('where something has changed that no operation shows', () => {
  const ago = (count: number): Date => new Date(noon.getTime() - minutes(count));
  const quiet = makeTraffic(ago(120), noon, { kind: 'none', from: noon, to: noon });

  async function chatOn({ spans, logs }: Pick<Traffic, 'spans' | 'logs'>): Promise<Conversation> {
    const shop = newOrganization();
    await harness.load(shop, 'spans', spans);
    if (logs.length > 0) await harness.load(shop, 'logs', logs);
    return new Conversation(agent, shop, noon);
  }

  describe('a job that came every other minute and stays away', () => {
    let chat: Conversation;
    let answer: string;
    beforeAll(async () => {
      const runs = Array.from({ length: 38 }, (_, index) => ago(120 - 2 * index));
      const job = runs.map((time, index) => ({
        time,
        start_time: time,
        end_time: new Date(time.getTime() + 900),
        duration_nano: 900e6,
        trace_id: index.toString(16).padStart(32, 'b'),
        span_id: index.toString(16).padStart(16, 'b'),
        parent_span_id: '',
        name: 'sync run',
        kind: 'INTERNAL',
        status_code: 'UNSET',
        status_message: '',
        service_name: 'price-sync',
        attributes: {},
      }));
      chat = await chatOn({ spans: [...quiet.spans, ...job], logs: quiet.logs });
      const said = await chat.say('Is anything wrong?');
      expect(said.service).toBe('');
      answer = said.answer;
    });

    it('is named, and not everything is called well', () => {
      expect(answer).toMatch(
        /^\*\*`price-sync` has sent nothing since 2026-03-01 11:14 UTC\. Beside that, no operation fails more or is slower than before\*\*/,
      );
      expect(answer).toContain('Check whether `price-sync` still runs');
    });

    it.each([
      ['since when?', /^It began at about 2026-03-01 11:14 UTC\. .*`price-sync` has sent nothing/],
      ['what should I do?', /`price-sync` has sent nothing .*\n\nLook into that first/],
      ['is it fixed?', /`price-sync` has sent nothing .*\n\nWhether that goes on/],
      ['is price-sync ok?', /^`price-sync` has sent nothing since 2026-03-01 11:14 UTC\. Until then it was no worse/],
      ['is the sync ok?', /^`price-sync` has sent nothing since/],
      ['is checkout ok?', /^Yes: `checkout` is well/],
    ])('%s is answered by it', async (text, says) => {
      const reply = await chat.fork().say(text);
      expect(reply.answer).toMatch(says);
      expect(reply.answer).not.toMatch(/nothing (?:that started|to be done|to be fixed|is wrong)/i);
    });
  });

  describe('a third of the requests', () => {
    let chat: Conversation;
    let answer: string;
    beforeAll(async () => {
      const left = quiet.spans.filter(
        ({ time, trace_id: id }) =>
          !(time instanceof Date) || time < ago(30) || Number.parseInt(String(id).slice(-4), 16) % 3 === 0,
      );
      chat = await chatOn({ spans: left, logs: [] });
      const said = await chat.say('Is anything wrong?');
      expect(said.service).toBe('');
      answer = said.answer;
    });

    it('are said to be few', () => {
      expect(answer).toMatch(
        /^\*\*Far fewer requests come in since about 2026-03-01 11:3[0-5] UTC: `POST \/checkout` of `frontend` has 4\.0 a minute lately, 12 before\. Beside that, no operation/,
      );
    });

    it.each([
      ['since when?', /^It began at about 2026-03-01 11:3[0-5] UTC\. .*Far fewer requests/],
      ['is traffic down?', /^Yes: Far fewer requests come in/],
      ['did the traffic drop?', /^Yes: Far fewer requests come in/],
      ['has traffic gone up?', /^No: traffic is not much more than before/],
      ['what should I do?', /Far fewer requests .*\n\nLook into that first/],
    ])('%s is answered by it', async (text, says) => {
      const reply = await chat.fork().say(text);
      expect(reply.answer).toMatch(says);
      expect(reply.answer).not.toMatch(/nothing (?:that started|to be done|to be fixed|is wrong)/i);
    });
  });

  it('no service is well that was found to run out of something, though its requests are as before', async () => {
    const shop = newOrganization();
    await harness.load(shop, 'spans', quiet.spans);
    const points = Array.from({ length: 240 }, (_, index) => ({
      time: new Date(ago(120).getTime() + index * 30_000),
      name: 'process.memory.usage',
      type: 'gauge',
      value: (index < 170 ? 300e6 : 300e6 + (index - 170) * 60e6) + (index % 5) * 1e6,
      service_name: 'catalog',
      attributes: {},
    }));
    await harness.load(shop, 'metrics', points);
    const chat = new Conversation(agent, shop, noon);
    expect((await chat.say('What broke at 11:30?')).service).toBe('catalog');
    const ok = await chat.fork().say('is catalog ok?');
    expect(ok.answer).toMatch(
      /^No, by what was found: `process\.memory\.usage` of `catalog` is .* no worse than before: /,
    );
    expect((await chat.fork().say('is catalog broken?')).answer).toMatch(/^Yes, by what was found/);
    expect((await chat.fork().say('is payment ok?')).answer).toMatch(/^Yes: `payment` is well/);
  });

  describe('errors in a log alone', () => {
    let chat: Conversation;
    beforeAll(async () => {
      const lines = Array.from({ length: 40 }, (_, index) => ({
        time: new Date(ago(25).getTime() + index * 30_000),
        observed_time: noon,
        severity_number: 17,
        severity_text: 'ERROR',
        body: `append failed seq=${index}: no space left on device`,
        service_name: 'audit',
        trace_id: '',
      }));
      chat = await chatOn({ spans: quiet.spans, logs: [...quiet.logs, ...lines] });
      expect((await chat.say('Is anything wrong?')).answer).toMatch(/cause was not found: `audit` logs/);
    });

    it.each([
      ['since when?', /^It began at about 2026-03-01 11:35 UTC\. .*`audit` logs/],
      ['what should I do?', /`audit` logs .*\n\nLook into that first/],
      ['is it fixed?', /`audit` logs .*\n\nWhether that goes on/],
    ])('%s does not say that there is nothing', async (text, says) => {
      const reply = await chat.fork().say(text);
      expect(reply.answer).toMatch(says);
      expect(reply.answer).not.toMatch(/nothing (?:that started|to be done|to be fixed)/i);
    });

    it('only audit looks at what it logs, though it sends no spans', async () => {
      const { answer, service } = await chat.fork().say('only audit');
      expect(answer).toMatch(/^Looking at only `audit`, 11:00-12:00 UTC\.\n\n\*\*`audit` logs more/);
      expect(answer).not.toContain('has sent anything');
      expect(service).toBe('audit');
    });
  });
});

it('no service is well that was found to fail, however few its requests are', async () => {
  const shop = await loadShop(harness.telemetry, { scenario: 'region-only', seed: 10, minutes: 60, end: noon });
  const chat = new Conversation(agent, shop, noon);
  expect((await chat.say('Why do orders fail?')).service).toBe('shipping');
  expect((await chat.fork().say('is checkout ok?')).answer).toMatch(/^No: `checkout` is worse than before\. 15 of 54/);
  expect((await chat.fork().say('is it checkout?')).answer).toMatch(/^No: `checkout` is worse than before, but/);
}, 60_000);

it('what a slow request is compared by explains what it took longer', async () => {
  const shop = await loadShop(harness.telemetry, { scenario: 'kafka-lag', seed: 3, minutes: 60, end: noon });
  const { service, answer } = await new Conversation(agent, shop, noon).say('Why do orders reach the ledger so late?');
  expect(service).toBe('accounting');
  expect(answer).not.toMatch(/^- On the critical path .*`payment`/m);
}, 60_000);

it('what makes nearly all requests wait is named before the few of them that give up', async () => {
  const shop = await loadShop(harness.telemetry, { scenario: 'slow-query', seed: 2, minutes: 60, end: noon });
  const { answer } = await new Conversation(agent, shop, noon).say('Pages became slow. Where is the time spent?');
  expect(answer).toMatch(/^\*\*`inventory` waits for `pg-inventory\.shop\.svc`\*\* \(high confidence\)/);
}, 60_000);

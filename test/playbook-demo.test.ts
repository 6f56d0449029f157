import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { newId, type OrganizationId } from '../src/contract/core/index.ts';
import type { Agent } from '../src/contract/agent/index.ts';
import type { Conclusion, Incident } from '../src/contract/storage/index.ts';
import { demoQuestion, groundTruth, type ScenarioName } from '../src/lab/demo/index.ts';
import { loadGenerated, loadShop } from '../src/lab/eval/shop.ts';
import { generateParcels, parcelScenarios, type ParcelScenario } from '../src/lab/parcels/generate.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Conversation } from './support/chat.ts';
import { incidentOf } from './support/incident.ts';

/** The playbook on the demo's shop: a dozen services, noise, a harmless release, and a cause that need not be the symptom. */
const end = new Date('2026-03-01T12:00:00Z');
let harness: Harness;
let agent: Agent;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => end });
  agent = plugin.create(
    {},
    { ...testHost(harness.directory), dialect: harness.telemetry.dialect, query: agentQuery(pipeline) },
  );
});

afterAll(async () => {
  await harness.stop();
});

async function investigate(
  organizationId: OrganizationId,
  question: string,
  { incident, askedAt = end }: { readonly incident?: Incident; readonly askedAt?: Date } = {},
): Promise<Conclusion | undefined> {
  const messages = [
    {
      id: newId('msg'),
      seq: 1,
      role: 'user' as const,
      author: { kind: 'key' as const, id: 'ak_test', name: 'test' },
      time: askedAt,
      content: question,
      parts: [],
    },
  ];
  let found: Conclusion | undefined;
  const assignment = { organizationId, messages, steps: [], askedAt, ...(incident && { incident }) };
  for await (const event of agent.investigate(assignment, AbortSignal.timeout(300_000))) {
    if (event.type === 'step') expect(event.step.error).toBeUndefined();
    if (event.type === 'conclusion') found = event.conclusion;
  }
  return found;
}

describe('the demo', () => {
  const cases: readonly (readonly [ScenarioName, number])[] = [
    // The one that a first start shows.
    ['payment-errors', 1],
    ['network-delay', 3],
    ['gateway-outage', 3],
    ['quiet', 3],
  ];
  it.each(cases)(
    '%s: names the service with the cause, or none where nothing is wrong',
    async (scenario, seed) => {
      const options = { scenario, seed, minutes: 60, end };
      const organizationId = await loadShop(harness.telemetry, options);
      const conclusion = await investigate(organizationId, demoQuestion(options));
      expect(conclusion?.service).toBe(groundTruth(options).service ?? '');
      const released = conclusion?.claims.filter(({ text }) => text.startsWith('`payment` `2.4.0` was deployed in '));
      expect(released).toHaveLength(scenario === 'payment-errors' ? 1 : 0);
    },
    300_000,
  );
});

describe('the beginning', () => {
  it('is the release or the first failure that says something new, and never after the alert', async () => {
    for (const seed of [1, 2, 4]) {
      const options = { scenario: 'payment-errors', seed, minutes: 60, end } as const;
      const { onset } = groundTruth(options);
      const organizationId = await loadShop(harness.telemetry, options);
      const found = await investigate(organizationId, demoQuestion(options));
      const began = Date.parse(found?.onset ?? '');
      expect(Math.abs(began - onset.getTime())).toBeLessThanOrEqual(120_000);
      expect(found?.claims.map(({ text }) => text)).toContainEqual(
        expect.stringMatching(/^It began (at|between) .* UTC/),
      );

      const detectedAt = new Date(began - 1_000);
      const incident = incidentOf(organizationId, { startedAt: onset, title: 'Checkouts fail' });
      const alerted = await investigate(organizationId, demoQuestion(options), {
        incident: { ...incident, detectedAt },
      });
      expect(alerted?.service).toBe('payment');
      expect(alerted?.onset).toBe(detectedAt.toISOString());
      expect(alerted?.claims.map(({ text }) => text).join()).not.toContain('It began');
    }
  }, 300_000);
});

describe('the beginning at any time of the week', () => {
  // At night hours pass with a handful of failures, so the release tells more than the first of them.
  const ends: readonly (readonly [string, number])[] = [
    ['2026-11-29T22:47:01Z', 13],
    ['2026-11-23T12:05:41Z', 17],
    ['2026-11-27T04:18:19Z', 1],
    ['2026-11-29T02:08:31Z', 7],
    ['2026-11-23T05:04:57Z', 16],
    ['2026-11-26T16:54:21Z', 6],
    ['2026-11-30T09:28:53Z', 2],
    ['2026-12-06T02:32:20Z', 11],
  ];
  it.each(ends)(
    '%s: lies within two minutes of the true one',
    async (time, seed) => {
      const askedAt = new Date(time);
      const options = { scenario: 'payment-errors', seed, minutes: 60, end: askedAt } as const;
      const organizationId = await loadShop(harness.telemetry, options);
      const found = await investigate(organizationId, demoQuestion(options), { askedAt });
      expect(found?.service).toBe('payment');
      const late = (Date.parse(found?.onset ?? '') - groundTruth(options).onset.getTime()) / 1_000;
      expect(Math.abs(late)).toBeLessThanOrEqual(120);
    },
    300_000,
  );
});

describe('an hour that has no earlier telemetry', () => {
  // A rise is found in parts of two minutes of the clock: those of the last two ends begin just before the release.
  it.each(['01:41:00', '01:41:20', '01:41:40'])('to %s is cut where the trouble began', async (time) => {
    const askedAt = new Date(`2026-11-28T${time}Z`);
    const options = { scenario: 'payment-errors', seed: 1, minutes: 60, end: askedAt, hourAtEnd: 17 } as const;
    const organizationId = await loadShop(harness.telemetry, options);
    const chat = new Conversation(agent, organizationId, askedAt);
    const { answer, service } = await chat.say(demoQuestion(options));
    expect(service).toBe('payment');
    expect(answer).toContain('**`payment` is failing** (high confidence)');
    expect(answer).toMatch(/^19 of 114 users .* from 2026-11-28 01:20 UTC to/);
    expect((await chat.say('roll back payment')).answer).toContain('What you would go back from: `payment` `2.4.0`');
  });
});

describe('at night', () => {
  it('a dozen failures are seen among the many that always are', async () => {
    const askedAt = new Date('2026-03-01T04:45:00Z');
    const options = { scenario: 'payment-errors', seed: 1, minutes: 60, end: askedAt } as const;
    const organizationId = await loadShop(harness.telemetry, options);
    const conclusion = await investigate(organizationId, 'Why do checkouts fail?', { askedAt });
    expect(conclusion?.service).toBe('payment');
  }, 300_000);
});

describe('the traces shown', () => {
  it('fail in the way that is blamed, though older failures took longer', async () => {
    const askedAt = new Date('2026-11-26T14:35:27.935Z');
    const options = { scenario: 'payment-errors', seed: 1, minutes: 60, end: askedAt } as const;
    const organizationId = await loadShop(harness.telemetry, options);
    const conclusion = await investigate(organizationId, 'Why do checkouts fail?', { askedAt });
    const shown = conclusion?.claims.find(({ text }) => text.startsWith('For example trace'))?.text;
    expect(new Set(shown?.match(/saying `[a-z ]+/g))).toEqual(new Set(['saying `card validation failed']));
  }, 300_000);
});

describe('a system with queues, jobs, zones and a shared database', () => {
  const scenarios = new Map(parcelScenarios());
  const cases: readonly (readonly [ParcelScenario, RegExp])[] = [
    ['new-job', /^`archive` takes \d+ % of the time that `pg-main` works for its callers, 0 % before/],
    ['new-job-elsewhere', /^$/],
    ['silent-callee', /^`rates` has sent nothing since .*, though `\w+` `rates\/Quote` still asks for it/],
    ['evening', /^$/],
    ['bad-host', /on `(host|k8s\.node)\.name=sort-b2` are slow or fail by themselves/],
    ['slower-host', /^$/],
    ['pool', /calls from `gateway` to `rates` that `rates` itself does not spend/],
  ];
  it.each(cases)(
    '%s: says what explains it, or that nothing is wrong',
    async (scenario, cause) => {
      const options = { scenario, seed: 3, minutes: 60, end, rate: 60 };
      const organizationId = await loadGenerated(harness.telemetry, generateParcels(options), { end });
      const known = scenarios.get(scenario);
      const conclusion = await investigate(organizationId, known?.question ?? '');
      expect(conclusion?.service).toBe(known?.cause ?? '');
      expect(conclusion?.root_cause).toMatch(cause);
    },
    300_000,
  );

  it.each<[ParcelScenario, string]>([
    ['evening', ''],
    ['usual-job', ''],
    ['cache-collapse', 'rates'],
  ])(
    '%s: blames by gauges alone who answers later, and nobody for a request that fails now and then',
    async (scenario, service) => {
      const options = { scenario, seed: 41, minutes: 60, end, rate: 60 };
      const organizationId = await loadGenerated(harness.telemetry, generateParcels(options), { end, only: 'metrics' });
      const conclusion = await investigate(organizationId, scenarios.get(scenario)?.question ?? '');
      expect(conclusion?.service).toBe(service);
    },
    300_000,
  );
});

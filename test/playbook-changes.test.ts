import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness, newOrganization, type Row } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { newId, type OrganizationId } from '../src/contract/core/index.ts';
import type { Agent, AgentEvent, AgentHost } from '../src/contract/agent/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { incidentOf } from './support/incident.ts';
import { makeTraffic } from './support/traffic.ts';

/** Deploys and flags beside a fault that began 25 minutes before noon. */
const askedAt = new Date('2026-03-01T12:00:00Z');
const ago = (minutes: number): Date => new Date(askedAt.getTime() - minutes * 60_000);

let harness: Harness;
let query: AgentHost['query'];
let agent: Agent;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => askedAt });
  query = agentQuery(pipeline);
  agent = plugin.create({}, { ...testHost(harness.directory), dialect: harness.telemetry.dialect, query });
});
afterAll(() => harness.stop());

function event(minutes: number, name: string, service: string, attributes: object, more: object = {}): Row {
  const time = ago(minutes);
  const about = { severity_number: 9, severity_text: 'INFO', body: '', event_name: name, service_name: service };
  return { time, observed_time: time, ...about, service_version: '', attributes, ...more };
}

async function shop(kind: 'payment-errors' | 'none', events: readonly Row[]): Promise<OrganizationId> {
  const organization = newOrganization();
  const { spans, logs } = makeTraffic(ago(120), askedAt, { kind, from: ago(25), to: askedAt });
  await harness.load(organization, 'spans', spans);
  await harness.load(organization, 'logs', [...logs, ...events]);
  return organization;
}

async function investigate(organizationId: OrganizationId, environment?: string) {
  const content = 'Why does checkout fail?';
  const author = { kind: 'key', id: 'ak_test', name: 'test' } as const;
  const messages = [{ id: newId('msg'), seq: 1, role: 'user' as const, author, time: askedAt, content, parts: [] }];
  const incident = incidentOf(organizationId, { startedAt: ago(24), title: 'Checkout errors' });
  const assignment = {
    organizationId,
    messages: environment === undefined ? messages : [],
    ...(environment !== undefined && { incident: { ...incident, environment } }),
    steps: [],
    askedAt,
  };
  let end: Extract<AgentEvent, { type: 'conclusion' }> | undefined;
  const asked: Extract<AgentEvent, { type: 'step' }>['step'][] = [];
  for await (const each of agent.investigate(assignment, AbortSignal.timeout(60_000))) {
    if (each.type === 'step') asked.push(each.step);
    if (each.type === 'conclusion') end = each;
  }
  if (end === undefined) throw new Error('no conclusion');
  const steps = asked.filter(({ question }) => question === 'What was deployed, and which flags were changed?');
  return { ...end, claims: end.conclusion.claims.map(({ text }) => text), steps };
}

describe('a change beside the onset', () => {
  it('is placed before it, cited, and said again with its SQL', async () => {
    const release = event(
      27,
      'deployment',
      'payment',
      {
        'deployment.id': '4711',
        'deployment.status': 'succeeded',
        'user.name': 'dana',
        'url.full': 'https://ci.example.com/4711',
      },
      { service_version: '2.4.0', deployment_environment: 'production' },
    );
    const organization = await shop('payment-errors', [release, release]);
    const { answer, claims, steps, conclusion, document } = await investigate(organization, 'prod');
    const [step] = steps;
    expect(steps).toHaveLength(1);
    const said = '`payment` `2.4.0` was deployed in `production` by `dana` at 2026-03-01 11:33 UTC, ';
    const placed = conclusion.claims.filter(({ text }) => text.startsWith(said));
    expect(placed).toHaveLength(1);
    expect(placed[0]?.text).toMatch(/(?:, [1-4] min before|, about when) the failures began\.$/);
    expect(placed[0]).toMatchObject({ status: 'supported', evidence_ids: expect.arrayContaining([step?.evidence_id]) });
    // The version that the spans show is the same change.
    expect(placed[0]?.evidence_ids).toHaveLength(2);
    expect(claims.join()).not.toMatch(/may be the cause|caused by/);
    expect(document).toContain('- 2026-03-01 11:33 UTC: `payment` `2.4.0` was deployed');
    expect(answer).toContain(
      'Roll back `payment` `2.4.0`, or compare it with the version before: `https://ci.example.com/4711`.',
    );
    expect(conclusion.not_checked).toEqual([]);
    const limits = { maxRows: 50, maxBytes: 100_000, maxCellBytes: 1_000, timeoutMs: 10_000 };
    const again = await query(organization, step?.sql ?? '', { signal: AbortSignal.timeout(10_000), limits });
    expect(again.rows).toHaveLength(1);
  });

  it('is of the service that its attributes name, whoever sent it', async () => {
    const named = event(27, 'deployment.finished', 'ci', {
      'service.name': 'payment',
      'service.version': '2.4.0',
      'deployment.environment.name': 'production',
    });
    // Of many alerts the environment is a namespace.
    const { claims } = await investigate(await shop('payment-errors', [named]), 'shop');
    expect(claims.join()).toContain('`payment` `2.4.0` was deployed in `production` at 2026-03-01 11:33 UTC');
  });

  it('is not blamed after it, in another environment, or where it failed', async () => {
    const organization = await shop('payment-errors', [
      event(15, 'deployment', 'payment', {}, { service_version: '2.4.1' }),
      event(27, 'deployment', 'payment', { 'deployment.environment.name': 'staging' }, { service_version: '9.9.9' }),
      event(
        28,
        'deployment',
        'payment',
        { 'deployment.status': 'failed', 'deployment.environment.name': 'production' },
        { service_version: '2.3.10' },
      ),
    ]);
    const { answer, claims, document = '' } = await investigate(organization, 'production');
    expect(claims.join()).not.toContain('2.4.1');
    expect(document).toMatch(/As its cause: `payment` `2\.4\.1` was deployed at .*, \d+ min after it began/);
    expect(document.slice(0, document.indexOf('## Evidence'))).not.toContain('9.9.9');
    expect(claims.join()).toContain('a deploy of `payment` `2.3.10` failed in `production`');
    expect(answer).not.toContain('Roll back');
  });

  it('is a flag that was turned, or whose evaluation is new', async () => {
    const evaluation = (minutes: number, variant: string) =>
      event(minutes, 'feature_flag.evaluation', 'payment', {
        'feature_flag.key': 'cards',
        'feature_flag.result.variant': variant,
      });
    const organization = await shop('payment-errors', [
      ...Array.from({ length: 60 }, (_, index) => evaluation(110 - index, 'old')),
      ...Array.from({ length: 26 }, (_, index) => evaluation(26 - index, 'new')),
      // Rare from the start on: no change.
      evaluation(104, 'rare'),
      evaluation(8, 'rare'),
      event(30, 'feature_flag.change', '', { 'feature_flag.key': 'express', 'feature_flag.result.value': 'on' }),
    ]);
    const { claims, answer } = await investigate(organization);
    expect(claims.join()).toContain('flag `cards` of `payment` first gave `new` at 2026-03-01 11:34 UTC');
    expect(claims.join()).toContain('Elsewhere: flag `express` was changed to `on` at 2026-03-01 11:30 UTC');
    expect(claims.join()).not.toContain('rare');
    expect(answer).toContain('Turn the flag `cards` back');
  });

  it('is no incident without a fault', async () => {
    const organization = await shop('none', [event(27, 'deployment', 'payment', {}, { service_version: '2.4.0' })]);
    const { conclusion, claims, answer } = await investigate(organization);
    expect(conclusion).toMatchObject({ service: '', category: 'none' });
    expect(claims.join()).toContain('Around that time: `payment` `2.4.0` was deployed');
    expect(answer).not.toContain('Roll back');
  });

  it('is not claimed where nothing was sent', async () => {
    const { steps, conclusion, claims } = await investigate(await shop('payment-errors', []));
    expect(steps).toMatchObject([{ observation: 'No event of a deploy or a changed flag.', verdict: 'neutral' }]);
    expect(claims.join()).not.toContain('deployed');
    expect(conclusion.not_checked).toEqual(['deployments and feature flags beyond service.version']);
  });

  it('answers what changed', async () => {
    const organizationId = await shop('payment-errors', [
      event(27, 'deployment', 'cart', {}, { service_version: '1.9.5' }),
    ]);
    const author = { kind: 'key', id: 'ak_test', name: 'test' } as const;
    const content = 'What changed in the last 30 minutes?';
    const messages = [{ id: newId('msg'), seq: 1, role: 'user' as const, author, time: askedAt, content, parts: [] }];
    let said = '';
    const assignment = { organizationId, messages, steps: [], askedAt };
    for await (const each of agent.investigate(assignment, AbortSignal.timeout(60_000))) {
      if ('answer' in each) said = each.answer;
    }
    expect(said).toContain('- `cart` `1.9.5` was deployed at 2026-03-01 11:33 UTC.');
  });
});

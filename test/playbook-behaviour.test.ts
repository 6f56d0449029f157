import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { incidentOf } from './support/incident.ts';
import { Harness, newOrganization, type Row } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { newId, type OrganizationId } from '../src/contract/core/index.ts';
import type { Agent, Assignment, NewStep } from '../src/contract/agent/index.ts';
import type { Conclusion } from '../src/contract/storage/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';

/** What services do otherwise than before, found in whatever they send. */
const askedAt = new Date('2026-03-01T12:00:00Z');
const ago = (minutes: number): Date => new Date(askedAt.getTime() - minutes * 60_000);

let harness: Harness;
let agent: Agent;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => askedAt });
  agent = plugin.create(
    {},
    { ...testHost(harness.directory), dialect: harness.telemetry.dialect, query: agentQuery(pipeline) },
  );
});

afterAll(async () => {
  await harness.stop();
});

interface Outcome {
  readonly steps: readonly NewStep[];
  readonly conclusion: Conclusion;
}

async function investigate(organizationId: OrganizationId, asked: Partial<Assignment>): Promise<Outcome> {
  const steps: NewStep[] = [];
  let conclusion: Conclusion | undefined;
  const assignment = { organizationId, messages: [], steps: [], askedAt, ...asked };
  for await (const event of agent.investigate(assignment, AbortSignal.timeout(60_000))) {
    if (event.type === 'step') steps.push(event.step);
    if (event.type === 'conclusion') conclusion = event.conclusion;
  }
  if (conclusion === undefined) throw new Error('no conclusion');
  return { steps, conclusion };
}

function saying(content: string): Partial<Assignment> {
  const author = { kind: 'key', id: 'ak_test', name: 'test' } as const;
  return { messages: [{ id: newId('msg'), seq: 1, role: 'user', author, time: askedAt, content, parts: [] }] };
}

/** So many requests in each minute, and what each of them leaves. */
function everyMinute(from: Date, to: Date, perMinute: number, leave: (at: Date, index: number) => void): void {
  let index = from.getTime();
  for (let time = from.getTime(); time < to.getTime(); time += 60_000 / perMinute) leave(new Date(time), (index += 1));
}

function span(at: Date, index: number, name: string, parent: boolean): Row {
  const id = (kind: number): string => (index * 10 + kind).toString(16).padStart(16, '0');
  return {
    time: at,
    start_time: at,
    end_time: new Date(at.getTime() + 5),
    duration_nano: 5_000_000,
    trace_id: index.toString(16).padStart(32, '0'),
    span_id: id(parent ? 1 : 2),
    parent_span_id: parent ? '' : id(1),
    name,
    kind: 'SERVER',
    service_name: parent ? 'front' : 'back',
  };
}

function log(at: Date, service: string, body: string, of: Partial<Row> = {}): Row {
  const { trace_id, span_id } = of;
  const linked = { ...(trace_id !== undefined && { trace_id }), ...(span_id !== undefined && { span_id }) };
  return { time: at, observed_time: at, severity_number: 9, body, service_name: service, ...linked };
}

describe('changed behaviour', () => {
  it('is counted on the side on which a span stands, and between the two windows on none', async () => {
    const organization = newOrganization();
    const [spans, logs]: [Row[], Row[]] = [[], []];
    // An alert's window is compared with what came until ten minutes before it: those ten are the busiest.
    const leave = (says: string) => (at: Date, index: number) => {
      const [front, back] = [span(at, index, 'GET /orders', true), span(at, index, 'SELECT', false)];
      spans.push(front, back);
      logs.push(log(at, 'front', says, front));
    };
    everyMinute(ago(45), ago(31), 6, leave('order read from the cache'));
    everyMinute(ago(31), ago(21), 60, leave('order read from the cache'));
    everyMinute(ago(20), askedAt, 6, leave('order read from the table'));
    await harness.load(organization, 'spans', spans);
    await harness.load(organization, 'logs', logs);
    const { steps, conclusion } = await investigate(organization, {
      incident: incidentOf(organization, { startedAt: ago(20), title: 'Orders look odd' }),
    });
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    const step = steps.find(({ question }) => question.startsWith('Which log lines'));
    const counts = step?.rows.map((row) => row.slice(-3, -1).map(Number)) ?? [];
    expect(counts.length).toBeGreaterThan(0);
    for (const [hits = 0, total = 0] of counts) expect(hits).toBeLessThanOrEqual(total);
    expect(conclusion.service).toBe('front');
  });
});

describe('lines with names in them', () => {
  const name = (index: number): string => {
    const letters = 'abcdefghijklmnop';
    return [13, 7, 3].map((step) => letters.charAt((index * step + Math.floor(index / 16)) % 16)).join('');
  };

  it('are of one kind, however many names there are: what becomes of the users is told, and each name says nothing', async () => {
    const organization = newOrganization();
    const [spans, logs]: [Row[], Row[]] = [[], []];
    everyMinute(ago(60), askedAt, 20, (at, index) => {
      const [front, back] = [span(at, index, 'POST /login', true), span(at, index, 'SELECT', false)];
      spans.push(front, back);
      const refused = at >= ago(10) && index % 3 === 0;
      logs.push(log(at, 'front', `user ${name(index)} asks for a session`, front));
      logs.push(log(at, 'back', `user ${name(index)} ${refused ? 'was turned away' : 'has signed in'}`, back));
    });
    await harness.load(organization, 'spans', spans);
    await harness.load(organization, 'logs', logs);
    const { steps, conclusion } = await investigate(
      organization,
      saying(
        `Something has been wrong since ${ago(10).toISOString()}. Compare with ${ago(40).toISOString()} to ${ago(20).toISOString()}.`,
      ),
    );
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'behaviour', service: 'back' });
    const told = steps.find(({ question }) => question.startsWith('Which log lines come more or less often'));
    expect(told?.observation).toContain('`user <*> has signed in`');
    expect(told?.observation).toContain('`user <*> was turned away`');
  });
});

describe('where a signal is missing', () => {
  const question = saying(
    `Something has been wrong since ${ago(10).toISOString()}. Compare with ${ago(40).toISOString()} to ${ago(20).toISOString()}.`,
  );

  it('logs alone, of no trace, name the service that logs otherwise', async () => {
    const organization = newOrganization();
    const logs: Row[] = [];
    everyMinute(ago(60), askedAt, 10, (at, index) => {
      logs.push(log(at, 'calm', index % 2 === 0 ? 'page served' : 'page cached'));
      logs.push(log(at, 'odd', at >= ago(10) && index % 3 === 0 ? 'stock not known' : 'stock known'));
    });
    await harness.load(organization, 'logs', logs);
    const { steps, conclusion } = await investigate(organization, question);
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'behaviour', service: 'odd' });
  });

  it('what comes in bursts by itself is no news, however much of it comes', async () => {
    const organization = newOrganization();
    const logs: Row[] = [];
    everyMinute(ago(60), askedAt, 30, (at, index) => {
      const burst = Math.floor(at.getTime() / 60_000) % 4;
      const [cached, known] = at >= ago(10) ? [burst > 0, index % 20 < 14] : [burst > 1, index % 2 === 0];
      logs.push(log(at, 'bursts', cached ? 'page cached' : 'page served'));
      logs.push(log(at, 'odd', known ? 'stock known' : 'stock not known'));
    });
    await harness.load(organization, 'logs', logs);
    const { steps, conclusion } = await investigate(organization, question);
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'behaviour', service: 'odd' });
  });

  it('gauges alone, whatever they are called, name the service whose gauge left the usual', async () => {
    const organization = newOrganization();
    const metrics: Row[] = [];
    everyMinute(ago(60), askedAt, 1, (at, index) => {
      for (const service of ['a', 'b', 'c']) {
        const value = (service === 'b' && at >= ago(10) ? 900 : 20) + (index % 3);
        metrics.push({ time: at, name: 'RoundTripP90(ms)', type: 'gauge', value, service_name: service });
      }
    });
    await harness.load(organization, 'metrics', metrics);
    const { steps, conclusion } = await investigate(organization, question);
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'resource', service: 'b' });
  });

  const wrong = (value: (service: string, at: Date, index: number) => number, more: Row) => {
    const metrics: Row[] = [];
    everyMinute(ago(60), askedAt, 1, (at, index) => {
      for (const service of ['a', 'b', 'c']) {
        metrics.push({ time: at, type: 'gauge', value: value(service, at, index), service_name: service, ...more });
      }
    });
    return metrics;
  };

  it('a gauge of what is left that falls is a shortage', async () => {
    const organization = newOrganization();
    const left = (service: string, at: Date, index: number) =>
      (service === 'b' && at >= ago(10) ? 0.1 : 0.9) + (index % 3) / 100;
    await harness.load(organization, 'metrics', wrong(left, { name: 'cache.hit_ratio' }));
    const { steps, conclusion } = await investigate(organization, question);
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'resource', service: 'b' });
    expect(conclusion.root_cause).toMatch(/`cache.hit_ratio` of `b` is 0.1\d* \(0.91 before\)/);
  });

  it('a counter is judged by its rate, and one that starts again at zero by what it counts from there', async () => {
    const organization = newOrganization();
    const total: Record<string, number> = {};
    const counted = (service: string, at: Date, index: number): number => {
      const by = (service === 'b' && at >= ago(10) ? 900 : 20) + (index % 3);
      const isNew = service === 'c' && at.getTime() === ago(8).getTime();
      total[service] = (isNew ? 0 : (total[service] ?? 50_000)) + by;
      return total[service];
    };
    const counter = {
      name: 'process.cpu.time',
      type: 'sum',
      is_monotonic: true,
      aggregation_temporality: 'cumulative',
    };
    await harness.load(organization, 'metrics', wrong(counted, counter));
    const { steps, conclusion } = await investigate(organization, question);
    expect(steps.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(conclusion).toMatchObject({ category: 'resource', service: 'b' });
    expect(conclusion.root_cause).toMatch(/`process.cpu.time` of `b` is 9\d\d \(2\d before\)/);
  });

  it('a gauge that left the usual some minutes before the alert is no part of the usual', async () => {
    const organization = newOrganization();
    const used = (service: string, at: Date, index: number) =>
      (service === 'b' && at >= ago(25) ? 900 : 20) + (index % 3);
    const metrics = wrong(used, { name: 'memory.usage' }).filter(({ time }) => time instanceof Date && time >= ago(33));
    await harness.load(organization, 'metrics', metrics);
    const incident = incidentOf(organization, { startedAt: ago(14) });
    const { steps } = await investigate(organization, { incident });
    const gauges = steps.find(({ question: asked }) => asked.startsWith('Which service has a gauge far'));
    expect(gauges?.observation).toContain('`memory.usage` of `b` is 902 (21 before)');
  });
});

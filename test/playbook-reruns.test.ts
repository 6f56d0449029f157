import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { newId, type OrganizationId, type ToolContext } from '../src/contract/core/index.ts';
import { contradicts, type Agent, type Evidence, type NewStep } from '../src/contract/agent/index.ts';
import type { Claim } from '../src/contract/storage/index.ts';
import {
  demoQuestion,
  groundTruth,
  isScenario,
  scenarios,
  type DemoOptions,
  type ScenarioName,
} from '../src/lab/demo/index.ts';
import { loadGenerated, loadShop } from '../src/lab/eval/shop.ts';
import { generateParcels, type ParcelScenario } from '../src/lab/parcels/generate.ts';
import { scenarios as parcels, type Scenario } from '../src/lab/parcels/scenarios.ts';
import { createKeptResults } from '../src/telemetry/query/kept-results.ts';
import { structuredText } from '../src/mcp/result.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { createQueryOtel } from '../src/tools/query-otel.ts';
import { queryOtelOutput } from '../src/tools/query-otel/schema.ts';

/** What an investigation cites can be asked again by anybody who may read: the same SQL gives the same rows. */
const end = new Date('2026-03-01T12:00:00Z');
const optionsOf = (scenario: ScenarioName): DemoOptions => ({ scenario, seed: 4, minutes: 15, end, rate: 20 });
const faults = Object.keys(scenarios)
  .filter(isScenario)
  .filter((scenario) => groundTruth(optionsOf(scenario)).service !== undefined);
let harness: Harness;
let agent: Agent;
let tool: ReturnType<typeof createQueryOtel>;

beforeAll(async () => {
  harness = await Harness.start();
  const { telemetry, directory } = harness;
  const pipeline = createQueryPipeline({ telemetry, logger: silentLogger, now: () => end });
  const { dialect } = telemetry;
  agent = plugin.create({}, { ...testHost(directory), dialect, query: agentQuery(pipeline) });
  tool = createQueryOtel({ pipeline, keptResults: createKeptResults({ now: () => end }), dialect, now: () => end });
});

afterAll(async () => {
  await harness?.stop();
});

interface Investigated {
  readonly steps: readonly NewStep[];
  readonly claims: readonly Claim[];
  readonly service: string;
  readonly answer: string;
}

async function investigated(organizationId: OrganizationId, content: string): Promise<Investigated> {
  const author = { kind: 'key' as const, id: 'ak_test', name: 'test' };
  const messages = [{ id: newId('msg'), seq: 1, role: 'user' as const, author, time: end, content, parts: [] }];
  const steps: NewStep[] = [];
  let claims: readonly Claim[] = [];
  let service = '';
  let answer = '';
  const assignment = { organizationId, messages, steps: [], askedAt: end };
  for await (const event of agent.investigate(assignment, AbortSignal.timeout(60_000))) {
    if (event.type === 'step') steps.push(event.step);
    if (event.type === 'conclusion') {
      ({ answer } = event);
      ({ claims, service } = event.conclusion);
    }
  }
  return { steps, claims, service, answer };
}

async function rowsOf(organizationId: OrganizationId, sql: string): Promise<readonly (readonly unknown[])[]> {
  const context: ToolContext = {
    principal: {
      kind: 'user',
      subject: 'usr_ann',
      organizationId,
      role: 'member',
      scopes: new Set(['telemetry:read']),
      clientId: 'c',
    },
    signal: AbortSignal.timeout(60_000),
    requestId: 'r',
    traceId: 't',
    logger: silentLogger,
    progress: () => {},
  };
  const { structured } = await tool.run(tool.input.parse({ sql, max_bytes: 1_000_000 }), context);
  return z.object({ rows: queryOtelOutput.shape.rows }).parse(JSON.parse(structuredText(structured))).rows;
}

/** Sums of floats depend on the order in which threads come to an end, in their last digits. */
function rounded(rows: readonly (readonly unknown[])[]): unknown {
  return rows.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(9)) : cell)));
}

async function rerun(organizationId: OrganizationId, question: string): Promise<Investigated> {
  const found = await investigated(organizationId, question);
  const { steps, claims } = found;
  expect(steps.length).toBeGreaterThan(8);
  const evidence = steps.map((step, index): Evidence => ({
    ...step,
    evidence_id: step.evidence_id ?? `E${index + 1}`,
  }));
  expect(claims.filter((claim) => contradicts({ ...claim, status: 'supported' }, evidence))).toEqual([]);
  for (const { sql, rows, error, observation } of steps) {
    expect({ error, observation }).toEqual({ error: undefined, observation });
    expect(rounded(await rowsOf(organizationId, sql))).toEqual(rounded(rows));
  }
  return found;
}

describe('the steps of an investigation', () => {
  it.each(faults)(
    '%s: each is answered, and gives the recorded rows when query_otel runs its SQL',
    async (scenario) => {
      const organizationId = await loadShop(harness.telemetry, optionsOf(scenario));
      await rerun(organizationId, demoQuestion(optionsOf(scenario)));
    },
  );

  it.each([
    ['bad-host', undefined],
    ['new-job', undefined],
    ['silent-callee', 'metrics'],
    ['bad-host', 'metrics'],
    ['new-job', 'metrics'],
    ['pool', 'metrics'],
    ['more-work-borne', 'metrics'],
    ['restart', 'metrics'],
    ['silent-reader', 'logs'],
    ['bad-zone', 'logs'],
    ['cache-collapse', 'logs'],
    ['evening', 'logs'],
  ] as const)('%s of %s alone: as well, and blames who it is', async (scenario: ParcelScenario, only) => {
    const options = { scenario, seed: 4, minutes: 60, end, rate: 30 };
    const organizationId = await loadGenerated(harness.telemetry, generateParcels(options), { end, only });
    const { service } = await rerun(organizationId, parcels[scenario].question);
    const fault: Scenario = parcels[scenario];
    expect(service).toBe(fault.cause ?? '');
  });

  it.each([
    ['bad-host', 43, 'Several services are slow or fail on `sort-b2` alone'],
    ['bad-zone', 43, 'Several services are slow or fail on `north-c` alone'],
    ['few-free-connections', 43, '`depots`'],
    ['pool', 43, 'Calls from `gateway` to `rates` are slow on the way'],
    ['bad-zone', 52, 'Something has changed, and its cause was not found'],
    ['slow-way', 43, 'Nothing stands out in `rates`, but in so few calls a rare fault would not show'],
    ['slower-host', 43, 'Nothing stands out, but in so few calls a rare fault would not show'],
    ['evening', 52, 'Nothing stands out, but in so few calls a rare fault would not show'],
  ] as const)('%s, seed %i, at five requests a minute: %s', async (scenario: ParcelScenario, seed, headline) => {
    const options = { scenario, seed, minutes: 60, end, rate: 5 };
    const organizationId = await loadGenerated(harness.telemetry, generateParcels(options), { end });
    const { answer } = await rerun(organizationId, parcels[scenario].question);
    expect(answer.split('\n')[0]).toContain(headline);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import llm from '../plugins/agent-llm/index.ts';
import playbook from '../plugins/agent-playbook/index.ts';
import { dialect } from '../plugins/telemetry-duckdb/dialect.ts';
import example from '../examples/custom-agent/slowest-operations.ts';
import { agentContract } from './contract/agent.ts';
import { testHost } from './contract/host.ts';
import type { AgentHost } from '../src/contract/agent/index.ts';
import { startModelApi, type Asked, type ModelApi, type Said } from './support/model-api.ts';

const runner = { describe, it, expect, beforeAll, afterAll, beforeEach, afterEach };

async function hostOf(query: AgentHost['query']): Promise<AgentHost> {
  return { ...testHost(await mkdtemp(join(tmpdir(), 'sightline-agent-'))), dialect, query };
}

describe('agent-playbook', () => {
  agentContract(runner, async (query) => {
    const host = await hostOf(query);
    return {
      agent: playbook.create(playbook.configSchema.parse({}), host),
      cleanup: () => rm(host.dataDirectory, { recursive: true }),
    };
  });
});

describe('examples/custom-agent', () => {
  agentContract(runner, async (query) => {
    const host = await hostOf(query);
    return {
      agent: example.create(example.configSchema.parse({}), host),
      cleanup: () => rm(host.dataDirectory, { recursive: true }),
    };
  });
});

describe('agent-llm', () => {
  const hour = { start: '2026-03-01T11:00:00Z', end: '2026-03-01T12:00:00Z' };
  const sql = 'SELECT count(*) AS n FROM otel.spans WHERE time >= {start} AND time < {end}';
  const claims = [{ text: 'Few spans.', evidence_ids: ['E1', 'E99'] }];
  const turns: Said[] = [
    { calls: [{ name: 'make_plan', input: { todo: ['count'] } }] },
    {
      text: 'I count.',
      calls: [
        { name: 'query_otel', input: { question: 'How many?', sql, ...hour, expect: 'rows' } },
        { name: 'list_services', input: hour },
        { name: 'describe', input: { table: 'logs', what: 'attributes' } },
        { name: 'trace_tree', input: { trace_id: 'a'.repeat(32), ...hour } },
        { name: 'look_closer', input: { services: ['payment'], ...hour } },
      ],
    },
    {
      calls: [
        {
          name: 'submit_conclusion',
          input: { root_cause: 'Load.', category: 'resource', service: 'payment', confidence: 'high', claims },
        },
      ],
    },
  ];

  let api: ModelApi;
  beforeAll(async () => {
    api = await startModelApi(({ turn }: Asked) => turns[turn] ?? { status: 400 });
  });
  afterAll(() => api.stop());
  afterEach(() => expect(api.problems).toEqual([]));

  for (const [provider, path] of [
    ['anthropic', ''],
    ['openai', '/v1'],
  ] as const) {
    describe(provider, () => {
      agentContract(runner, async (query) => {
        const host = await hostOf(query);
        const baseline = playbook.create({}, host);
        const config = llm.configSchema.parse({ provider, baseUrl: api.url + path, model: 'scripted', apiKey: 'key' });
        return {
          agent: llm.create(config, { ...host, baseline }),
          cleanup: () => rm(host.dataDirectory, { recursive: true }),
        };
      });
    });
  }
});

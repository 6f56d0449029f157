import { describe, expect, it } from '@jest/globals';
import type { Agent, AgentHost } from '../../contract/agent/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import type { LoadedPlugin } from '../process/registry.ts';
import { dialect } from '../../../plugins/telemetry-duckdb/dialect.ts';
import { createAgent } from './agent-query.ts';

const done: string[] = [];
const signal = AbortSignal.timeout(10_000);

function agentCalled(name: string, well = true): Agent {
  return {
    engine: name,
    start: async () => void done.push(`start ${name}`),
    stop: async () => void done.push(`stop ${name}`),
    health: async () => ({ ok: well, detail: name }),
    async *investigate() {
      yield { type: 'question', question: name };
    },
  };
}

function made(wants: boolean, well = true): Agent {
  done.length = 0;
  const plugin = (label: string, make: (host: AgentHost) => Agent): LoadedPlugin<'agent'> => ({
    name: label,
    label,
    create: make,
  });
  const host = (): AgentHost => ({
    ...testHost('/nowhere'),
    dialect,
    query: async () => ({ columns: [], rows: [], truncated: false, elapsedMs: 0 }),
  });
  return createAgent({
    plugin: plugin('own', (given) => {
      if (wants) expect(given.baseline).toBe(given.baseline);
      return agentCalled('own');
    }),
    baseline: plugin('shipped', (given) => {
      done.push(given.baseline === undefined ? 'made' : 'made with one beneath it');
      return agentCalled('shipped', well);
    }),
    host,
  });
}

describe('the shipped agent beneath another one', () => {
  it('is not made for an agent that does not ask for it', async () => {
    const agent = made(false);
    await agent.start(signal);
    await agent.stop();
    expect(done).toEqual(['start own', 'stop own']);
  });

  it('is made once, lives longer than who asked for it, and has none beneath itself', async () => {
    const agent = made(true);
    expect(agent.engine).toBe('own');
    await agent.start(signal);
    await agent.stop();
    expect(done).toEqual(['made', 'start shipped', 'start own', 'stop own', 'stop shipped']);
  });

  it('counts for the health of who asked for it', async () => {
    expect(await made(true).health(signal)).toEqual({ ok: true, detail: 'own' });
    expect(await made(true, false).health(signal)).toEqual({ ok: false, detail: 'shipped' });
  });
});

import { newId, SightlineError } from '../../src/contract/core/index.ts';
import type { Agent, AgentEvent, AgentHost, Assignment, NewStep } from '../../src/contract/agent/index.ts';
import type { InvestigationStep } from '../../src/contract/storage/index.ts';
import { lifecycleContract } from './lifecycle.ts';
import { rejection, type Runner } from './runner.ts';

export interface AgentUnderTest {
  readonly agent: Agent;
  /** Called after `agent.stop()`. */
  cleanup(): Promise<void>;
}

type Query = AgentHost['query'];

/**
 * The promises of every agent, whatever it thinks with: how it ends, that what it says rests on steps it recorded, that it
 * takes none of them twice, and that it stops when it is told to. `make` gives the agent the query that it is passed.
 */
export function agentContract(runner: Runner, make: (query: Query) => Promise<AgentUnderTest>): void {
  const { describe, it, expect } = runner;
  const organizationId = newId('org');
  const askedAt = new Date('2026-03-01T12:00:00Z');
  const secret = 'relation "other_tenant" does not exist';

  const nothing: Query = async () => ({
    columns: [{ name: 'n', type: 'BIGINT' }],
    rows: [],
    truncated: false,
    elapsedMs: 1,
  });
  const odd: Query = async () => ({
    columns: [
      { name: 'service_name', type: 'VARCHAR' },
      { name: 'x', type: 'VARCHAR' },
    ],
    rows: Array.from({ length: 500 }, (_, index) => [index % 3 === 0 ? null : `\`${index}\`\u0000`, { deep: [null] }]),
    truncated: true,
    elapsedMs: 1,
  });
  const failing: Query = async () => {
    throw new SightlineError('sql_failed', 'The query failed.', { cause: new Error(secret) });
  };
  const hanging: Query = (_organizationId, _sql, { signal }) =>
    new Promise((_resolve, reject) => {
      const stop = () => reject(new SightlineError('query_cancelled', 'The query was cancelled.'));
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });

  const assignment = (steps: readonly InvestigationStep[] = []): Assignment => ({
    organizationId,
    askedAt,
    steps,
    messages: [
      {
        id: newId('msg', askedAt.getTime()),
        seq: 1,
        role: 'user',
        author: { kind: 'key', id: 'ak_test', name: 'test' },
        time: askedAt,
        content: 'Why does checkout fail in the last 30 minutes?',
        parts: [],
      },
    ],
  });

  async function withAgent<T>(query: Query, use: (agent: Agent) => Promise<T>): Promise<T> {
    const { agent, cleanup } = await make(query);
    try {
      await agent.start(AbortSignal.timeout(20_000));
      return await use(agent);
    } finally {
      await agent.stop();
      await cleanup();
    }
  }

  async function eventsOf(agent: Agent, given: Assignment): Promise<readonly AgentEvent[]> {
    const events: AgentEvent[] = [];
    for await (const event of agent.investigate(given, AbortSignal.timeout(60_000))) events.push(event);
    return events;
  }

  describe('agent', () => {
    lifecycleContract(runner, async () => {
      const { agent, cleanup } = await make(nothing);
      return { component: agent, cleanup };
    });

    it('has a name for its engine that fits a column', async () => {
      await withAgent(nothing, async ({ engine }) => {
        expect(engine).toMatch(/^[\w.:/@-]{1,60}$/);
      });
    });

    for (const [answers, query] of [
      ['nothing', nothing],
      ['odd values', odd],
      ['errors', failing],
    ] as const) {
      it(`ends with one conclusion or question when the telemetry answers ${answers}`, async () => {
        await withAgent(query, async (agent) => {
          const events = await eventsOf(agent, assignment());
          const ends = events.filter(({ type }) => type === 'conclusion' || type === 'question' || type === 'answer');
          expect(ends).toHaveLength(1);
          expect(events.at(-1)).toBe(ends[0]);
        });
      });

      it(`records steps that can be kept, and cites no others, when the telemetry answers ${answers}`, async () => {
        await withAgent(query, async (agent) => {
          const events = await eventsOf(agent, assignment());
          const steps = stepsOf(events);
          const ids = steps.map((step, index) => step.evidence_id ?? `E${index + 1}`);
          expect(new Set(ids).size).toBe(ids.length);
          for (const step of steps) {
            expect(step.question.length).toBeGreaterThan(0);
            expect(step.sql.length).toBeGreaterThan(0);
            expect(step.rows.length).toBeLessThanOrEqual(50);
            expect(Date.parse(step.window.start)).toBeLessThan(Date.parse(step.window.end));
          }
          for (const event of events) {
            if (event.type !== 'conclusion') continue;
            expect(event.answer.length).toBeGreaterThan(0);
            for (const claim of event.conclusion.claims) {
              for (const id of claim.evidence_ids) expect(ids).toContain(id);
            }
          }
        });
      });
    }

    it("keeps the engine's own messages to itself", async () => {
      await withAgent(failing, async (agent) => {
        expect(JSON.stringify(await eventsOf(agent, assignment())).includes(secret)).toBe(false);
      });
    });

    it('takes no recorded step again', async () => {
      await withAgent(nothing, async (agent) => {
        const first = stepsOf(await eventsOf(agent, assignment()));
        const recorded = first.map((step, index): InvestigationStep => {
          const id = `E${index + 1}`;
          return Object.assign({ evidence_id: id, seq: index + 1, recorded_at: askedAt.toISOString() }, step);
        });
        expect(stepsOf(await eventsOf(agent, assignment(recorded)))).toEqual([]);
      });
    });

    it('stops when its signal is aborted', async () => {
      await withAgent(hanging, async (agent) => {
        const stop = new AbortController();
        const run = (async () => {
          for await (const event of agent.investigate(assignment(), stop.signal)) {
            if (event.type === 'conclusion') throw new TypeError('it concluded without an answer');
          }
        })();
        setTimeout(() => stop.abort(new Error('stopped')), 50);
        const error = await rejection(run);
        expect(error instanceof TypeError).toBe(false);
      });
    }, 10_000);
  });
}

function stepsOf(events: readonly AgentEvent[]): readonly NewStep[] {
  return events.flatMap((event) => (event.type === 'step' ? [event.step] : []));
}

import { setTimeout as delay } from 'node:timers/promises';
import llm from '../../plugins/agent-llm/index.ts';
import playbook from '../../plugins/agent-playbook/index.ts';
import { Harness } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from '../contract/host.ts';
import { newId, SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import type { Agent, AgentEvent, AgentHost, AgentRows, Assignment } from '../../src/contract/agent/index.ts';
import type { ChatMessage, InvestigationStep } from '../../src/contract/storage/index.ts';
import { createQueryPipeline } from '../../src/telemetry/query/pipeline.ts';
import { startModelApi, type ModelApi, type Script } from './model-api.ts';

export const askedAt = new Date('2026-03-01T12:00:00Z');
export const ago = (minutes: number): Date => new Date(askedAt.getTime() - minutes * 60_000);
export const lastHour = { start: ago(60).toISOString(), end: askedAt.toISOString() };

/** One investigation as the core would keep it. */
export interface Investigated {
  readonly events: readonly AgentEvent[];
  readonly steps: readonly InvestigationStep[];
  readonly progress: readonly string[];
  readonly question: string | undefined;
  readonly end: Extract<AgentEvent, { type: 'conclusion' }> | undefined;
}

export interface Asking {
  readonly organizationId: OrganizationId;
  readonly messages?: readonly ChatMessage[];
  readonly assignment?: Partial<Assignment>;
  readonly script?: Script;
  readonly limits?: object;
  readonly mcpServers?: object;
  readonly provider?: Provider;
  /** The playbook alone. */
  readonly withoutModel?: true;
  readonly signal?: AbortSignal;
}

/** Which API the model is spoken to by. */
type Provider = 'anthropic' | 'chat' | 'responses';
const openai = { provider: 'openai' };

/** agent-llm over the real gate and the embedded warehouse, with a model on the loopback that follows a script. */
export class LlmLaboratory {
  readonly harness: Harness;
  readonly api: ModelApi;
  /** Of each query that an agent put to the telemetry. */
  readonly asked: { readonly organizationId: OrganizationId; readonly sql: string }[] = [];
  /** A query with this in it meets a telemetry that is broken. */
  breaksAt: string | undefined;
  /** How long the telemetry takes for each query, beside what it takes. */
  slowness = 0;
  readonly #host: AgentHost;

  private constructor(harness: Harness, api: ModelApi) {
    this.harness = harness;
    this.api = api;
    const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => askedAt });
    const query = agentQuery(pipeline);
    // The playbook asks the same of the same rows in each investigation.
    const answers = new Map<string, Promise<AgentRows>>();
    this.#host = {
      ...testHost(harness.directory, { now: () => askedAt }),
      dialect: harness.telemetry.dialect,
      query: async (organizationId, sql, options) => {
        await delay(this.slowness);
        this.asked.push({ organizationId, sql });
        if (this.breaksAt !== undefined && sql.includes(this.breaksAt)) {
          throw new SightlineError('internal', 'The telemetry is broken.');
        }
        const key = `${organizationId} ${sql}`;
        const answer = answers.get(key) ?? query(organizationId, sql, options);
        answers.set(key, answer);
        answer.catch(() => answers.delete(key));
        return answer;
      },
    };
  }

  static async start(): Promise<LlmLaboratory> {
    return new LlmLaboratory(await Harness.start(), await startModelApi(() => ({})));
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.harness.stop();
  }

  agent(provider: Provider = 'anthropic', limits: object = {}, url = this.api.url, mcpServers: object = {}): Agent {
    const api =
      provider === 'anthropic' ? { provider, baseUrl: url } : { ...openai, api: provider, baseUrl: `${url}/v1` };
    return this.agentWith(
      llm.configSchema.parse({ ...api, model: 'scripted', apiKey: 'sk-secret', limits, mcpServers }),
    );
  }

  agentWith(config: Parameters<typeof llm.create>[0]): Agent {
    return llm.create(config, { ...this.#host, baseline: playbook.create({}, this.#host) });
  }

  async investigate(asking: Asking): Promise<Investigated> {
    if (asking.script) this.api.say(asking.script);
    const agent = asking.withoutModel
      ? playbook.create({}, this.#host)
      : this.agent(asking.provider, asking.limits, undefined, asking.mcpServers);
    return run(agent, asking);
  }
}

export async function run(
  agent: Agent,
  { organizationId, messages = [saying('Why does checkout fail?')], assignment = {}, signal }: Asking,
): Promise<Investigated> {
  const given: Assignment = { organizationId, messages, askedAt, steps: [], ...assignment };
  const events: AgentEvent[] = [];
  const steps: InvestigationStep[] = [...given.steps];
  for await (const event of agent.investigate(given, signal ?? AbortSignal.timeout(60_000))) {
    events.push(event);
    if (event.type !== 'step') continue;
    const seq = steps.length + 1;
    // As it comes back from storage.
    steps.push(JSON.parse(JSON.stringify({ evidence_id: `E${seq}`, ...event.step, seq, recorded_at: askedAt })));
  }
  return {
    events,
    steps,
    progress: events.flatMap((event) => (event.type === 'progress' ? [event.message] : [])),
    question: events.flatMap((event) => (event.type === 'question' ? [event.question] : []))[0],
    end: events.find((event) => event.type === 'conclusion'),
  };
}

export function saying(content: string, more: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: newId('msg', askedAt.getTime()),
    seq: 1,
    role: 'user',
    author: { kind: 'key', id: 'ak_asker', name: 'asker' },
    time: askedAt,
    content,
    parts: [],
    ...more,
  };
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import type { AgentHost, Agent } from '../../contract/agent/index.ts';
import type { QueryPipeline } from '../../telemetry/query/pipeline.ts';
import type { LoadedPlugin } from '../process/registry.ts';

interface AgentParts {
  readonly plugin: LoadedPlugin<'agent'>;
  /** The shipped agent that needs no model. */
  readonly baseline: LoadedPlugin<'agent'>;
  readonly host: (label: string) => AgentHost;
}

/** The configured agent; where it asks for the shipped one beneath it, the two live and end together. */
export function createAgent({ plugin, baseline: shipped, host }: AgentParts): Agent {
  const made: { baseline?: Agent } = {};
  const agent = plugin.create({
    ...host(plugin.label),
    get baseline() {
      return (made.baseline ??= shipped.create(host(shipped.label)));
    },
  });
  const { baseline } = made;
  return baseline === undefined ? agent : together(agent, baseline);
}

function together(agent: Agent, baseline: Agent): Agent {
  return {
    engine: agent.engine,
    async start(signal) {
      await baseline.start(signal);
      await agent.start(signal);
    },
    async stop() {
      try {
        await agent.stop();
      } finally {
        await baseline.stop();
      }
    },
    async health(signal) {
      const beneath = await baseline.health(signal);
      return beneath.ok ? agent.health(signal) : beneath;
    },
    investigate: (assignment, signal) => agent.investigate(assignment, signal),
  };
}

const rowsShape = z.array(z.array(z.unknown()));

/** The agent asks through the same gate, limits and boundary as a client does. */
export function agentQuery(pipeline: QueryPipeline): AgentHost['query'] {
  return async (organizationId, sql, { signal, limits }) => {
    // There is no request, so each statement gets its own id.
    const requestId = randomUUID();
    const asked = pipeline.run({
      organizationId,
      sql,
      reader: 'agent',
      label: { principal: 'agent', tool: 'investigation', traceId: requestId },
      signal,
      requestId,
      ...(limits ? { limits } : {}),
    });
    const result = await asked.catch((error: unknown) => {
      throw crowded(error);
    });
    return {
      columns: result.columns,
      rows: rowsShape.parse(JSON.parse(`[${result.rowsJson.toString()}]`)),
      truncated: result.truncated,
      elapsedMs: result.elapsedMs,
    };
  };
}

/** To an agent it is all one why the warehouse has no time for it. */
function crowded(error: unknown): unknown {
  if (!(error instanceof SightlineError) || (error.code !== 'rate_limited' && error.code !== 'overloaded'))
    return error;
  const { message, hint, retryAfterSeconds } = error;
  return new SightlineError('telemetry_unavailable', message, {
    ...(hint !== undefined && { hint }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: error,
  });
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import type { AgentHost } from '../../contract/agent/index.ts';
import type { QueryPipeline } from '../../telemetry/query/pipeline.ts';

const rowsShape = z.array(z.array(z.unknown()));

/** The agent asks through the same gate, limits and boundary as a client does. */
export function agentQuery(pipeline: QueryPipeline): AgentHost['query'] {
  return async (organizationId, sql, { signal, limits }) => {
    // No request stands behind it, so each statement is told from the others by an id of its own.
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

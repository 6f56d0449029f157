import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AgentHost } from '../contract/index.ts';
import type { QueryPipeline } from '../sql/pipeline.ts';

const rowsShape = z.array(z.array(z.unknown()));

/** The agent asks through the same gate, limits and boundary as a client does. */
export function agentQuery(pipeline: QueryPipeline): AgentHost['query'] {
  return async (organizationId, sql, { signal, limits }) => {
    // No request stands behind it, so each statement is told from the others by an id of its own.
    const requestId = randomUUID();
    const result = await pipeline.run({
      organizationId,
      sql,
      reader: 'agent',
      label: { principal: 'agent', tool: 'investigation', traceId: requestId },
      signal,
      requestId,
      ...(limits ? { limits } : {}),
    });
    return {
      columns: result.columns,
      rows: rowsShape.parse(JSON.parse(`[${result.rowsJson}]`)),
      truncated: result.truncated,
      elapsedMs: result.elapsedMs,
    };
  };
}

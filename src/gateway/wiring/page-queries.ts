import { z } from 'zod';
import { ClientGone, isErrorCode } from '../../contract/core/index.ts';
import type { Principal } from '../../contract/issuer/index.ts';
import type { Dialect } from '../../contract/telemetry/index.ts';
import type { Mcp } from '../../mcp/handler.ts';
import { queryOtelOutput } from '../../tools/query-otel/schema.ts';
import type { QueryFailure, TelemetryQueries } from '../../web/services.ts';

/** What of a JSON-RPC answer to query_otel a page shows. */
const answer = z.union([
  z.object({ result: z.object({ structuredContent: queryOtelOutput }) }),
  z.object({ result: z.object({ isError: z.literal(true), content: z.tuple([z.object({ text: z.string() })]) }) }),
  z.object({
    error: z.object({
      message: z.string(),
      data: z.object({ code: z.string(), hint: z.string().optional(), request_id: z.string().optional() }).optional(),
    }),
  }),
]);

const toolFailure = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retry: z.record(z.string(), z.unknown()).optional(),
  request_id: z.string(),
});

/** query_otel for a person at a page: the call that their client would make, and in the audit as theirs. */
export function queriesOfPages(mcp: Pick<Mcp, 'call'>, dialect: Dialect): TelemetryQueries {
  return {
    dialect,
    async run({ user, organization, role, request, response }, sent) {
      const caller: Principal = {
        kind: 'user',
        subject: user.id,
        organizationId: organization.id,
        role,
        // Any member may give it to a client of theirs, so there is none without it.
        scopes: new Set(['telemetry:read']),
        clientId: 'pages',
        email: user.email,
      };
      const text = await mcp.call(caller, { name: 'query_otel', arguments: { ...sent } }, { request, response });
      const read = answer.parse(JSON.parse(text));
      if ('error' in read) {
        const { message, data } = read.error;
        return failure({ ...data, code: data?.code ?? 'internal', message });
      }
      if ('structuredContent' in read.result) return { ok: true, result: read.result.structuredContent };
      return failure(toolFailure.parse(JSON.parse(read.result.content[0].text)));
    },
  };
}

function failure({ code, ...rest }: Omit<QueryFailure, 'code'> & { readonly code: string }) {
  const known = isErrorCode(code) ? code : 'internal';
  // The browser went away while the statement ran.
  if (known === 'query_cancelled') throw new ClientGone();
  return { ok: false, failure: { ...rest, code: known } } as const;
}

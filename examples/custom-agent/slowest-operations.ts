import { apiVersion, definePlugin, SightlineError, type OrganizationId } from 'sightline/contract/core';
import type { Agent, AgentHost, Assignment, NewStep } from 'sightline/contract/agent';
import { z } from 'zod';

const configSchema = z.strictObject({
  hours: z.int().min(1).max(168).default(1),
  top: z.int().min(1).max(20).default(5),
});

/** An agent of your own: it answers every chat with the slowest operations of the last hours, and the SQL that found them. */
export default definePlugin({
  kind: 'agent',
  name: 'slowest-operations',
  apiVersion,
  configSchema,
  create({ hours, top }, { dialect, query }: AgentHost): Agent {
    let running = false;
    return {
      engine: 'slowest-operations',
      async start(signal) {
        signal.throwIfAborted();
        running = true;
      },
      async stop() {
        running = false;
      },
      health: async () => ({ ok: running }),

      async *investigate({ organizationId, askedAt, steps }: Assignment, signal) {
        const start = new Date(askedAt.getTime() - hours * 3_600_000);
        const { literal, quantile } = dialect.write;
        const p95 = quantile('duration_nano / 1e6', 0.95);
        const sql =
          `SELECT service_name, name, count(*) AS calls, ${p95} AS p95_ms FROM otel.spans ` +
          `WHERE time >= ${literal(start)} AND time < ${literal(askedAt)} ` +
          `GROUP BY service_name, name ORDER BY p95_ms DESC LIMIT ${top}`;

        // After a crash the recorded step is here already, and must not be run a second time.
        let step: NewStep | undefined = steps[0];
        if (step === undefined) {
          step = {
            question: 'Which operations are slowest?',
            sql,
            dialect: dialect.name,
            window: { start: start.toISOString(), end: askedAt.toISOString() },
            ...(await ask(organizationId, sql, signal)),
          };
          yield { type: 'step', step };
        }

        const found = step.rows.map((row) => {
          const [service, name, calls, ms] = row.map(String);
          return `- \`${service} ${name}\`: ${ms} ms (${calls} calls)`;
        });
        const nothing = step.error === undefined ? 'There are no spans. [E1]' : 'The telemetry did not answer. [E1]';
        yield {
          type: 'conclusion',
          answer: found.length > 0 ? `The slowest operations [E1]:\n\n${found.join('\n')}` : nothing,
          conclusion: { root_cause: '', category: 'report', service: '', confidence: 'none', claims: [] },
        };
      },
    };

    /** A query that fails is a step, too. Its cause is for the log: the message alone is for those who read the answer. */
    async function ask(organizationId: OrganizationId, sql: string, signal: AbortSignal) {
      const begun = performance.now();
      try {
        const result = await query(organizationId, sql, { signal });
        const rows = result.rows.slice(0, top);
        return {
          columns: result.columns.map(({ name }) => name),
          rows,
          row_count: rows.length,
          observation: `${rows.length} operations found`,
          verdict: 'neutral' as const,
          elapsed_ms: result.elapsedMs,
        };
      } catch (error) {
        signal.throwIfAborted();
        const message = error instanceof SightlineError ? error.message : 'The query failed.';
        return {
          columns: [],
          rows: [],
          row_count: 0,
          observation: 'It was not answered',
          verdict: 'neutral' as const,
          elapsed_ms: performance.now() - begun,
          error: message,
        };
      }
    }
  },
});

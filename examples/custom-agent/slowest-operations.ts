import { apiVersion, definePlugin } from 'sightline/contract/core';
import type { Agent, AgentHost, Assignment } from 'sightline/contract/agent';
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
    return {
      engine: 'slowest-operations',
      start: async () => {},
      stop: async () => {},
      health: async () => ({ ok: true }),

      async *investigate({ organizationId, askedAt, steps }: Assignment, signal) {
        const start = new Date(askedAt.getTime() - hours * 3_600_000);
        const { literal, quantile } = dialect.write;
        const p95 = quantile('duration_nano / 1e6', 0.95);
        const sql =
          `SELECT service_name, name, count(*) AS calls, ${p95} AS p95_ms FROM otel.spans ` +
          `WHERE time >= ${literal(start)} AND time < ${literal(askedAt)} ` +
          `GROUP BY service_name, name ORDER BY p95_ms DESC LIMIT ${top}`;

        // After a crash the recorded step is here already, and must not be run a second time.
        let rows = steps[0]?.rows;
        if (rows === undefined) {
          const result = await query(organizationId, sql, { signal });
          ({ rows } = result);
          yield {
            type: 'step',
            step: {
              question: 'Which operations are slowest?',
              sql,
              dialect: dialect.name,
              window: { start: start.toISOString(), end: askedAt.toISOString() },
              columns: result.columns.map(({ name }) => name),
              rows,
              row_count: rows.length,
              observation: `${rows.length} operations found`,
              verdict: 'neutral',
              elapsed_ms: result.elapsedMs,
            },
          };
        }

        const answer = rows.map((row) => {
          const [service, name, calls, ms] = row.map(String);
          return `- \`${service} ${name}\`: ${ms} ms (${calls} calls)`;
        });
        yield {
          type: 'conclusion',
          answer: answer.length > 0 ? `The slowest operations [E1]:\n\n${answer.join('\n')}` : 'There are no spans.',
          conclusion: { root_cause: '', category: 'report', service: '', confidence: 'none', claims: [] },
        };
      },
    };
  },
});

import { z } from 'zod';
import { tableNames } from '../../../src/contract/telemetry/index.ts';
import { asked, lookingTool } from './tool.ts';

/** The service samples the last day for keys. */
const day = 86_400_000;

export const describeTable = lookingTool({
  name: 'describe',
  description: 'The columns of a table with their meaning, or the attribute keys that occur in it.',
  input: z.strictObject({
    table: z.enum(tableNames),
    what: z.enum(['columns', 'attributes']),
    like: z
      .string()
      .regex(/^[\w.%/-]{1,80}$/)
      .optional()
      .describe("Of attributes: a LIKE pattern such as 'http.%'"),
  }),
  async *run({ table, what, like }, desk) {
    const { dialect, now } = desk.host;
    if (what === 'columns') {
      const columns = dialect.tables.find(({ name }) => name === table)?.columns ?? [];
      const lines = columns.map(({ name, type, description }) => `${name} ${dialect.typeName(type)} ${description}`);
      return { text: `otel.${table}\n${lines.join('\n')}\nAttributes: ${dialect.attributeHint}` };
    }
    const pattern = like === undefined ? '' : ` LIKE '${like}'`;
    return yield* asked(desk, {
      question: `Which attributes are there in \`otel.${table}\`?`,
      sql: `SHOW ATTRIBUTES FROM otel.${table}${pattern}`,
      window: { start: new Date(now().getTime() - day), end: now() },
    });
  },
});

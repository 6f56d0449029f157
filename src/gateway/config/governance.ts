import { z } from 'zod';
import { nearestName } from '../../contract/core/spelling.ts';
import { otelTables, tableNames, type LogicalColumn } from '../../contract/telemetry/index.ts';

/** What every query is bounded and every trace is followed by. */
const free = new Set(['time', 'trace_id', 'span_id', 'parent_span_id']);

const rule = z
  .strictObject({
    roles: z
      .array(z.enum(['admin', 'member', 'key', 'agent']))
      .min(1)
      .optional()
      .describe(
        'Roles that the rule applies to; all by default. Every rule applies to the agent, since everybody reads its findings',
      ),
    tables: z.array(z.enum(tableNames)).min(1).optional().describe('Tables that the rule applies to; all by default'),
    columns: z.array(z.string().min(1)).min(1).optional().describe('Names of columns'),
    attributes: z
      .array(z.string().min(1).max(256))
      .min(1)
      .optional()
      .describe('Attribute keys; a * at the end matches any ending: http.request.header.*'),
    action: z
      .enum(['deny', 'mask', 'hash'])
      .describe('If several rules apply, the strictest wins: deny, then mask, then hash'),
  })
  .superRefine((given, context) => {
    const wrong = (message: string, ...path: (string | number)[]): void =>
      context.addIssue({ code: 'custom', message, path });
    if (given.columns === undefined && given.attributes === undefined) wrong('rules neither columns nor attributes');
    given.columns?.forEach((name, index) => {
      const why = whyNot(name, given.tables ?? tableNames, given.action);
      if (why !== undefined) wrong(why, 'columns', index);
    });
    given.attributes?.forEach((key, index) => {
      if (key.slice(0, -1).includes('*')) wrong('has a * before its end', 'attributes', index);
    });
  });

/** What callers may not read as it is, by role; compiled in src/telemetry/query. */
export const governanceSchema = z
  .strictObject({ rules: z.array(rule).max(1_000).default([]).describe('Each for some roles, columns or attributes') })
  .prefault({})
  .describe('Columns and attributes that are hidden, masked or hashed');

function whyNot(
  name: string,
  tables: readonly (keyof typeof otelTables)[],
  action: 'deny' | 'mask' | 'hash',
): string | undefined {
  if (free.has(name)) return `${name} cannot be ruled: queries are bounded and traces followed by it`;
  const found = tables.flatMap((table): readonly LogicalColumn[] =>
    otelTables[table].columns.filter((column) => column.name === name),
  );
  if (found.length === 0) {
    const near = nearestName(
      name,
      tables.flatMap((table) => otelTables[table].columns.map((column) => column.name)),
    );
    const repair = near === undefined ? '; an attribute is ruled by attributes' : `. Did you mean ${near}?`;
    return `no column of ${tables.map((table) => `otel.${table}`).join(', ')}${repair}`;
  }
  if (action === 'hash' && found.some(({ type }) => type !== 'string'))
    return 'is no text, and only text can be hashed';
  return undefined;
}

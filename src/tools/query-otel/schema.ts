import { z } from 'zod';
import { defaultPipelineLimits } from '../../telemetry/query/pipeline.ts';
import { timeArgument } from '../time.ts';

export interface QueryOtelLimits {
  readonly defaultRows: number;
  readonly maxRows: number;
  /** Of serialized rows, UTF-8. */
  readonly defaultBytes: number;
  readonly maxBytes: number;
}

export const defaultQueryOtelLimits: QueryOtelLimits = {
  defaultRows: 500,
  maxRows: defaultPipelineLimits.maxRows,
  // With what stands around the rows the answer has at most 40,000 characters, which no client cuts.
  defaultBytes: 36_000,
  maxBytes: defaultPipelineLimits.maxBytes,
};

export type QueryOtelInputSchema = ReturnType<typeof queryOtelInput>;
export type QueryOtelInput = z.output<QueryOtelInputSchema>;

/** @param manual how to write the SQL: clients cut a tool's description, and none that of an argument. */
export function queryOtelInput(limits: QueryOtelLimits, manual: string) {
  return z.strictObject({
    sql: z.string().optional().describe(manual),
    start: timeArgument.optional().describe('Only rows from this time on: RFC 3339, epoch ms, or now-1h'),
    end: timeArgument.optional().describe('Only rows before this time'),
    max_rows: z.int().min(1).max(limits.maxRows).optional().describe(`Default ${limits.defaultRows}`),
    max_bytes: z.int().min(1000).max(limits.maxBytes).optional().describe(`Of rows; default ${limits.defaultBytes}`),
    result_id: z.string().min(1).max(64).optional().describe('Instead of sql: read on in a cut result'),
    offset: z.int().min(0).max(1_000_000).optional().describe('With result_id: rows to skip'),
    contains: z.string().min(1).max(256).optional().describe('With result_id: only rows with this text'),
  });
}

/** The bounds are not worth their place in the listed schema. */
const countOfRows = z.int().refine((count) => count >= 0 && count <= defaultPipelineLimits.maxRows);

/** What a model needs to go on stands before the rows: clients show the beginning of a long result, and some this form alone. */
export const queryOtelOutput = z.object({
  row_count: countOfRows,
  truncated: z.boolean(),
  truncation: z
    .object({
      reason: z.enum(['rows', 'bytes', 'cell']),
      returned: countOfRows,
      hint: z.string(),
    })
    .optional(),
  result_id: z.string().optional().describe('Kept ten minutes'),
  warnings: z.array(z.string()),
  window: z
    .object({
      start: z.string().optional(),
      end: z.string().optional(),
      source: z.enum(['argument', 'predicates', 'default']),
    })
    .optional(),
  dialect: z.string(),
  elapsed_ms: z.number(),
  bytes_scanned: z.number().optional(),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      untrusted: z.literal(true).optional(),
    }),
  ),
  rows: z.array(z.array(z.unknown())),
});

import { z } from 'zod';
import { mappingSchema, tenancySchema, type SqlHelpers } from '../../src/contract/telemetry/index.ts';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { DryRun } from './jobs.ts';

/** BigQuery names no more tables than this. */
const mostTablesNamed = 50;

/** Throws unless BigQuery's dry run agrees with the gate: a second check, by the engine's own parser. */
export function checkDryRun(found: DryRun, allowed: ReadonlySet<string>, helpers: SqlHelpers): void {
  if (found.statementType !== 'SELECT') {
    throw helpers.refuse('sql_not_read_only', 'Only a single SELECT is let through.');
  }
  const foreign = found.tables.some((table) => !allowed.has(table));
  if (foreign || found.tables.length >= mostTablesNamed) {
    throw helpers.refuse('sql_refused', 'The statement reads something else than telemetry.', {
      hint: 'The tables are otel.spans, otel.metrics, otel.logs.',
    });
  }
  if (found.routines > 0) {
    throw helpers.refuse('sql_refused', 'The statement calls a routine.', { hint: 'Use GoogleSQL’s own functions.' });
  }
  if (found.parameters > 0) {
    throw helpers.refuse('sql_refused', 'The statement has parameters.', {
      hint: 'Write the values into the statement.',
    });
  }
}

export function checkCost(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooCostly(bytes, maxBytes);
}

export function tooCostly(bytes: number | undefined, maxBytes: number, cause?: unknown): SightlineError {
  const would = bytes === undefined ? 'more' : sizeText(bytes);
  return new SightlineError('query_too_costly', `The query would read ${would}; ${sizeText(maxBytes)} is the most.`, {
    hint: 'Narrow the time window and name the columns you need instead of *.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function sizeText(bytes: number): string {
  if (bytes >= 1e12) return `${(bytes / 1e12).toFixed(1)} TB`;
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}

/** As labels of jobs are in BigQuery. */
const labelKey = z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, _ and -, 63 at most');
const labelValue = z.string().regex(/^[a-z0-9_-]{0,63}$/, 'lower-case letters, digits, _ and -, 63 at most');
const projectId = z.string().regex(/^[a-z][a-z0-9.:-]{2,61}[a-z0-9]$/, 'a project id');

const identity = z.strictObject({
  keyFilename: z
    .string()
    .min(1)
    .optional()
    .describe('Credential file: a key, workload identity federation or impersonation; without it the machine’s own.'),
  projectId: projectId.optional().describe('Project that its jobs run in and are billed to.'),
});

export const configSchema = z
  .strictObject({
    projectId: projectId.describe('Project that jobs run in and are billed to.'),
    location: z
      .string()
      .regex(/^[A-Za-z0-9-]{2,40}$/)
      .default('US')
      .describe('Where the datasets are: US, EU, europe-west1, …'),
    datasets: z
      .array(z.string().regex(/^([a-z][a-z0-9.:-]*\.)?[A-Za-z0-9_]{1,1024}$/))
      .default([])
      .describe('Where `sightline telemetry inspect` looks: dataset or project.dataset.'),
    keyFilename: identity.shape.keyFilename,
    apiEndpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Of a private endpoint; without it Google’s own.'),
    mapping: mappingSchema.prefault({}),
    tenancy: tenancySchema,
    boundary: z
      .enum(['none', 'secure_context', 'views', 'connection'])
      .default('none')
      .describe(
        'What BigQuery itself keeps organizations apart by: authorized views over SECURE_CONTEXT, a dataset or tables of ' +
          'its own for each, or a service account for each.',
      ),
    isolation: z
      .enum(['layered', 'degraded'])
      .default('layered')
      .describe('degraded: serve although only the statement itself keeps organizations apart.'),
    secureContextKey: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/)
      .default('sightline_tenant')
      .describe('What the views ask SECURE_CONTEXT for.'),
    connections: z.record(z.string().min(1), identity).default({}).describe('Service account by tenant.'),
    maxBytesBilled: z.coerce
      .number()
      .int()
      .min(10_485_760)
      .max(Number.MAX_SAFE_INTEGER)
      .default(20_000_000_000)
      .describe('What one statement may read; BigQuery bills 10 MB at least.'),
    labels: z
      .record(labelKey, labelValue)
      .default({})
      .refine((labels) => Object.keys(labels).length <= 56, '56 at most; the rest are ours')
      .describe('Put on every job besides principal, tool and trace.'),
  })
  .superRefine((config, context) => {
    const { boundary, tenancy, connections } = config;
    const { mode } = tenancy.boundary;
    const wrong = (path: PropertyKey[], message: string) => {
      context.addIssue({ code: 'custom', path, message });
    };
    if (mode === 'database' || mode === 'schema') {
      wrong(['tenancy', 'boundary', 'mode'], `BigQuery has no ${mode}: write dataset or table_template.`);
    }
    if ((mode === 'connection') !== (boundary === 'connection') && (mode === 'connection' || mode === 'none')) {
      wrong(['boundary'], 'A tenancy of connections needs the boundary connection, and one without tenants none.');
    }
    if (boundary === 'views' && mode !== 'dataset' && mode !== 'table_template') {
      wrong(['boundary'], 'Views of each organization are found by its name: tenancy mode dataset or table_template.');
    }
    if (boundary === 'connection' && Object.keys(connections).length === 0) {
      wrong(['connections'], 'Name the service account of each tenant.');
    }
  });

export type BigqueryConfig = z.output<typeof configSchema>;

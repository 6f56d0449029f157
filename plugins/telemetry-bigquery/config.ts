import { z } from 'zod';
import { wholeNumber } from '../../src/contract/core/index.ts';
import { type MappingPreset, mappingWith, tenancySchema } from '../../src/contract/telemetry/index.ts';
import { googleCloud } from './presets/google-cloud.ts';
import { otelCollector } from './presets/otel-collector.ts';

export const presets: readonly MappingPreset[] = [googleCloud, otelCollector];

/** As labels of jobs are in BigQuery. */
const labelKey = z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, _ and -, 63 at most');
const labelValue = z.string().regex(/^[a-z0-9_-]{0,63}$/, 'lower-case letters, digits, _ and -, 63 at most');
const projectId = z
  .string()
  .regex(/^[a-z][a-z0-9.:-]{2,61}[a-z0-9]$/, 'must be the id of a project, such as my-project-123');

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
    mapping: mappingWith(presets).prefault({}),
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
    maxBytesBilled: wholeNumber(10_485_760, Number.MAX_SAFE_INTEGER)
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

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
    .describe(
      'Credential file: a key, workload identity federation or impersonation; by default the credentials of the machine',
    ),
  projectId: projectId.optional().describe('Project in which its jobs run and which is billed'),
});

export const configSchema = z
  .strictObject({
    projectId: projectId.describe('Project in which jobs run and which is billed'),
    location: z
      .string()
      .regex(/^[A-Za-z0-9-]{2,40}$/)
      .default('US')
      .describe('Location of the datasets: US, EU, europe-west1, …'),
    datasets: z
      .array(z.string().regex(/^([a-z][a-z0-9.:-]*\.)?[A-Za-z0-9_]{1,1024}$/))
      .default([])
      .describe('Datasets that `sightline telemetry inspect` looks at: dataset or project.dataset'),
    keyFilename: identity.shape.keyFilename,
    apiEndpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('URL of a private endpoint'),
    mapping: mappingWith(presets).prefault({}),
    tenancy: tenancySchema,
    boundary: z
      .enum(['none', 'secure_context', 'views', 'connection'])
      .default('none')
      .describe(
        'How BigQuery itself separates organizations: authorized views over SECURE_CONTEXT, a dataset or tables for ' +
          'each, or a service account for each',
      ),
    isolation: z
      .enum(['layered', 'degraded'])
      .default('layered')
      .describe('degraded serves although only the rewritten statement separates organizations'),
    secureContextKey: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/)
      .default('sightline_tenant')
      .describe('Key that the views read from SECURE_CONTEXT'),
    connections: z.record(z.string().min(1), identity).default({}).describe('Service account of each tenant'),
    maxBytesBilled: wholeNumber(10_485_760, Number.MAX_SAFE_INTEGER)
      .default(20_000_000_000)
      .describe('Bytes that one statement may read; BigQuery bills at least 10 MB'),
    labels: z
      .record(labelKey, labelValue)
      .default({})
      .refine((labels) => Object.keys(labels).length <= 56, '56 at most; the rest are ours')
      .describe('Labels of every job, in addition to principal, tool and trace'),
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

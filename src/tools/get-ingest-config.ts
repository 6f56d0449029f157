import { z } from 'zod';
import { defineTool, type OrganizationId, type Tool } from '../contract/core/index.ts';
import { toolResult } from './result.ts';
import { headerList, setupFiles, startLines, type IngestConfig } from './sender-setups.ts';
import { members } from './views.ts';

export interface IngestSource {
  config(organizationId: OrganizationId): Promise<IngestConfig>;
}

const output = z.object({
  endpoint: z.string(),
  protocol: z.string(),
  grpc_endpoint: z.string().optional(),
  signals: members('traces, metrics, logs'),
  headers: members('x-api-key'),
  token: z.string(),
  env: members('OTEL_*'),
  collector_yaml: z.string(),
  setups: members('by sender'),
});

interface IngestDescription extends Omit<IngestConfig, 'grpcEndpoint'> {
  readonly grpc_endpoint?: string;
  readonly signals: Readonly<Record<'traces' | 'metrics' | 'logs', string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly collector_yaml: string;
  /** By language what to install and start; by product its configuration. */
  readonly setups: Readonly<Record<string, string>>;
}

export function createGetIngestConfig({ ingest }: { readonly ingest: IngestSource }): Tool {
  return defineTool({
    name: 'get_ingest_config',
    title: 'Get ingest config',
    description:
      'Where and with which token to send OpenTelemetry (OTLP): endpoint, headers, OTEL_* variables, collector ' +
      'YAML, what to start. The token can only write telemetry; treat it as a secret. Example: {}.',
    scope: 'ingest:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({}),
    output,
    async run(_args, { principal }) {
      const structured = describeIngest(await ingest.config(principal.organizationId));
      const env = Object.entries(structured.env).map(([name, value]) => `${name}=${value}`);
      const signals = Object.entries(structured.signals).map(([name, url]) => `${name}: ${url}`);
      const setups = Object.entries({ collector: structured.collector_yaml, ...structured.setups });
      return toolResult(structured, [
        ...env,
        '',
        ...signals,
        ...(structured.grpc_endpoint === undefined ? [] : [`over gRPC: ${structured.grpc_endpoint}`]),
        `token: ${structured.token}`,
        ...setups.flatMap(([name, text]) => ['', `# ${name}`, text]),
      ]);
    },
  });
}

/** Everything a sender may want, from the endpoint and the token: what the tool, the page and `ingest show` print. */
export function describeIngest(config: IngestConfig): IngestDescription {
  const { endpoint, protocol, grpcEndpoint, token, headers } = config;
  // gRPC names the signal in the method, HTTP in the path (OTLP specification).
  const at = (signal: string) => (protocol === 'grpc' ? endpoint : `${endpoint}/v1/${signal}`);
  const { collector = '', ...files } = setupFiles(config);
  return {
    endpoint,
    protocol,
    ...(grpcEndpoint !== undefined && { grpc_endpoint: grpcEndpoint }),
    signals: { traces: at('traces'), metrics: at('metrics'), logs: at('logs') },
    headers,
    token,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: headerList(headers),
      OTEL_SERVICE_NAME: 'my-service',
    },
    collector_yaml: collector,
    setups: { ...startLines(config), ...files },
  };
}

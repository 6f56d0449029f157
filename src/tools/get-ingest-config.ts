import { z } from 'zod';
import { defineTool, type OrganizationId, type Tool } from '../contract/core/index.ts';
import { toolResult } from './result.ts';
import { members } from './views.ts';

/** Where an organization's senders send, and with which token. */
export interface IngestConfig {
  /** Base URL without `/v1/…` and without a trailing slash. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'grpc';
  readonly token: string;
  /** What every request carries, the token among them. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface IngestSource {
  config(organizationId: OrganizationId): Promise<IngestConfig>;
}

const output = z.object({
  endpoint: z.string(),
  protocol: z.string(),
  signals: members('traces, metrics, logs'),
  headers: members('Authorization'),
  token: z.string(),
  env: members('OTEL_EXPORTER_OTLP_*'),
  collector_yaml: z.string(),
});

interface IngestDescription extends IngestConfig {
  readonly signals: Readonly<Record<'traces' | 'metrics' | 'logs', string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly collector_yaml: string;
}

export function createGetIngestConfig({ ingest }: { readonly ingest: IngestSource }): Tool {
  return defineTool({
    name: 'get_ingest_config',
    title: 'Get ingest config',
    description:
      'Where and with which token to send OpenTelemetry (OTLP over HTTP): endpoint, headers, ready OTEL_EXPORTER_OTLP_* ' +
      'variables, collector YAML. The token can only write telemetry; treat it as a secret. Example: {}.',
    scope: 'ingest:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({}),
    output,
    async run(_args, { principal }) {
      const structured = describeIngest(await ingest.config(principal.organizationId));
      const env = Object.entries(structured.env).map(([name, value]) => `${name}=${value}`);
      const signals = Object.entries(structured.signals).map(([name, url]) => `${name}: ${url}`);
      return toolResult(structured, [
        ...env,
        '',
        ...signals,
        `token: ${structured.token}`,
        '',
        structured.collector_yaml,
      ]);
    },
  });
}

/** Everything a sender may want, from the endpoint and the token. */
export function describeIngest({ endpoint, protocol, token, headers }: IngestConfig): IngestDescription {
  // gRPC names the signal in the method, HTTP in the path (OTLP specification).
  const at = (signal: string) => (protocol === 'grpc' ? endpoint : `${endpoint}/v1/${signal}`);
  return {
    endpoint,
    protocol,
    signals: { traces: at('traces'), metrics: at('metrics'), logs: at('logs') },
    headers,
    token,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      // Values are percent-encoded here, as the OTLP exporter specification asks ("W3C Baggage" form).
      OTEL_EXPORTER_OTLP_HEADERS: Object.entries(headers)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join(','),
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    },
    collector_yaml: collectorYaml(endpoint, protocol, headers),
  };
}

/** JSON strings are YAML strings, so whatever the values hold, the document keeps its shape. */
function collectorYaml(endpoint: string, protocol: string, headers: Readonly<Record<string, string>>): string {
  const exporter = protocol === 'grpc' ? 'otlp/sightline' : 'otlphttp/sightline';
  const pipeline = (signal: string) => [`    ${signal}:`, '      receivers: [otlp]', `      exporters: [${exporter}]`];
  return [
    'receivers:',
    '  otlp:',
    '    protocols:',
    '      grpc: {}',
    '      http: {}',
    'exporters:',
    `  ${exporter}:`,
    `    endpoint: ${JSON.stringify(endpoint)}`,
    '    headers:',
    ...Object.entries(headers).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`),
    'service:',
    '  pipelines:',
    ...pipeline('traces'),
    ...pipeline('metrics'),
    ...pipeline('logs'),
    '',
  ].join('\n');
}

/** Where an organization's senders send, and with which token. */
export interface IngestConfig {
  /** Base URL without `/v1/…` and without a trailing slash. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'grpc';
  /** Where the same is taken over gRPC too. */
  readonly grpcEndpoint?: string | undefined;
  readonly token: string;
  /** What every request carries, the token among them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What to install and start, by language; each reads the OTEL_ variables, and none holds the token. */
export function startLines({ protocol }: Pick<IngestConfig, 'protocol'>): Readonly<Record<string, string>> {
  const grpc = protocol === 'grpc';
  const auto = '@opentelemetry/auto-instrumentations-node';
  const goExporter = `go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptrace${grpc ? 'grpc' : 'http'}`;
  return {
    node: lines(
      `npm install @opentelemetry/api ${auto}`,
      `node --require ${auto}/register app.cjs`,
      '# ES modules:',
      `node --experimental-loader=@opentelemetry/instrumentation/hook.mjs --import ${auto}/register app.mjs`,
    ),
    python: lines(
      `pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-${grpc ? 'grpc' : 'http'}`,
      'opentelemetry-bootstrap -a install',
      'opentelemetry-instrument python app.py',
    ),
    java: lines(
      'curl -LO https://github.com/open-telemetry/opentelemetry-java-instrumentation/releases/latest/download/opentelemetry-javaagent.jar',
      'java -javaagent:opentelemetry-javaagent.jar -jar app.jar',
    ),
    go: lines(
      `go get go.opentelemetry.io/otel/sdk ${goExporter}`,
      `# exporter, err := otlptrace${grpc ? 'grpc' : 'http'}.New(ctx)`,
      '# otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))',
    ),
    ruby: lines(
      'bundle add opentelemetry-sdk opentelemetry-exporter-otlp opentelemetry-instrumentation-all',
      '# OpenTelemetry::SDK.configure { |config| config.use_all }',
    ),
    dotnet: lines(
      'curl -LO https://github.com/open-telemetry/opentelemetry-dotnet-instrumentation/releases/latest/download/otel-dotnet-auto-install.sh',
      'sh otel-dotnet-auto-install.sh',
      '. "$HOME/.otel-dotnet-auto/instrument.sh" && dotnet run',
    ),
    deno: 'OTEL_DENO=true deno run --allow-net app.ts',
  };
}

/** Whole configurations, with what every request carries in them. JSON strings are YAML strings, whatever they hold. */
export function setupFiles({ endpoint, protocol, headers }: IngestConfig): Readonly<Record<string, string>> {
  const { hostname, port, protocol: scheme } = new URL(endpoint);
  const tls = scheme === 'https:';
  const given = Object.entries(headers);
  const pairs = given.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  const exporter = protocol === 'grpc' ? 'otlp_grpc' : 'otlp_http';
  const pipeline = (signal: string) =>
    `    ${signal}: { receivers: [otlp], processors: [batch], exporters: [${exporter}/sightline] }`;
  const everywhere = {
    collector: lines(
      'receivers:',
      '  otlp:',
      '    protocols:',
      '      grpc: { endpoint: "0.0.0.0:4317" }',
      '      http: { endpoint: "0.0.0.0:4318" }',
      'processors:',
      '  batch: {}',
      'exporters:',
      `  ${exporter}/sightline: # before 0.144: ${protocol === 'grpc' ? 'otlp' : 'otlphttp'}/sightline`,
      `    endpoint: ${JSON.stringify(endpoint)}`,
      `    headers: { ${pairs} }`,
      'service:',
      '  pipelines:',
      ...['traces', 'metrics', 'logs'].map(pipeline),
    ),
    kubernetes: lines(
      'apiVersion: opentelemetry.io/v1alpha1',
      'kind: Instrumentation',
      'metadata: { name: sightline }',
      'spec:',
      `  exporter: { endpoint: ${JSON.stringify(endpoint)} }`,
      '  env:',
      `    - { name: OTEL_EXPORTER_OTLP_PROTOCOL, value: ${protocol} }`,
      `    - { name: OTEL_EXPORTER_OTLP_HEADERS, value: ${JSON.stringify(headerList(headers))} }`,
      '# A pod asks for it: instrumentation.opentelemetry.io/inject-nodejs: "true" (-python, -java, -dotnet, -go).',
    ),
  };
  if (protocol === 'grpc') return everywhere;
  return {
    ...everywhere,
    prometheus: lines(
      '# Its own traces. Metrics that it scrapes: the receiver "prometheus" of a Collector.',
      'tracing:',
      `  endpoint: ${JSON.stringify(`${hostname}:${port === '' ? (tls ? 443 : 80) : port}`)}`,
      '  client_type: http',
      '  sampling_fraction: 1',
      `  insecure: ${!tls}`,
      `  headers: { ${pairs} }`,
    ),
    fluent_bit: lines(
      'pipeline:',
      '  outputs:',
      '    - name: opentelemetry',
      "      match: '*'",
      `      host: ${JSON.stringify(hostname)}`,
      `      port: ${port === '' ? (tls ? 443 : 80) : port}`,
      `      tls: ${tls ? 'on' : 'off'}`,
      ...given.map(([name, value]) => `      header: ${JSON.stringify(`${name} ${value}`)}`),
    ),
    browser: lines(
      '// npm install @opentelemetry/sdk-trace-web @opentelemetry/exporter-trace-otlp-http',
      '// ingest.cors.origins of the gateway names the origin of the page; its visitors can read the token.',
      `const exporter = new OTLPTraceExporter({ url: ${JSON.stringify(`${endpoint}/v1/traces`)}, headers: { ${given.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(', ')} } });`,
      'new WebTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();',
    ),
  };
}

/** Percent-encoded, as the OTLP exporter specification asks ("W3C Baggage" form). */
export function headerList(headers: IngestConfig['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join(',');
}

function lines(...all: readonly string[]): string {
  return all.join('\n');
}

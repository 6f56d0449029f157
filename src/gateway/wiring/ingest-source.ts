import type { IngestTokens } from '../../identity/verify/ingest-tokens.ts';
import type { Config } from '../config/schema.ts';
import { foldCase, isId, SightlineError } from '../../contract/core/index.ts';
import type { Directory, Organization } from '../../contract/storage/index.ts';
import type { Telemetry, TelemetrySink } from '../../contract/telemetry/index.ts';
import type { IngestSource } from '../../tools/index.ts';

export type { IngestConfig } from '../../tools/index.ts';
export { describeIngest } from '../../tools/get-ingest-config.ts';

export type Collector = NonNullable<Config['ingest']['collector']>;

/** Where our receiver's rows go; undefined where it is off, or the warehouse is fed by another way. */
export function receivingSink({ ingest }: Config, { sink }: Telemetry): TelemetrySink | undefined {
  return ingest.enabled && ingest.collector === undefined ? sink : undefined;
}

/** For a gateway without ingest and without a configured collector. */
export const noIngest: IngestSource = {
  async config() {
    const message = 'No telemetry can be sent through this gateway: its warehouse is fed by another way.';
    const hint = 'An operator names the collector that feeds it: ingest.collector in the config file.';
    throw new SightlineError('not_found', message, { hint });
  },
};

/** Our own receiver. It only reads: the token was made with the organization. */
export function ingestSource(
  ingestTokens: Pick<IngestTokens, 'current'>,
  endpoint: string,
  grpc?: Config['ingest']['grpc'],
): IngestSource {
  const grpcEndpoint = grpc && grpcUrl(endpoint, grpc.port);
  return {
    async config(organizationId) {
      const token = await ingestTokens.current(organizationId);
      if (token === undefined) throw noToken('An operator makes one with: sightline ingest rotate --org NAME');
      // Without a space, which some SDKs send on as %20; the only form that Prometheus takes.
      return {
        endpoint,
        protocol: 'http/protobuf',
        ...(grpcEndpoint !== undefined && { grpcEndpoint }),
        token,
        headers: { 'x-api-key': token },
      };
    },
  };
}

/** Our listener speaks no TLS: a proxy before it does, at the port that gRPC senders expect. */
function grpcUrl(publicUrl: string, port: number): string | undefined {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:') return `https://${hostname}:4317`;
  // Of port 0 only the running gateway knows which it is.
  return port === 0 ? undefined : `http://${hostname}:${port}`;
}

/** A company's own collector, by the template in the config. */
export function collectorSource(collector: Collector, directory: Pick<Directory, 'findOrganization'>): IngestSource {
  const { endpoint, protocol, headers } = collector;
  return {
    async config(organizationId) {
      const organization = await directory.findOrganization(organizationId);
      const token = organization && tokenOf(collector, organization);
      if (organization === undefined || token === undefined) {
        throw noToken('An operator sets one: ingest.collector.tokens in the config file.');
      }
      const filled = Object.entries(headers).map(([name, value]) => [name, fill(value, organization, token)] as const);
      return { endpoint, protocol, token, headers: Object.fromEntries(filled) };
    },
  };
}

function tokenOf({ token, tokens }: Collector, organization: Organization): string | undefined {
  const name = foldCase(organization.name);
  // A key that is an id matches ids only: an organization may be named like another's id.
  const [, own] =
    Object.entries(tokens).find(([key]) => key === organization.id) ??
    Object.entries(tokens).find(([key]) => foldCase(key.trim()) === name && !isId('org', name)) ??
    [];
  const template = own ?? token;
  return template === undefined ? undefined : fill(template, organization, '');
}

/** In one pass: what is put in is not read again as a template. Header values are ASCII, so names are percent-encoded. */
function fill(template: string, { id, name }: Organization, token: string): string {
  const values: Record<string, string> = { token, organization: encodeURIComponent(name), organization_id: id };
  return template.replace(/\{(token|organization|organization_id)\}/g, (_whole, key: string) => values[key] ?? '');
}

function noToken(hint: string): SightlineError {
  return new SightlineError('not_found', 'This organization has no ingest token.', { hint });
}

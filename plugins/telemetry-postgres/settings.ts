import { SightlineError, type Logger } from '../../src/contract/core/index.ts';
import type { TelemetryHost } from '../../src/contract/telemetry/index.ts';
import type { ClientConfig } from 'pg';
import type { PostgresConfig } from './config.ts';

/**
 * What stands beneath a telemetry table. `views`: the database's own, which check a signed tenant. `connections`: each tenant
 * has a database or login of its own. `substitution`: the mapped tables with the tenant's predicate, and nothing else.
 */
export type BoundaryKind = 'views' | 'connections' | 'substitution';

export interface OperationsOptions {
  readonly config: PostgresConfig;
  readonly kind: BoundaryKind;
  readonly host: TelemetryHost;
}

/** Throws config_invalid for what no PostgreSQL can do, or what the config lacks. */
export function boundaryOf(config: PostgresConfig): BoundaryKind {
  const { boundary, organizations } = config.tenancy;
  switch (boundary.mode) {
    case 'dataset':
      throw wrong('telemetry.tenancy.boundary.mode: PostgreSQL has no datasets.', 'Use schema or database.');
    case 'database':
    case 'connection':
      if (boundary.mode === 'connection' && Object.keys(config.connections).length === 0) {
        throw wrong(
          'telemetry.connections is missing.',
          'Give the URL of each tenant: connections: { acme: postgres://… }',
        );
      }
      return 'connections';
    default:
      if (config.isolation === 'degraded') return 'substitution';
      if (config.boundary.secret === undefined) {
        throw wrong(
          'telemetry.boundary.secret is missing.',
          'Set it to 32 random characters or more, the same that the setup script is given; or, where no administrator can set up views, isolation: degraded.',
        );
      }
      if ('template' in boundary && organizations === undefined) {
        throw wrong(
          `telemetry.tenancy.organizations is missing: views over a ${boundary.mode} of each tenant need the list of them.`,
          'List the tenants, or set isolation: degraded.',
        );
      }
      return 'views';
  }
}

/** Throws config_invalid when the pieces do not belong together. */
export function checkIngest({ ingest, mapping, tenancy }: PostgresConfig): void {
  if (!ingest.enabled) return;
  if (ingest.url === undefined) {
    throw wrong('telemetry.ingest.url is missing.', "Give the writer's own login; the setup script makes it.");
  }
  if (mapping.preset !== 'sightline' || tenancy.boundary.mode !== 'column') {
    throw wrong(
      'telemetry.ingest.enabled needs mapping.preset: sightline and tenancy.boundary.mode: column.',
      'Feed other warehouses by your own collector, and set ingest.collector.',
    );
  }
}

const encrypting: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

/** What a URL says of encryption goes over `ssl`, without a word. Throws config_invalid where the two are not the same. */
export function checkEncryption({ ssl, url, connections, ingest }: PostgresConfig): void {
  const urls = { url, 'ingest.url': ingest.url };
  const named = Object.entries({
    ...urls,
    ...Object.fromEntries(Object.entries(connections).map(([tenant, each]) => [`connections.${tenant}`, each])),
  });
  for (const [key, value] of ssl === false ? [] : named) {
    const { searchParams } = new URL(value ?? 'postgres://none');
    const said = ['sslmode', 'ssl'].find((name) => searchParams.has(name));
    if (said === undefined || (ssl === true && encrypting.has(searchParams.get('sslmode') ?? ''))) continue;
    throw wrong(
      `telemetry.${key} says ${said}=${searchParams.get(said)}, and telemetry.ssl says something else.`,
      `Leave ${said} out of the URL.`,
    );
  }
}

/** Throws config_invalid unless url or host is there. */
export function clientOf(config: PostgresConfig): ClientConfig {
  const { url, host, port, user, password, database } = config;
  if (url !== undefined) {
    if (host !== undefined || user !== undefined || database !== undefined) {
      throw wrong('telemetry.url and telemetry.host are both there.', 'Give one of them.');
    }
    return { connectionString: url };
  }
  if (host === undefined || user === undefined || database === undefined) {
    throw wrong('telemetry.url is missing.', 'Or give host, user, password and database.');
  }
  return { host, user, database, ...(port !== undefined && { port }), ...(password !== undefined && { password }) };
}

/** What all pools of connections have in common. */
export function poolOf({ ssl, pool }: PostgresConfig, logger: Logger) {
  const { max, idleSeconds, connectSeconds } = pool;
  return { ssl, max, idleMs: idleSeconds * 1_000, connectMs: connectSeconds * 1_000, logger };
}

export function wrong(message: string, hint: string): SightlineError {
  return new SightlineError('config_invalid', message, { hint });
}

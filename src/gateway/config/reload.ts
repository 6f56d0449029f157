import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../contract/core/index.ts';
import type { Config } from './schema.ts';

export interface Reload {
  readonly config: Config;
  readonly applied: readonly string[];
  /** Paths of the keys that stay as they were, and why. */
  readonly refused: readonly { readonly key: string; readonly why: string }[];
}

const byPlugin = 'its plugin was started with it';
const bySetUp = 'the server was set up with it';

/** Why a section cannot change while a gateway runs. */
const fixed: Readonly<Record<string, string>> = {
  publicUrl: 'tokens were issued for it',
  authUrl: 'tokens were issued by it',
  trustProxy: bySetUp,
  network: 'connections were opened under it',
  listen: 'it listens already',
  allowedHosts: bySetUp,
  allowedOrigins: bySetUp,
  views: bySetUp,
  dataDirectory: 'this process holds the one it has',
  ingest: 'the receiver was started with it',
  limits: 'what is under way was counted under it',
  audit: 'the audit was opened with it',
  ownTelemetry: 'what is recorded was chosen with it',
  storage: byPlugin,
  issuer: byPlugin,
  telemetry: byPlugin,
  agent: byPlugin,
  alerts: byPlugin,
};

/** The sections and keys that a running gateway reloads. */
export const reloadableKeys = [
  'log',
  'limits.requestsPerMinute',
  'limits.organizationRequestsPerMinute',
  'limits.toolCallsPerMinute',
  'limits.queryTimeoutSeconds',
  'limits.maxCellBytes',
  'limits.defaultWindowHours',
  'governance',
  'costGuard',
  'scim',
  'retention',
  'ingest.retentionDays',
  'listen.leaveSeconds',
] as const;

/** What of the wanted config a gateway that runs can take. All else stays as it is until a restart. */
export function reloadConfig(running: Config, wanted: Config): Reload {
  const { log, governance, costGuard, scim, retention } = wanted;
  const config: Config = {
    ...running,
    log,
    limits: {
      ...running.limits,
      requestsPerMinute: wanted.limits.requestsPerMinute,
      organizationRequestsPerMinute: wanted.limits.organizationRequestsPerMinute,
      toolCallsPerMinute: wanted.limits.toolCallsPerMinute,
      queryTimeoutSeconds: wanted.limits.queryTimeoutSeconds,
      maxCellBytes: wanted.limits.maxCellBytes,
      defaultWindowHours: wanted.limits.defaultWindowHours,
    },
    governance,
    costGuard,
    scim,
    retention,
    ingest: { ...running.ingest, retentionDays: wanted.ingest.retentionDays },
    listen: { ...running.listen, leaveSeconds: wanted.listen.leaveSeconds },
  };
  return {
    config,
    applied: differences(running, config),
    refused: differences(config, wanted).map((key) => ({ key, why: reason(key) })),
  };
}

function reason(key: string): string {
  return `${fixed[key.split('.', 1)[0] ?? ''] ?? bySetUp}; restart`;
}

/** Paths of what differs: a section's keys, but not what is below them. */
function differences(one: Config, other: Config): readonly string[] {
  const [before, after] = [keysOf(one), keysOf(other)];
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !isDeepStrictEqual(before.get(key), after.get(key)),
  );
}

function keysOf({ $schema: _schema, ...config }: Config): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(config).flatMap(([name, value]: [string, unknown]): readonly [string, unknown][] =>
      isObject(value)
        ? Object.entries(value).map(([key, item]: [string, unknown]) => [`${name}.${key}`, item])
        : [[name, value]],
    ),
  );
}

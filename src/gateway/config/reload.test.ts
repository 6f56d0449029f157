import { describe, expect, it } from '@jest/globals';
import { reloadableKeys, reloadConfig } from './reload.ts';
import { configSchema } from './schema.ts';

/** Of each section a value that is not its default. */
const others: Readonly<Record<string, unknown>> = {
  network: { ca: 'ca.pem' },
  publicUrl: 'https://mcp.example.com',
  authUrl: 'https://auth.example.com',
  trustProxy: 1,
  listen: { host: '0.0.0.0', port: 1, leaveSeconds: 5 },
  allowedHosts: ['a'],
  allowedOrigins: ['https://a.example'],
  dataDirectory: '/elsewhere',
  log: { level: 'debug' },
  limits: {
    requestsPerMinute: 1,
    organizationRequestsPerMinute: 1,
    toolCallsPerMinute: { query_otel: 1 },
    callsAtOnce: 1,
    toolCallsAtOnce: { query_otel: 1 },
    requestsAtOnce: 1,
    queriesAtOnce: 1,
    organizationQueriesAtOnce: 1,
    queryTimeoutSeconds: 1,
    maxCellBytes: 1_000,
    defaultWindowHours: 1,
  },
  governance: { rules: [{ columns: ['body'], action: 'deny' }] },
  costGuard: { mode: 'enforce', dailyBytes: '1GB', maxQueryBytes: '1GB' },
  ingest: { enabled: false, retentionDays: 1, collector: { endpoint: 'https://collector.example' } },
  views: false,
  audit: { statements: true },
  ownTelemetry: { otlp: { endpoint: 'https://collector.example' }, prometheus: { enabled: true, port: 1 } },
  scim: { organizations: [{ organization: 'Acme', emailDomain: 'acme.example' }] },
  retention: { auditDays: 1, chatDays: 1, incidentDays: 1 },
  storage: { plugin: 'other' },
  issuer: { plugin: 'other' },
  telemetry: { plugin: 'other' },
  agent: { plugin: 'other' },
  alerts: [],
};

const defaults = configSchema.parse({});

describe('a config that is reloaded', () => {
  it.each(Object.keys(configSchema.shape).filter((key) => key !== '$schema'))(
    '%s: is taken, or refused with a reason',
    (section) => {
      const wanted = configSchema.parse({ [section]: others[section] });
      const { config, applied, refused } = reloadConfig(defaults, wanted);
      const isReloadable = (path: string): boolean =>
        reloadableKeys.some((key) => path === key || path.startsWith(`${key}.`));
      expect(applied.length + refused.length).toBeGreaterThan(0);
      expect(applied.filter((path) => !isReloadable(path))).toEqual([]);
      expect(refused.filter(({ key, why }) => isReloadable(key) || !why.endsWith('; restart'))).toEqual([]);
      // What was taken is in force, and what was refused is asked for again.
      expect(reloadConfig(config, wanted)).toEqual({ config, applied: [], refused });
    },
  );

  it('says nothing where nothing changed, and takes parts of a section', () => {
    expect(reloadConfig(defaults, configSchema.parse({ $schema: 'x' }))).toMatchObject({ applied: [], refused: [] });
    const wanted = configSchema.parse({ listen: { port: 1, leaveSeconds: 5 } });
    const { config, applied, refused } = reloadConfig(defaults, wanted);
    expect(config.listen).toEqual({ ...defaults.listen, leaveSeconds: 5 });
    expect(applied).toEqual(['listen.leaveSeconds']);
    expect(refused).toEqual([{ key: 'listen.port', why: 'it listens already; restart' }]);
  });
});

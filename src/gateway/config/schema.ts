import { z } from 'zod';
import { logLevels } from '../process/logger.ts';
import { shippedPlugins } from '../process/registry.ts';
import { flag, toolNames } from '../../contract/core/index.ts';
import { governanceSchema } from './governance.ts';
import {
  browserOrigin,
  byteSize,
  emailDomain,
  headerName,
  headerText,
  hostName,
  oneOrMore,
  pageOrigin,
  url,
} from './values.ts';

const text = z.string().min(1);
const whole = z.coerce.number().int();
const count = whole.min(1);
const byTool = z.partialRecord(z.enum(toolNames), count).default({});
const port = whole.min(0).max(65_535);

const scimSchema = z
  .strictObject({
    organizations: z
      .array(
        z.strictObject({
          organization: text.max(200).describe('Name or id'),
          emailDomain: oneOrMore(emailDomain).describe('Only people with an address in one of them are provisioned'),
          adminGroup: oneOrMore(text.max(200))
            .default([])
            .describe('Groups, by name or external id, whose members are admins; all others are members'),
        }),
      )
      .max(1_000)
      .default([]),
  })
  .prefault({})
  .describe('Organizations whose identity provider may provision people by SCIM 2.0');

/** The service's own telemetry and its receivers; off by default. */
const ownTelemetrySchema = z
  .strictObject({
    otlp: z
      .strictObject({
        endpoint: url.describe('Where OTLP over HTTP is taken, without /v1/traces'),
        headers: z
          .record(headerName, headerText)
          .default({})
          .describe('Sent along; a token as ${env:NAME} or ${file:/path}'),
        signals: z
          .array(z.enum(['traces', 'metrics']))
          .min(1)
          .default(['traces', 'metrics']),
        sampleRatio: z.coerce
          .number()
          .min(0)
          .max(1)
          .default(1)
          .describe('Of traces that begin here; where a caller sent its trace, the caller has decided'),
        intervalSeconds: count.max(3_600).default(60).describe('Between two reports of metrics'),
      })
      .optional()
      .describe('Traces and metrics of the service itself, sent by OTLP'),
    prometheus: z
      .strictObject({
        enabled: flag.default(false),
        host: text.default('127.0.0.1'),
        port: port
          .default(9_464)
          .describe('With several workers the first one has it, and each of the others the next'),
      })
      .prefault({})
      .describe('Metrics of the service itself at /metrics, on a listener of its own'),
  })
  .prefault({});

const section = (plugin: string) => z.looseObject({ plugin: text.default(plugin) }).prefault({});

/** Days, or for ever. */
const kept = z.union([z.literal('forever'), count.max(36_500)]);

/** The core's own keys. What stands beside `plugin` in a section is that plugin's, and checked by its own schema. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    publicUrl: url.optional().describe('Where clients reach the gateway; https://mcp.example.com'),
    authUrl: url.optional().describe('Where tokens are had, if not at publicUrl'),
    trustProxy: z
      // As `${env:…}` gives it, 1 is a number: a flag would take it for `true`, and believe whatever a client writes.
      .union([z.boolean(), count.max(8), z.stringbool({ truthy: ['true'], falsy: ['false'] })])
      .default(false)
      .describe('How many reverse proxies to believe about the client address'),
    network: z
      .strictObject({
        ca: z
          .union([text, z.array(text)])
          .transform((files) => [files].flat())
          .default([])
          .describe(
            'Files with certificates, in PEM, of authorities to trust beside those of Node: for the identity provider, ' +
              'the model and all else that is asked over TLS',
          ),
        proxy: url
          .optional()
          .describe(
            'An HTTP proxy for what is asked over HTTP outside this machine: the identity provider, the model, receivers ' +
              'of webhooks; not warehouses, databases and client documents. Beats HTTPS_PROXY; NO_PROXY holds',
          ),
      })
      .prefault({}),
    listen: z
      .strictObject({
        host: text.default('127.0.0.1').describe('The address to listen at; 0.0.0.0 for all'),
        port: port.default(8080).describe('0 takes a free one'),
        leaveSeconds: whole
          .min(0)
          .max(300)
          .default(0)
          .describe('After SIGTERM: how long /readyz says no while requests are still served, for load balancers'),
      })
      .prefault({}),
    allowedHosts: z.array(hostName).default([]).describe('Host names beside those of publicUrl, authUrl and loopback'),
    allowedOrigins: z.array(pageOrigin).default([]).describe('Browser origins beside that of publicUrl'),
    views: flag.default(true).describe('Whether clients that can do so show results as tables and pictures (MCP Apps)'),
    dataDirectory: text
      .default('.sightline')
      .describe('Where all is kept that no database holds; relative to this file'),
    log: z.strictObject({ level: z.enum(logLevels).default('info') }).prefault({}),
    limits: z
      .strictObject({
        requestsPerMinute: count.default(600).describe('Of one key or person; a sixth of it, at least 20, at once'),
        organizationRequestsPerMinute: count
          .optional()
          .describe('Of all keys and people of one organization; by default ten times requestsPerMinute'),
        toolCallsPerMinute: byTool.describe(
          'Calls of a tool by all of one organization; without an entry only the limits above hold',
        ),
        callsAtOnce: count
          .max(100_000)
          .default(128)
          .describe('Tool calls of one key or person that one process runs at once'),
        toolCallsAtOnce: byTool.describe('Calls of a tool by all of one organization that one process runs at once'),
        requestsAtOnce: count
          .max(100_000)
          .default(256)
          .describe(
            'Requests that one process answers at once, those aside that have waited for seconds; more are told to come again',
          ),
        queriesAtOnce: count
          .max(10_000)
          .default(64)
          .describe('Queries that run at once in one process; more wait, organizations in turn'),
        organizationQueriesAtOnce: count.max(10_000).default(48).describe('Of these, queries of one organization'),
        queryTimeoutSeconds: z.coerce.number().min(0.1).max(600).default(30).describe('How long one query may run'),
        maxCellBytes: whole.min(256).max(4_194_304).default(16_384).describe('A longer value in a result is cut'),
        defaultWindowHours: count
          .max(8_760)
          .default(24)
          .describe('How far back a query reads that says nothing about time'),
      })
      .prefault({}),
    governance: governanceSchema,
    costGuard: z
      .strictObject({
        mode: z
          .enum(['off', 'shadow', 'enforce'])
          .default('shadow')
          .describe('shadow: what would be refused is only logged'),
        maxQueryBytes: byteSize.optional().describe('What one query may read, as the warehouse estimates it'),
        dailyBytes: byteSize.optional().describe('What an organization may read from midnight to midnight UTC'),
      })
      .prefault({}),
    ingest: z
      .strictObject({
        enabled: flag.default(true).describe('Whether telemetry is taken at /v1/traces, /v1/metrics and /v1/logs'),
        retentionDays: count.max(3_650).default(30).describe('How long received telemetry is kept'),
        cors: z
          .strictObject({
            origins: z
              .array(browserOrigin)
              .default([])
              .describe('Whose pages may send from a browser; the token is then public, and can only write'),
          })
          .prefault({}),
        grpc: z
          .strictObject({
            host: text.optional().describe('By default listen.host'),
            port: port.default(4_317),
          })
          .optional()
          .describe('OTLP over gRPC is taken on a listener of its own, in plain HTTP/2; without this key it is not'),
        collector: z
          .strictObject({
            endpoint: url,
            protocol: z.enum(['http/protobuf', 'grpc']).default('http/protobuf'),
            token: headerText.optional().describe('May hold {organization} and {organization_id}'),
            tokens: z
              .record(z.string(), headerText)
              .default({})
              .describe('By organization (name or id), where `token` is not for all'),
            headers: z
              .record(headerName, headerText)
              .default({ Authorization: 'Bearer {token}' })
              .describe('May hold {token}, {organization} and {organization_id}'),
          })
          .optional()
          .describe('Your own collector, which feeds the warehouse: what get_ingest_config tells senders'),
      })
      .prefault({}),
    audit: z
      .strictObject({
        statements: flag
          .default(false)
          .describe('Whether the SQL of a call is kept with its record; it may hold personal data'),
      })
      .prefault({}),
    ownTelemetry: ownTelemetrySchema,
    scim: scimSchema,
    retention: z
      .strictObject({
        auditDays: kept.default(400).describe('How long audit records are kept'),
        chatDays: kept
          .default('forever')
          .describe('How long chats are kept after their last change, once they are completed, failed or cancelled'),
        incidentDays: kept
          .default('forever')
          .describe('How long incidents are kept after their last change, once they are resolved or dismissed'),
        deletedOrganizationDays: count
          .max(365)
          .default(30)
          .describe('How long a deleted organization can be restored; then it is removed, with its telemetry'),
      })
      .prefault({}),
    storage: section('knex'),
    issuer: section('builtin'),
    telemetry: section('duckdb'),
    agent: section('playbook'),
    alerts: z
      .array(z.looseObject({ plugin: z.string().min(1) }))
      .max(20)
      .default(() => shippedPlugins('alerts').map((plugin) => ({ plugin })))
      .describe('What alerts can come from'),
  })
  .meta({ title: 'Sightline' });

export type Config = z.output<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;

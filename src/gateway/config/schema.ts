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
          emailDomain: oneOrMore(emailDomain).describe(
            'Domains; only people with an address in one of them are provisioned',
          ),
          adminGroup: oneOrMore(text.max(200))
            .default([])
            .describe('Groups (name or external id) whose members become admins; everybody else becomes a member'),
        }),
      )
      .max(1_000)
      .default([])
      .describe('One for each organization'),
  })
  .prefault({})
  .describe('Organizations whose people are provisioned by SCIM 2.0');

/** The service's own telemetry and its receivers; off by default. */
const ownTelemetrySchema = z
  .strictObject({
    otlp: z
      .strictObject({
        endpoint: url.describe('Base URL of an OTLP/HTTP receiver, without /v1/traces'),
        headers: z
          .record(headerName, headerText)
          .default({})
          .describe('Headers to send; give a token as ${env:NAME} or ${file:/path}'),
        signals: z
          .array(z.enum(['traces', 'metrics']))
          .min(1)
          .default(['traces', 'metrics'])
          .describe('What to send'),
        sampleRatio: z.coerce
          .number()
          .min(0)
          .max(1)
          .default(1)
          .describe('Share of traces to send; where a caller sends a trace context, its decision counts'),
        intervalSeconds: count.max(3_600).default(60).describe('Seconds between two exports of metrics'),
      })
      .optional()
      .describe('Sends traces and metrics of the gateway itself by OTLP'),
    prometheus: z
      .strictObject({
        enabled: flag.default(false).describe('Whether it is served'),
        host: text.default('127.0.0.1').describe('Address to listen on'),
        port: port.default(9_464).describe('Port; further workers use the following ones'),
      })
      .prefault({})
      .describe('Serves metrics of the gateway itself at /metrics, on its own port'),
  })
  .prefault({});

const section = (plugin: string) => z.looseObject({ plugin: text.default(plugin) }).prefault({});

/** Days, or for ever. */
const kept = z.union([z.literal('forever'), count.max(36_500)]);

/** The core's own keys. What stands beside `plugin` in a section is that plugin's, and checked by its own schema. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    publicUrl: url.optional().describe('URL at which clients reach the gateway, such as https://mcp.example.com'),
    authUrl: url.optional().describe('URL of the sign-in pages and the token endpoint, if it differs from publicUrl'),
    trustProxy: z
      // As `${env:…}` gives it, 1 is a number: a flag would take it for `true`, and believe whatever a client writes.
      .union([z.boolean(), count.max(8), z.stringbool({ truthy: ['true'], falsy: ['false'] })])
      .default(false)
      .describe('Number of reverse proxies whose X-Forwarded-For is trusted for the client address'),
    network: z
      .strictObject({
        ca: z
          .union([text, z.array(text)])
          .transform((files) => [files].flat())
          .default([])
          .describe(
            'PEM files of certificate authorities to trust in addition to those of Node, for every outbound TLS connection: ' +
              'identity provider, model, webhooks',
          ),
        proxy: url
          .optional()
          .describe(
            'HTTP proxy for outbound requests to the identity provider, the model and webhook receivers; not for ' +
              'warehouses, databases and client documents. Takes precedence over HTTPS_PROXY; NO_PROXY is honoured',
          ),
      })
      .prefault({}),
    listen: z
      .strictObject({
        host: text.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all interfaces'),
        port: port.default(8080).describe('Port to listen on; 0 picks a free one'),
        leaveSeconds: whole
          .min(0)
          .max(300)
          .default(0)
          .describe(
            'Seconds after SIGTERM during which /readyz fails but requests are still served, so that load balancers can react',
          ),
      })
      .prefault({}),
    allowedHosts: z
      .array(hostName)
      .default([])
      .describe('Host names to accept in addition to those of publicUrl, authUrl and loopback'),
    allowedOrigins: z
      .array(pageOrigin)
      .default([])
      .describe('Browser origins to accept in addition to that of publicUrl'),
    views: flag.default(true).describe('Whether clients that support MCP Apps show results as tables and charts'),
    dataDirectory: text
      .default('.sightline')
      .describe('Directory for everything that is not kept in a database; relative to this file'),
    log: z
      .strictObject({ level: z.enum(logLevels).default('info').describe('Least severe entries to log') })
      .prefault({}),
    limits: z
      .strictObject({
        requestsPerMinute: count
          .default(600)
          .describe('Requests a minute of one key or person; bursts of a sixth of it, at least 20'),
        organizationRequestsPerMinute: count
          .optional()
          .describe(
            'Requests a minute of all keys and people of one organization; by default ten times requestsPerMinute',
          ),
        toolCallsPerMinute: byTool.describe(
          'Calls a minute of one tool by one organization; tools that are not listed have only the limits above',
        ),
        callsAtOnce: count
          .max(100_000)
          .default(128)
          .describe('Concurrent tool calls of one key or person in one process'),
        toolCallsAtOnce: byTool.describe('Concurrent calls of one tool by one organization in one process'),
        requestsAtOnce: count
          .max(100_000)
          .default(256)
          .describe(
            'Concurrent requests in one process, not counting those that have waited for seconds; further ones are asked to retry',
          ),
        queriesAtOnce: count
          .max(10_000)
          .default(64)
          .describe('Concurrent queries in one process; further ones wait, and organizations take turns'),
        organizationQueriesAtOnce: count
          .max(10_000)
          .default(48)
          .describe('Concurrent queries of one organization in one process'),
        queryTimeoutSeconds: z.coerce
          .number()
          .min(0.1)
          .max(600)
          .default(30)
          .describe('Longest run time of a query, in seconds'),
        maxCellBytes: whole
          .min(256)
          .max(4_194_304)
          .default(16_384)
          .describe('Longest value in a result, in bytes; longer ones are truncated'),
        defaultWindowHours: count
          .max(8_760)
          .default(24)
          .describe('Hours that a query without a time condition reads back'),
      })
      .prefault({}),
    governance: governanceSchema,
    costGuard: z
      .strictObject({
        mode: z
          .enum(['off', 'shadow', 'enforce'])
          .default('shadow')
          .describe('enforce refuses expensive queries; shadow only logs what would be refused'),
        maxQueryBytes: byteSize.optional().describe('Bytes that one query may read, as estimated by the warehouse'),
        dailyBytes: byteSize.optional().describe('Bytes that an organization may read in a day (UTC)'),
      })
      .prefault({}),
    ingest: z
      .strictObject({
        enabled: flag
          .default(true)
          .describe('Whether the gateway receives OTLP at /v1/traces, /v1/metrics and /v1/logs'),
        retentionDays: count.max(3_650).default(30).describe('Days for which received telemetry is kept'),
        cors: z
          .strictObject({
            origins: z
              .array(browserOrigin)
              .default([])
              .describe('Origins whose pages may send from a browser; the token is then public, but can only write'),
          })
          .prefault({}),
        grpc: z
          .strictObject({
            host: text.optional().describe('Address to listen on; by default that of listen.host'),
            port: port.default(4_317).describe('Port to listen on'),
          })
          .optional()
          .describe('Receives OTLP over gRPC on its own port, without TLS; off unless this section is present'),
        collector: z
          .strictObject({
            endpoint: url.describe('URL to which senders send'),
            protocol: z.enum(['http/protobuf', 'grpc']).default('http/protobuf').describe('Protocol that it receives'),
            token: headerText
              .optional()
              .describe('Token for senders; may contain {organization} and {organization_id}'),
            tokens: z
              .record(z.string(), headerText)
              .default({})
              .describe('Tokens by organization (name or id), if they differ'),
            headers: z
              .record(headerName, headerText)
              .default({ Authorization: 'Bearer {token}' })
              .describe('Headers for senders; may contain {token}, {organization} and {organization_id}'),
          })
          .optional()
          .describe('Your own collector, which writes to the warehouse; get_ingest_config passes this on to senders'),
      })
      .prefault({}),
    audit: z
      .strictObject({
        statements: flag
          .default(false)
          .describe('Whether audit records contain the SQL of a call, which may contain personal data'),
      })
      .prefault({}),
    ownTelemetry: ownTelemetrySchema,
    scim: scimSchema,
    retention: z
      .strictObject({
        auditDays: kept.default(400).describe('Days for which audit records are kept'),
        chatDays: kept.default('forever').describe('Days for which finished chats are kept after their last change'),
        incidentDays: kept
          .default('forever')
          .describe('Days for which resolved and dismissed incidents are kept after their last change'),
        deletedOrganizationDays: count
          .max(365)
          .default(30)
          .describe('Days for which a deleted organization can be restored before it is removed with its telemetry'),
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

import { z } from 'zod';
import { flag, wholeNumber } from '../../src/contract/core/index.ts';
import { mappingWith, tenancySchema } from '../../src/contract/telemetry/index.ts';
import { presets } from './presets/index.ts';

export const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL, as ClickHouse has it at port 8123 or 8443' })
  .refine((value) => {
    // What is no URL is refused before, and looked at here all the same.
    if (!URL.canParse(value)) return true;
    const { username, password, search } = new URL(value);
    return username === '' && password === '' && search === '';
  }, 'Write user, password and settings under their own keys.');

const account = {
  username: z.string().min(1).default('default'),
  password: z.string().default('').meta({ description: 'Better as ${env:…} or ${file:…}' }),
  database: z.string().min(1).optional().meta({ description: "The user's default database" }),
};

const pem = z.string().includes('-----BEGIN');

/** What keeps organizations apart on the server, whatever the SQL says. */
const serverBoundary = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('query_id') }),
  z.strictObject({ by: z.literal('role'), role: z.string().includes('{tenant}') }),
  z.strictObject({ by: z.literal('none') }),
]);

const ownName = z.string().regex(/^[A-Za-z_]\w{0,63}$/);

const settingName = z.string().regex(/^[a-z][a-z0-9_]*$/);
const settingValue = z.union([z.string(), z.number(), z.boolean()]);

export const configSchema = z.strictObject({
  url: z
    .union([url, z.array(url).min(1).max(16)])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .meta({
      description: 'HTTP interface, http(s)://host:port; several are replicas, of which one that answers is taken',
    }),
  ...account,
  login: z
    .string()
    .min(1)
    .refine((name) => name !== 'default', 'must be a user of its own, and not default')
    .default('sightline')
    .meta({ description: "The gateway's user, which the set-up makes; username names it while serving" }),
  tls: z
    .union([z.strictObject({ ca: pem }), z.strictObject({ ca: pem, cert: pem, key: pem })])
    .optional()
    .meta({ description: 'PEM texts, as ${file:…}; without it the system’s authorities' }),
  connections: z
    .record(z.string(), z.strictObject({ ...account, username: z.string().min(1) }))
    .optional()
    .meta({ description: 'Accounts by tenant, where tenancy.boundary is connection' }),
  maxConnections: wholeNumber(1, 1_000).default(20).describe('To each url; more queries wait.'),
  compression: flag.default(false).describe('Results come compressed: for slow networks.'),
  requestTimeoutSeconds: wholeNumber(1, 3_600)
    .default(60)
    .describe("Of the gateway's own statements; a query has its caller's deadline."),
  statementTimeoutSeconds: wholeNumber(1, 3_600)
    .default(60)
    .describe('What the profile of the set-up lets a query take, whatever is asked for.'),
  settings: z
    .record(settingName, settingValue)
    .default({})
    .meta({ description: 'Settings sent with every query, e.g. max_threads; the profile must let them be changed' }),
  cluster: z.string().min(1).optional().meta({ description: 'Set-up scripts say ON CLUSTER' }),
  mapping: mappingWith(presets).prefault({}),
  tenancy: tenancySchema,
  isolation: z
    .enum(['layered', 'degraded'])
    .default('layered')
    .describe('degraded: runs with a single layer, which the doctor then only warns of.'),
  serverBoundary: serverBoundary
    .default({ by: 'query_id' })
    .meta({ description: 'What row policies of the server know an organization by' }),
  ingest: z
    .strictObject({
      enabled: flag.default(true),
      database: ownName.default('sightline'),
      prefix: z
        .string()
        .regex(/^[A-Za-z_]?\w{0,63}$/)
        .default('sightline_')
        .meta({ description: 'Of the names of its tables: spans, metrics, logs, positions' }),
      username: z
        .string({ error: 'Name the user that writes, e.g. sightline_writer: the one that reads may not.' })
        .min(1)
        .meta({ description: 'Who may write; another than reads' }),
      password: z.string().default('').meta({ description: 'Better as ${env:…} or ${file:…}' }),
    })
    .optional()
    .meta({ description: "Our own receiver writes into Sightline's own tables (preset sightline)" }),
});

export type ClickHouseConfig = z.output<typeof configSchema>;

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
  username: z.string().min(1).default('default').meta({ description: 'Login of the gateway' }),
  password: z.string().default('').meta({ description: 'Password; give it as ${env:…} or ${file:…}' }),
  database: z.string().min(1).optional().meta({ description: 'Database; by default that of the user' }),
};

const pem = z.string().includes('-----BEGIN');
const ca = pem.meta({ description: 'Certificate of the authority' });

/** What keeps organizations apart on the server, whatever the SQL says. */
const serverBoundary = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('query_id').meta({ description: 'By the id of each query, which SQL cannot change' }),
  }),
  z.strictObject({
    by: z.literal('role').meta({ description: 'By a role of each tenant' }),
    role: z.string().includes('{tenant}').meta({ description: 'Name of the role, with {tenant} in it' }),
  }),
  z.strictObject({ by: z.literal('none').meta({ description: 'There are no row policies' }) }),
]);

const ownName = z.string().regex(/^[A-Za-z_]\w{0,63}$/);

const settingName = z.string().regex(/^[a-z][a-z0-9_]*$/);
const settingValue = z.union([z.string(), z.number(), z.boolean()]);

export const configSchema = z.strictObject({
  url: z
    .union([url, z.array(url).min(1).max(16)])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .meta({
      description:
        'URL of the HTTP interface, http(s)://host:port; several are replicas, of which one that answers is used',
    }),
  ...account,
  login: z
    .string()
    .min(1)
    .refine((name) => name !== 'default', 'must be a user of its own, and not default')
    .default('sightline')
    .meta({ description: 'User of the gateway, which the set-up creates; username names it once the gateway serves' }),
  tls: z
    .union([
      z.strictObject({ ca }),
      z.strictObject({
        ca,
        cert: pem.meta({ description: 'Certificate of the gateway' }),
        key: pem.meta({ description: 'Key of that certificate' }),
      }),
    ])
    .optional()
    .meta({ description: 'Certificates (PEM), as ${file:…}; by default the authorities of the system are trusted' }),
  connections: z
    .record(
      z.string(),
      z.strictObject({ ...account, username: z.string().min(1).meta({ description: 'Login of this tenant' }) }),
    )
    .optional()
    .meta({ description: 'Account of each tenant, if tenancy.boundary is connection' }),
  maxConnections: wholeNumber(1, 1_000)
    .default(20)
    .describe('Largest number of connections to each url; further queries wait'),
  compression: flag.default(false).describe('Whether results are compressed, for slow networks'),
  requestTimeoutSeconds: wholeNumber(1, 3_600)
    .default(60)
    .describe("Timeout of the gateway's own statements; queries have the deadline of their caller"),
  statementTimeoutSeconds: wholeNumber(1, 3_600)
    .default(60)
    .describe('Longest run time of a query that the profile of the set-up allows'),
  settings: z
    .record(settingName, settingValue)
    .default({})
    .meta({ description: 'Settings of every query, such as max_threads; the profile must allow them to be changed' }),
  cluster: z.string().min(1).optional().meta({ description: 'Cluster for which set-up scripts say ON CLUSTER' }),
  mapping: mappingWith(presets).prefault({}),
  tenancy: tenancySchema,
  isolation: z
    .enum(['layered', 'degraded'])
    .default('layered')
    .describe('degraded serves with a single layer of isolation; doctor then only warns'),
  serverBoundary: serverBoundary
    .default({ by: 'query_id' })
    .meta({ description: 'How row policies of the server recognize an organization' }),
  ingest: z
    .strictObject({
      enabled: flag.default(true).meta({ description: 'false turns it off without removing the section' }),
      database: ownName.default('sightline').meta({ description: 'Database of its tables' }),
      prefix: z
        .string()
        .regex(/^[A-Za-z_]?\w{0,63}$/)
        .default('sightline_')
        .meta({ description: 'Prefix of its tables: spans, metrics, logs, positions' }),
      username: z
        .string({ error: 'Name the user that writes, e.g. sightline_writer: the one that reads may not.' })
        .min(1)
        .meta({ description: 'User that writes; not the one that reads' }),
      password: z.string().default('').meta({ description: 'Password; give it as ${env:…} or ${file:…}' }),
    })
    .optional()
    .meta({ description: 'Stores received telemetry in tables of Sightline (preset sightline)' }),
});

export type ClickHouseConfig = z.output<typeof configSchema>;
